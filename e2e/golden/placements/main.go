// Command placements writes where kube-scheduler's own plugins put Pods in many small clusters, for the tests in Rust
// to agree with. The same seed gives the same bytes.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

const cases = 600

// The plugins that elbowroom has, with the weights of the default profile.
var (
	filters = []string{"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "InterPodAffinity"}
	scores  = []config.Plugin{
		{Name: "TaintToleration", Weight: 3}, {Name: "NodeAffinity", Weight: 2},
		{Name: "NodeResourcesFit", Weight: 1}, {Name: "NodeResourcesBalancedAllocation", Weight: 1},
	}
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: placements FILE")
		os.Exit(2)
	}
	metrics.Register()
	var out bytes.Buffer
	for seed := range cases {
		one := generate(int64(seed))
		fmt.Fprintf(&out, "# %d\n", seed)
		for _, node := range one.nodes {
			fmt.Fprintln(&out, node.line())
		}
		fmt.Fprintf(&out, "> %s\n", one.pod.line())
		result, err := place(one)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.WriteString(result)
	}
	if err := os.WriteFile(os.Args[1], out.Bytes(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// place asks the plugins as schedulePod and findNodesThatFitPod in pkg/scheduler/schedule_one.go do, with one worker.
func place(one clusterCase) (string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	logger := klog.FromContext(ctx)
	store := cache.New(ctx, nil, false, false)
	for _, node := range one.nodes {
		store.AddNode(logger, node.object())
		for _, pod := range node.pods {
			if err := store.AddPod(logger, pod.object(node.name)); err != nil {
				return "", err
			}
		}
	}
	snapshot := cache.NewEmptySnapshot()
	if err := store.UpdateSnapshot(logger, snapshot); err != nil {
		return "", err
	}
	framework_, err := newFramework(ctx, snapshot)
	if err != nil {
		return "", err
	}
	nodes, err := snapshot.NodeInfos().List()
	if err != nil {
		return "", err
	}
	pod, state := one.pod.object(""), framework.NewCycleState()

	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	narrowed, status, by := framework_.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return "", status.AsError()
		}
		diagnosis.PreFilterMsg = status.Message()
		return unfit(pod, nodes, diagnosis)
	}
	candidates := nodes
	if !narrowed.AllNodes() {
		candidates = nil
		for _, node := range nodes {
			if narrowed.NodeNames.Has(node.Node().Name) {
				candidates = append(candidates, node)
			}
		}
		message := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", by.UnsortedList())
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, message))
	}
	var feasible []fwk.NodeInfo
	for _, node := range candidates {
		if status := framework_.RunFilterPlugins(ctx, state, pod, node); status.IsSuccess() {
			feasible = append(feasible, node)
		} else if status.IsRejected() {
			diagnosis.NodeToStatus.Set(node.Node().Name, status)
		} else {
			return "", status.AsError()
		}
	}
	switch len(feasible) {
	case 0:
		return unfit(pod, nodes, diagnosis)
	case 1:
		return fmt.Sprintf("= %s\n", feasible[0].Node().Name), nil
	}
	if status := framework_.RunPreScorePlugins(ctx, state, pod, feasible); !status.IsSuccess() {
		return "", status.AsError()
	}
	scored, status := framework_.RunScorePlugins(ctx, state, pod, feasible)
	if !status.IsSuccess() {
		return "", status.AsError()
	}
	totals := ""
	for _, node := range scored {
		totals += fmt.Sprintf(" %s:%d", node.Name, node.TotalScore)
	}
	return fmt.Sprintf("= %s%s\n", framework.NewSortedScoredNodes(scored).Pop().Name, totals), nil
}

func unfit(pod *v1.Pod, nodes []fwk.NodeInfo, diagnosis framework.Diagnosis) (string, error) {
	fit := &framework.FitError{Pod: pod, NumAllNodes: len(nodes), Diagnosis: diagnosis}
	return fmt.Sprintf("! %s\n", fit.Error()), nil
}

func newFramework(ctx context.Context, snapshot *cache.Snapshot) (framework.Framework, error) {
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	enabled := config.Plugins{
		QueueSort: config.PluginSet{Enabled: []config.Plugin{{Name: "PrioritySort"}}},
		Bind:      config.PluginSet{Enabled: []config.Plugin{{Name: "DefaultBinder"}}},
		Score:     config.PluginSet{Enabled: scores},
		PreScore:  config.PluginSet{Enabled: scores},
	}
	for _, name := range filters {
		enabled.PreFilter.Enabled = append(enabled.PreFilter.Enabled, config.Plugin{Name: name})
		enabled.Filter.Enabled = append(enabled.Filter.Enabled, config.Plugin{Name: name})
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "golden", Plugins: &enabled}
	for _, name := range []string{"NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "InterPodAffinity"} {
		args, err := defaultArgs(name)
		if err != nil {
			return nil, err
		}
		profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: name, Args: args})
	}
	return runtime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		runtime.WithSnapshotSharedLister(snapshot), runtime.WithInformerFactory(factory),
		runtime.WithParallelism(1), runtime.WithClientSet(fake.NewClientset()))
}

func defaultArgs(name string) (object, error) {
	gvk := scheme.Scheme.PrioritizedVersionsAllGroups()
	for _, version := range gvk {
		if version.Group != "kubescheduler.config.k8s.io" {
			continue
		}
		external, err := scheme.Scheme.New(version.WithKind(name + "Args"))
		if err != nil {
			continue
		}
		scheme.Scheme.Default(external)
		internal, err := scheme.Scheme.ConvertToVersion(external, config.SchemeGroupVersion)
		if err != nil {
			return nil, err
		}
		return internal, nil
	}
	return nil, errors.New("no default arguments for " + name)
}
