// loadgen fills an API server with nodes and pending Pods, starts one scheduler and measures how long the backlog
// takes to be bound and what the scheduler used for it. One line of JSON on stdout.
//
//	loadgen [flags] -- COMMAND [ARG…]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"elbowroom.dev/e2e/load/internal/load"
)

var (
	nodes     = flag.Int("nodes", 1000, "how many Node objects")
	pods      = flag.Int("pods", 5000, "how many pending Pods")
	kind      = flag.String("kind", "basic", "basic, service (default spread), spread, antiaffinity, affinity (preferred) or podaffinity (required)")
	scheduler = flag.String("scheduler", "default-scheduler", "schedulerName of the Pods")
	namespace = flag.String("namespace", "load", "namespace of the Pods")
	timeout   = flag.Duration("timeout", 10*time.Minute, "when to give up")
	output    = flag.String("scheduler-log", filepath.Join(os.TempDir(), "loadgen-scheduler.log"), "where the scheduler's output goes")
)

func main() { flag.Parse(); load.Main(run) }

func run(ctx context.Context) error {
	client, err := load.Client()
	if err != nil {
		return err
	}
	if err := fill(ctx, client); err != nil {
		return err
	}
	started, bindings, use, err := measure(ctx, client)
	if err != nil {
		return err
	}
	perNode, fullest := map[string]int{}, 0
	var first, last time.Time
	for _, b := range bindings {
		perNode[b.node]++
		fullest = max(fullest, perNode[b.node])
		if first.IsZero() || b.seen.Before(first) {
			first = b.seen
		}
		if b.seen.After(last) {
			last = b.seen
		}
	}
	bound := float64(len(bindings))
	return load.Print(map[string]any{
		"kind": *kind, "nodes": *nodes, "pods": *pods, "bound": len(bindings), "nodes_used": len(perNode), "max_per_node": fullest,
		"start_to_last_s": last.Sub(started).Seconds(), "first_to_last_s": last.Sub(first).Seconds(), "pods_per_s": bound / last.Sub(first).Seconds(),
		"scheduler_cpu_s": use.CPUSeconds, "scheduler_cpu_ms_per_pod": use.CPUSeconds * 1000 / bound, "scheduler_peak_mb": use.PeakMemory,
	})
}

// fill creates the nodes and the backlog.
func fill(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: *namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	size := corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("100Gi")}
	err = load.Parallel(*nodes, load.Workers, func(i int) error {
		zone := map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}
		return load.Node(ctx, client, fmt.Sprintf("load-%05d", i), zone, size)
	})
	if err != nil {
		return err
	}
	if *kind == "service" { // Pods behind a Service get the default spread constraints
		for i := range 50 {
			app := fmt.Sprintf("app-%d", i)
			_, err := client.CoreV1().Services(*namespace).Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: app},
				Spec: corev1.ServiceSpec{ClusterIP: "None", Selector: map[string]string{"app": app}, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
		}
	}
	return load.Parallel(*pods, load.Workers, func(i int) error {
		_, err := client.CoreV1().Pods(*namespace).Create(ctx, pod(i), metav1.CreateOptions{})
		return err
	})
}

func pod(i int) *corev1.Pod {
	labels := map[string]string{"app": fmt.Sprintf("app-%d", i%50)}
	requests := corev1.ResourceList{"cpu": resource.MustParse([]string{"100m", "250m", "500m"}[i%3]), "memory": resource.MustParse("256Mi")}
	spec := corev1.PodSpec{SchedulerName: *scheduler, Containers: []corev1.Container{{Name: "c", Image: load.Image, Resources: corev1.ResourceRequirements{Requests: requests}}}}
	same := &metav1.LabelSelector{MatchLabels: labels}
	zone := corev1.PodAffinityTerm{LabelSelector: same, TopologyKey: corev1.LabelTopologyZone}
	switch *kind {
	case "spread":
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: same}}
	case "antiaffinity":
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: same, TopologyKey: corev1.LabelHostname}}}}
	case "podaffinity":
		spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{zone}}}
	case "affinity":
		spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: zone}}}}
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%06d", i), Labels: labels}, Spec: spec}
}

type binding struct {
	node string
	seen time.Time
}

// measure runs the scheduler until every Pod is bound.
func measure(ctx context.Context, client kubernetes.Interface) (time.Time, map[string]binding, load.Use, error) {
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	fromNow, err := client.CoreV1().Pods(*namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 1})
	if err != nil {
		return time.Time{}, nil, load.Use{}, err
	}
	bound := metav1.ListOptions{ResourceVersion: fromNow.ResourceVersion, FieldSelector: "spec.nodeName!="}
	watch, err := client.CoreV1().Pods(*namespace).Watch(ctx, bound)
	if err != nil {
		return time.Time{}, nil, load.Use{}, err
	}
	started := time.Now()
	process, err := load.Start(flag.Args(), *output)
	if err != nil {
		return started, nil, load.Use{}, err
	}
	bindings := map[string]binding{}
	for len(bindings) < *pods && ctx.Err() == nil {
		select {
		case event, open := <-watch.ResultChan():
			if !open {
				bound.ResourceVersion = "0" // from the present state: nothing is missed, and a Pod seen before keeps its time
				if watch, err = client.CoreV1().Pods(*namespace).Watch(ctx, bound); err != nil && ctx.Err() == nil {
					process.Stop()
					return started, nil, load.Use{}, err
				}
				continue
			}
			if p, isPod := event.Object.(*corev1.Pod); isPod {
				if _, seen := bindings[p.Name]; !seen {
					bindings[p.Name] = binding{p.Spec.NodeName, time.Now()}
				}
			}
		case <-ctx.Done():
		}
	}
	use, err := process.Stop()
	return started, bindings, use, err
}
