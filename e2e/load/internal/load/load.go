// Package load is what the load programs share: a client without limits, work on many objects at once, and a
// scheduler process whose use of the machine is read when it ends.
package load

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Image is the image every Pod names; nothing pulls it.
const Image = "registry.k8s.io/pause:3.10"

// Workers is how many requests are in flight at once.
const Workers = 32

// Client talks to the cluster in $KUBECONFIG, as fast as the API server answers.
func Client() (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1e5, 100000
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return kubernetes.NewForConfig(config)
}

// Parallel calls f with 0 … n-1 from several goroutines and returns the first error.
func Parallel(n, workers int, f func(i int) error) error {
	next, failed := make(chan int), make(chan error, workers)
	go func() {
		defer close(next)
		for i := range n {
			next <- i
		}
	}()
	for range workers {
		go func() {
			var first error
			for i := range next {
				if first == nil {
					first = f(i)
				}
			}
			failed <- first
		}()
	}
	var first error
	for range workers {
		if err := <-failed; first == nil {
			first = err
		}
	}
	return first
}

// Node creates a Node object that is ready. No kubelet stands behind it, and nothing has to take its taint away.
func Node(ctx context.Context, client kubernetes.Interface, name string, labels map[string]string, size corev1.ResourceList) error {
	labels[corev1.LabelHostname], labels[corev1.LabelOSStable] = name, "linux"
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Capacity: size, Allocatable: size, Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	// Admission puts not-ready on every new Node.
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.StrategicMergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	return err
}

// Quantile of the values, or -1 when there is none.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}

// Print writes one line of JSON.
func Print(result map[string]any) error {
	return json.NewEncoder(os.Stdout).Encode(result)
}

// Main runs a program and turns its error into one line and exit code 1.
func Main(run func(context.Context) error) {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
