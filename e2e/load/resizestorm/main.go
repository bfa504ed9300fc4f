// resizestorm makes one running Pod on each of N nodes Deferred and measures how soon a scheduler removes the one
// lower-priority Pod that has to go there. It writes the Pods' status itself. One line of JSON on stdout.
//
//	resizestorm [flags] -- COMMAND [ARG…]
//
// On each node of 32 CPU: low-0 with 12, low-1 with 8, and high, which has 8 and wants 16. Four are missing, so
// low-1 is the Pod that has to go: one victim either way, and it leaves the smaller surplus.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"elbowroom.dev/e2e/load/internal/load"
)

const namespace = "storm"

var (
	n         = flag.Int("n", 500, "nodes, and resizes")
	scheduler = flag.String("scheduler", "default-scheduler", "schedulerName of the Pods")
	gap       = flag.Duration("gap", 0, "wait between two resizes; 0: all at once")
	settle    = flag.Duration("settle", 8*time.Second, "time for the scheduler to fill its caches")
	timeout   = flag.Duration("timeout", 2*time.Minute, "when to give up")
	auditLog  = flag.String("audit-log", "", "the API server's audit log: adds the time from the condition's write to the eviction")
	output    = flag.String("scheduler-log", filepath.Join(os.TempDir(), "resizestorm-scheduler.log"), "where the scheduler's output goes")
)

func main() { flag.Parse(); load.Main(run) }

func run(ctx context.Context) error {
	client, err := load.Client()
	if err != nil {
		return err
	}
	growing, err := fill(ctx, client)
	if err != nil {
		return err
	}
	process, err := load.Start(flag.Args(), *output)
	if err != nil {
		return err
	}
	time.Sleep(*settle)
	seen, stormError := storm(ctx, client, growing)
	use, err := process.Stop()
	if err := errors.Join(stormError, err); err != nil {
		return err
	}
	result := map[string]any{
		"n": *n, "helped": len(seen.first), "victims": seen.count(0) + seen.count(1), "smaller_victims": seen.count(1),
		"p50_ms": load.Quantile(seen.took, .5), "p99_ms": load.Quantile(seen.took, .99), "total_s": seen.total.Seconds(),
		"scheduler_cpu_s": use.CPUSeconds, "scheduler_peak_mb": use.PeakMemory,
	}
	if *auditLog != "" {
		lags, err := auditLags(*auditLog)
		if err != nil {
			return err
		}
		result["audit_n"], result["audit_p50_ms"], result["audit_p99_ms"] = len(lags), load.Quantile(lags, .5), load.Quantile(lags, .99)
	}
	return load.Print(result)
}

func cpu(quantity string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(quantity)}
}

// fill creates nodes and Pods and asks for the resizes; nothing is Deferred yet.
func fill(ctx context.Context, client kubernetes.Interface) ([]*corev1.Pod, error) {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	for name, value := range map[string]int32{"storm-high": 100000, "storm-low": 10} {
		_, err := client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
	}
	size := corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("110")}
	growing := make([]*corev1.Pod, *n)
	return growing, load.Parallel(*n, load.Workers, func(i int) error {
		node := fmt.Sprintf("storm-%05d", i)
		if err := load.Node(ctx, client, node, map[string]string{}, size); err != nil {
			return err
		}
		for k, request := range []string{"12", "8"} {
			if _, err := running(ctx, client, fmt.Sprintf("low-%05d-%d", i, k), node, "storm-low", request); err != nil {
				return err
			}
		}
		p, err := running(ctx, client, fmt.Sprintf("high-%05d", i), node, "storm-high", "8")
		if err != nil {
			return err
		}
		p.Spec.Containers[0].Resources.Requests = cpu("16")
		growing[i], err = client.CoreV1().Pods(namespace).UpdateResize(ctx, p.Name, p, metav1.UpdateOptions{})
		return err
	})
}

func running(ctx context.Context, client kubernetes.Interface, name, node, class, request string) (*corev1.Pod, error) {
	p, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"storm": class}},
		Spec: corev1.PodSpec{NodeName: node, PriorityClassName: class, SchedulerName: *scheduler,
			Containers: []corev1.Container{{Name: "c", Image: load.Image, Resources: corev1.ResourceRequirements{Requests: cpu(request)}}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return writeStatus(ctx, client, p, request)
}

func writeStatus(ctx context.Context, client kubernetes.Interface, p *corev1.Pod, allocated string, conditions ...corev1.PodCondition) (*corev1.Pod, error) {
	now := metav1.Now()
	p.Status.Phase = corev1.PodRunning
	p.Status.StartTime = &now
	p.Status.Conditions = append([]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}, conditions...)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: load.Image, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		AllocatedResources: cpu(allocated), Resources: &corev1.ResourceRequirements{Requests: cpu(allocated)}}}
	return client.CoreV1().Pods(namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
}

// victims is what was seen to leave: per node a bit for low-0 and one for low-1.
type victims struct {
	mutex sync.Mutex
	asked []time.Time
	first map[int]int
	took  []float64
	total time.Duration
}

func (v *victims) count(bit int) int {
	count := 0
	for _, bits := range v.first {
		count += bits >> bit & 1
	}
	return count
}

// note returns whether this node had no victim before.
func (v *victims) note(node, bit int, now time.Time) bool {
	fresh := v.first[node] == 0
	if fresh {
		v.mutex.Lock()
		v.took = append(v.took, float64(now.Sub(v.asked[node]).Microseconds())/1000)
		v.mutex.Unlock()
	}
	v.first[node] |= 1 << bit
	return fresh
}

// storm writes the Deferred conditions and watches who leaves, until every node was helped and three more seconds are quiet.
func storm(ctx context.Context, client kubernetes.Interface, growing []*corev1.Pod) (*victims, error) {
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	low := metav1.ListOptions{LabelSelector: "storm=storm-low"} // from the present state, so that a reopened watch misses nothing
	watch, err := client.CoreV1().Pods(namespace).Watch(ctx, low)
	if err != nil {
		return nil, err
	}
	seen := &victims{asked: make([]time.Time, *n), first: map[int]int{}}
	asking, start := make(chan error, 1), time.Now()
	go func() { asking <- seen.markDeferred(ctx, client, growing) }()
	quiet := time.NewTimer(*timeout)
	for {
		select {
		case event, open := <-watch.ResultChan():
			if !open {
				if watch, err = client.CoreV1().Pods(namespace).Watch(ctx, low); err != nil {
					return seen, err
				}
				continue
			}
			p, isPod := event.Object.(*corev1.Pod)
			if !isPod || p.DeletionTimestamp == nil {
				continue
			}
			var node, bit int
			if _, err := fmt.Sscanf(p.Name, "low-%d-%d", &node, &bit); err != nil {
				return seen, err
			}
			if seen.note(node, bit, time.Now()) {
				seen.total = time.Since(start)
				if len(seen.first) == *n {
					quiet.Reset(3 * time.Second) // a late second victim still counts
				}
			}
		case err := <-asking:
			if err != nil {
				return seen, err
			}
			asking = nil
		case <-quiet.C:
			return seen, nil
		case <-ctx.Done():
			return seen, nil
		}
	}
}

// markDeferred says on behalf of each kubelet that there is no room.
func (v *victims) markDeferred(ctx context.Context, client kubernetes.Interface, growing []*corev1.Pod) error {
	one := func(i int) error {
		v.mutex.Lock()
		v.asked[i] = time.Now()
		v.mutex.Unlock()
		_, err := writeStatus(ctx, client, growing[i], "8", corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonDeferred,
			ObservedGeneration: growing[i].Generation, LastTransitionTime: metav1.Now(), Message: "Node didn't have enough resource: cpu, requested: 16000, used: 20000, capacity: 32000"})
		return err
	}
	if *gap == 0 {
		return load.Parallel(*n, load.Workers, one)
	}
	for i := range *n {
		if err := one(i); err != nil {
			return err
		}
		time.Sleep(*gap)
	}
	return nil
}
