// blindbind binds every pending Pod round-robin without deciding anything: what remains is the API server's own
// ceiling for a scheduler that writes one Binding a Pod. Run it as the command of loadgen.
package main

import (
	"context"
	"flag"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"elbowroom.dev/e2e/load/internal/load"
)

var (
	workers   = flag.Int("workers", load.Workers, "bindings in flight")
	namespace = flag.String("namespace", "load", "namespace of the Pods")
)

func main() { flag.Parse(); load.Main(run) }

func run(ctx context.Context) error {
	client, err := load.Client()
	if err != nil {
		return err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(*namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		return fmt.Errorf("there is no node to bind to")
	}
	err = load.Parallel(len(pods.Items), *workers, func(i int) error {
		pod, node := &pods.Items[i], nodes.Items[i%len(nodes.Items)].Name
		return client.CoreV1().Pods(*namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
		}, metav1.CreateOptions{})
	})
	if err != nil {
		return err
	}
	select {} // loadgen ends us when it has seen the last one
}
