package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

type namedPod struct {
	name string
	pod  slimPod
}

func asks(requests amounts) *slimResources { return &slimResources{Requests: requests} }

func cpu(text string) amounts { return amounts{"cpu": text} }

func container(name string, requests amounts) slimContainer {
	return slimContainer{Name: name, Resources: asks(requests)}
}

func sidecar(name string, requests amounts) slimContainer {
	return slimContainer{Name: name, RestartPolicy: "Always", Resources: asks(requests)}
}

func status(name string, allocated, actual amounts) slimContainerStatus {
	return slimContainerStatus{Name: name, AllocatedResources: allocated, Resources: asks(actual)}
}

var (
	deferred   = []slimCondition{{Type: "PodResizePending", Reason: "Deferred"}}
	infeasible = []slimCondition{{Type: "Ready"}, {Type: "PodResizePending", Reason: "Infeasible"}}
)

// namedPods are those whose answer people know by heart or got wrong once.
func namedPods() []namedPod {
	app := func(requests amounts) []slimContainer { return []slimContainer{container("app", requests)} }
	return []namedPod{
		{"nothing asked", slimPod{Spec: slimSpec{Containers: []slimContainer{{Name: "app"}}}}},
		{"zero asked by name", slimPod{Spec: slimSpec{Containers: app(amounts{"cpu": "0", "memory": "0"})}}},
		{"a cpu request that Go wraps to nothing", slimPod{Spec: slimSpec{Containers: app(cpu("1E"))}}},
		{"one container grows while another shrinks", slimPod{
			Spec: slimSpec{Containers: []slimContainer{container("a", cpu("300m")), container("b", cpu("900m"))}},
			Status: &slimStatus{Conditions: deferred, ContainerStatuses: []slimContainerStatus{
				status("a", cpu("800m"), cpu("800m")), status("b", cpu("300m"), cpu("300m"))}}}},
		{"a shrink under way, allocated the largest", slimPod{
			Spec: slimSpec{Containers: app(cpu("500m"))},
			Status: &slimStatus{ContainerStatuses: []slimContainerStatus{
				status("app", cpu("1500m"), cpu("1000m"))}}}},
		{"half bytes add up before they are rounded", slimPod{Spec: slimSpec{Containers: []slimContainer{
			container("a", amounts{"memory": "1500m"}), container("b", amounts{"memory": "1500m"})}}}},
		{"a sidecar between two init containers", slimPod{Spec: slimSpec{
			InitContainers: []slimContainer{
				container("a", cpu("2")), sidecar("s", cpu("500m")), container("b", cpu("1"))},
			Containers: app(cpu("1"))}}},
		{"an init container larger than all that runs", slimPod{Spec: slimSpec{
			InitContainers: []slimContainer{container("init", cpu("3"))}, Containers: app(cpu("1"))}}},
		{"overhead on top", slimPod{Spec: slimSpec{Containers: app(cpu("1800m")), Overhead: cpu("250m")}}},
		{"overhead counted twice once the kubelet has said its total", slimPod{
			Spec: slimSpec{Containers: app(cpu("400m")), Overhead: cpu("100m")},
			Status: &slimStatus{AllocatedResources: cpu("500m"), Resources: asks(cpu("500m")),
				ContainerStatuses: []slimContainerStatus{status("app", cpu("400m"), cpu("400m"))}}}},
		{"pod-level requests above the containers'", slimPod{Spec: slimSpec{
			Resources:  asks(amounts{"cpu": "300m", "memory": "300Mi"}),
			Containers: []slimContainer{container("a", cpu("100m")), {Name: "b"}}}}},
		{"a pod-level fraction with overhead, which Go adds into the Pod itself", slimPod{Spec: slimSpec{
			Resources: asks(amounts{"memory": "0.7Gi"}), Containers: app(nil), Overhead: amounts{"memory": "100M"}}}},
		{"pod-level cpu only, memory from nobody", slimPod{Spec: slimSpec{
			Resources: asks(cpu("300m")), Containers: []slimContainer{{Name: "a"}, {Name: "b"}}}}},
		{"pod-level cpu only, memory from one container", slimPod{Spec: slimSpec{
			Resources:  asks(cpu("300m")),
			Containers: []slimContainer{container("a", amounts{"memory": "10Mi"}), {Name: "b"}}}}},
		{"pod-level storage is no pod-level request", slimPod{Spec: slimSpec{
			Resources: asks(amounts{"ephemeral-storage": "1Gi"}), Containers: app(amounts{"ephemeral-storage": "2Gi"})}}},
		{"a pod-level resize deferred", slimPod{
			Spec: slimSpec{Resources: asks(cpu("3")), Containers: app(cpu("1")), Overhead: cpu("50m")},
			Status: &slimStatus{Conditions: deferred, AllocatedResources: cpu("2050m"), Resources: asks(cpu("2050m")),
				ContainerStatuses: []slimContainerStatus{status("app", cpu("1"), cpu("1"))}}}},
		{"a pod-level resize infeasible", slimPod{
			Spec: slimSpec{Resources: asks(cpu("300")), Containers: app(cpu("1"))},
			Status: &slimStatus{Conditions: infeasible, AllocatedResources: cpu("2"), Resources: asks(cpu("2")),
				ContainerStatuses: []slimContainerStatus{status("app", cpu("1"), cpu("1"))}}}},
		{"an infeasible resize leaves the spec out", slimPod{
			Spec: slimSpec{Containers: app(cpu("300"))},
			Status: &slimStatus{Conditions: infeasible, ContainerStatuses: []slimContainerStatus{
				status("app", cpu("2"), cpu("2"))}}}},
		{"an infeasible resize of which the kubelet has said nothing", slimPod{
			Spec: slimSpec{Containers: app(cpu("300"))}, Status: &slimStatus{Conditions: infeasible}}},
		{"the status of the Pod without requests", slimPod{
			Spec:   slimSpec{Resources: asks(cpu("2")), Containers: app(cpu("1"))},
			Status: &slimStatus{Conditions: infeasible, AllocatedResources: cpu("1"), Resources: &slimResources{}}}},
		{"devices and hugepages", slimPod{Spec: slimSpec{
			InitContainers: []slimContainer{container("i", amounts{"nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi"})},
			Containers:     app(amounts{"nvidia.com/gpu": "1", "hugepages-2Mi": "6Mi", "ephemeral-storage": "1500m"})}}},
	}
}

// names of resources, the common ones often.
var names = []string{"cpu", "cpu", "cpu", "cpu", "memory", "memory", "memory", "ephemeral-storage", "hugepages-2Mi",
	"hugepages-1Gi", "nvidia.com/gpu", "example.com/fpga"}

func randomAmount(random *rand.Rand, name string) string {
	switch {
	case random.IntN(12) == 0:
		return "0"
	case name == "cpu":
		return pick(random, fmt.Sprintf("%dm", random.IntN(4000)), fmt.Sprint(random.IntN(9)),
			fmt.Sprintf("%d.%d", random.IntN(4), random.IntN(1000)), fmt.Sprintf("%dn", random.IntN(1<<30)),
			fmt.Sprintf("%de-4", random.IntN(9000)), fmt.Sprintf("%du", random.IntN(1<<20)))
	case strings.Contains(name, "/"):
		return fmt.Sprint(random.IntN(9))
	default:
		return pick(random, fmt.Sprintf("%dMi", random.IntN(2048)), fmt.Sprintf("%dGi", random.IntN(9)),
			fmt.Sprintf("%d.%dGi", random.IntN(4), random.IntN(100)), fmt.Sprintf("%dm", random.IntN(1<<30)),
			fmt.Sprintf("%dM", random.IntN(2048)), fmt.Sprintf("%d.5", random.IntN(1<<20)), fmt.Sprintf("%de3", random.IntN(1<<20)))
	}
}

func randomAmounts(random *rand.Rand) amounts {
	list := amounts{}
	for range random.IntN(4) {
		name := pick(random, names...)
		list[name] = randomAmount(random, name)
	}
	return list
}

// near is what the kubelet may report for requests: mostly the same, else another amount for one or all.
func near(random *rand.Rand, list amounts) amounts {
	other := amounts{}
	for name, text := range list {
		other[name] = text
	}
	switch random.IntN(5) {
	case 0, 1:
	case 2:
		return randomAmounts(random)
	default:
		// In the order of names: that of the map is another one each time.
		for _, name := range []string{"cpu", "memory", "hugepages-2Mi", "nvidia.com/gpu"} {
			if _, named := other[name]; named {
				other[name] = randomAmount(random, name)
			}
		}
	}
	return other
}

func randomStatus(random *rand.Rand, name string, requests *slimResources) slimContainerStatus {
	var asked amounts
	if requests != nil {
		asked = requests.Requests
	}
	one := slimContainerStatus{Name: name}
	if random.IntN(5) > 0 {
		one.AllocatedResources = near(random, asked)
	}
	if random.IntN(5) > 0 {
		one.Resources = asks(near(random, asked))
	}
	return one
}

func randomPod(random *rand.Rand) (slimPod, []string) {
	var pod slimPod
	var kinds []string
	reported := random.IntN(4) > 0
	report := &slimStatus{}

	grow := func(prefix string, most int, init bool) ([]slimContainer, []slimContainerStatus) {
		var containers []slimContainer
		var statuses []slimContainerStatus
		for i := range most {
			one := slimContainer{Name: fmt.Sprintf("%s%d", prefix, i)}
			if random.IntN(8) > 0 {
				one.Resources = asks(randomAmounts(random))
			}
			if init && random.IntN(2) == 0 {
				one.RestartPolicy = "Always"
			}
			containers = append(containers, one)
			if random.IntN(6) > 0 {
				statuses = append(statuses, randomStatus(random, one.Name, one.Resources))
			}
		}
		return containers, statuses
	}
	pod.Spec.Containers, report.ContainerStatuses = grow("c", 1+random.IntN(3), false)
	if random.IntN(2) == 0 {
		kinds = append(kinds, "init")
		pod.Spec.InitContainers, report.InitContainerStatuses = grow("i", 1+random.IntN(4), true)
	}
	if random.IntN(3) == 0 {
		kinds = append(kinds, "overhead")
		pod.Spec.Overhead = amounts{"cpu": randomAmount(random, "cpu"), "memory": randomAmount(random, "memory")}
	}
	if random.IntN(3) == 0 {
		kinds = append(kinds, "pod-level")
		pod.Spec.Resources = asks(randomAmounts(random))
	}
	if !reported {
		return pod, append(kinds, "new")
	}
	if random.IntN(2) == 0 {
		kinds = append(kinds, "totals")
		var asked amounts
		if pod.Spec.Resources != nil {
			asked = pod.Spec.Resources.Requests
		}
		if random.IntN(6) > 0 {
			report.AllocatedResources = near(random, asked)
		}
		if random.IntN(6) > 0 {
			report.Resources = asks(near(random, asked))
		}
	}
	switch random.IntN(4) {
	case 0:
		kinds = append(kinds, "infeasible")
		report.Conditions = infeasible
	case 1:
		kinds = append(kinds, "deferred")
		report.Conditions = deferred
	case 2:
		if random.IntN(4) == 0 {
			kinds = append(kinds, "first condition counts")
			report.Conditions = append(append([]slimCondition{}, deferred...), infeasible...)
		}
	}
	pod.Status = report
	return pod, append(kinds, "reported")
}

func randomPods(many int) []namedPod {
	random := rand.New(rand.NewPCG(2, 37))
	var pods []namedPod
	for i := range many {
		pod, kinds := randomPod(random)
		pods = append(pods, namedPod{fmt.Sprintf("random %d: %s", i, strings.Join(kinds, ", ")), pod})
	}
	return pods
}
