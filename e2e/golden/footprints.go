package main

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

// footprintCase is one Pod and what kube-scheduler and the kubelet of 1.37 count for it, both with their default
// feature gates. Cpu is in milli-CPU, everything else in whole units; what is zero is left out.
type footprintCase struct {
	Name string  `json:"name"`
	Pod  slimPod `json:"pod"`
	// Desired is the request of a new Pod: spec only.
	Desired map[string]int64 `json:"desired"`
	// Reserved is what the scheduler's cache counts for it on its node.
	Reserved map[string]int64 `json:"reserved"`
	// Held is what the kubelet counts for it as a neighbour.
	Held map[string]int64 `json:"held"`
	// Nonzero is cpu and memory as scoring counts them on a node, New the same for a new Pod.
	Nonzero [2]int64 `json:"nonzero"`
	New     [2]int64 `json:"new"`
}

func footprints() ([]footprintCase, error) {
	var cases []footprintCase
	for _, one := range append(namedPods(), randomPods(460)...) {
		pod, err := one.pod.read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		cases = append(cases, count(one, pod))
	}
	return cases, nil
}

func count(one namedPod, pod *v1.Pod) footprintCase {
	spec := helpers.PodResourcesOptions{}
	cache := helpers.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}
	reserved := requests(pod, cache)

	// As getNonMissingContainerRequests in pkg/scheduler/framework/types.go.
	onNode := cache
	onNode.NonMissingContainerRequests = v1.ResourceList{}
	podLevel := helpers.IsPodLevelRequestsSet(pod)
	for name, amount := range defaults() {
		if _, named := reserved[name]; !podLevel || !named {
			onNode.NonMissingContainerRequests[name] = amount
		}
	}
	// As calculatePodResourceRequest in pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.
	fresh := spec
	fresh.NonMissingContainerRequests = defaults()

	return footprintCase{
		Name:     one.name,
		Pod:      one.pod,
		Desired:  rounded(requests(pod, spec)),
		Reserved: rounded(reserved),
		Held:     rounded(requests(asAllocated(pod), cache)),
		Nonzero:  cpuAndMemory(requests(pod, onNode)),
		New:      cpuAndMemory(requests(pod, fresh)),
	}
}

// requests asks the helper about a copy. It adds overhead into the Pod's own pod-level quantity where that is held as
// a big decimal (0.7Gi is), so that every call on the same Pod would count one overhead more.
func requests(pod *v1.Pod, options helpers.PodResourcesOptions) v1.ResourceList {
	return helpers.PodRequests(pod.DeepCopy(), options)
}

func defaults() v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:    *resource.NewMilliQuantity(100, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(200*1024*1024, resource.DecimalSI),
	}
}

// asAllocated is the Pod as its kubelet counts it beside others: UpdatePodFromAllocation in
// pkg/kubelet/allocation/allocation_manager.go puts the checkpointed allocation into the spec. The API shows that
// checkpoint as the containers' allocatedResources, and pod-level with overhead added, as the Pod's.
func asAllocated(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	for _, containers := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if status := statusOf(pod, containers[i].Name); status != nil && status.AllocatedResources != nil {
				containers[i].Resources.Requests = status.AllocatedResources
			}
		}
	}
	if pod.Spec.Resources == nil {
		return pod
	}
	for name := range pod.Spec.Resources.Requests {
		total, known := pod.Status.AllocatedResources[name]
		if !known || !helpers.IsSupportedPodLevelResource(name) {
			continue
		}
		total = total.DeepCopy()
		total.Sub(pod.Spec.Overhead[name])
		if total.Sign() < 0 {
			total = resource.Quantity{}
		}
		pod.Spec.Resources.Requests[name] = total
	}
	return pod
}

func statusOf(pod *v1.Pod, container string) *v1.ContainerStatus {
	for _, statuses := range [][]v1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == container {
				return &statuses[i]
			}
		}
	}
	return nil
}

// rounded is what Resource.Add in pkg/scheduler/framework/types.go makes of a list.
func rounded(list v1.ResourceList) map[string]int64 {
	amounts := map[string]int64{}
	for name, quantity := range list {
		amount := quantity.Value()
		if name == v1.ResourceCPU {
			amount = quantity.MilliValue()
		}
		if amount != 0 {
			amounts[string(name)] = amount
		}
	}
	return amounts
}

func cpuAndMemory(list v1.ResourceList) [2]int64 {
	return [2]int64{list.Cpu().MilliValue(), list.Memory().Value()}
}

// amounts are requests as a Pod's author writes them.
type amounts map[string]string

// slimPod holds exactly the fields that the count reads.
type slimPod struct {
	Spec   slimSpec    `json:"spec"`
	Status *slimStatus `json:"status,omitempty"`
}

type slimSpec struct {
	InitContainers []slimContainer `json:"initContainers,omitempty"`
	Containers     []slimContainer `json:"containers"`
	Resources      *slimResources  `json:"resources,omitempty"`
	Overhead       amounts         `json:"overhead,omitempty"`
}

type slimContainer struct {
	Name          string         `json:"name"`
	RestartPolicy string         `json:"restartPolicy,omitempty"`
	Resources     *slimResources `json:"resources,omitempty"`
}

type slimResources struct {
	Requests amounts `json:"requests,omitempty"`
}

type slimStatus struct {
	Conditions            []slimCondition       `json:"conditions,omitempty"`
	InitContainerStatuses []slimContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []slimContainerStatus `json:"containerStatuses,omitempty"`
	AllocatedResources    amounts               `json:"allocatedResources,omitempty"`
	Resources             *slimResources        `json:"resources,omitempty"`
}

type slimCondition struct {
	Type   string `json:"type"`
	Reason string `json:"reason,omitempty"`
}

type slimContainerStatus struct {
	Name               string         `json:"name"`
	AllocatedResources amounts        `json:"allocatedResources,omitempty"`
	Resources          *slimResources `json:"resources,omitempty"`
}

// read is the Pod as Kubernetes reads the very JSON that the golden file holds.
func (pod slimPod) read() (*v1.Pod, error) {
	text, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	full := &v1.Pod{}
	return full, json.Unmarshal(text, full)
}
