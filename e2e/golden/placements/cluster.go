package main

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

type object = runtime.Object

// clusterCase is a cluster and the Pod that waits there, in the words of src/cluster/fixture.rs.
type clusterCase struct {
	nodes []node
	pod   pod
}

type node struct {
	name  string
	words []string
	pods  []pod
}

type pod struct {
	name  string
	words []string
}

func (n node) line() string {
	var pods []string
	for _, pod := range n.pods {
		pods = append(pods, pod.line())
	}
	line := strings.Join(append([]string{n.name}, n.words...), " ")
	if len(pods) == 0 {
		return line
	}
	return line + ": " + strings.Join(pods, ", ")
}

func (p pod) line() string {
	return strings.Join(append([]string{p.name}, p.words...), " ")
}

func generate(seed int64) clusterCase {
	random := rand.New(rand.NewSource(seed))
	chance := func(percent int) bool { return random.Intn(100) < percent }
	pick := func(words ...string) string { return words[random.Intn(len(words))] }
	var one clusterCase
	sameSize := chance(50)
	for i := range 1 + random.Intn(9) {
		made := node{name: fmt.Sprintf("n%d", i+1)}
		cpu, memory := 4, 16
		if !sameSize {
			cpu, memory = 1+random.Intn(8), 1+random.Intn(32)
		}
		made.words = append(made.words, fmt.Sprintf("%dc", cpu), fmt.Sprintf("%dGi", memory))
		if chance(15) {
			made.words = append(made.words, fmt.Sprintf("%dpods", random.Intn(4)))
		}
		if chance(20) {
			made.words = append(made.words, fmt.Sprintf("%dgpu", 1+random.Intn(2)))
		}
		if chance(60) {
			made.words = append(made.words, "zone="+pick("z1", "z2"))
		}
		if chance(40) {
			made.words = append(made.words, "gen="+pick("3", "5", "v7"))
		}
		if chance(10) {
			made.words = append(made.words, "cordoned")
		}
		for _, key := range []string{"a", "b"} {
			if chance(15) {
				made.words = append(made.words, key+"="+pick("1", "2")+":"+pick("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"))
			}
		}
		for j := range random.Intn(4) {
			there := pod{name: fmt.Sprintf("r%d-%d", i+1, j), words: amounts(random, 2000)}
			if chance(10) {
				there.words = append(there.words, pick(":8080", ":8080/UDP", ":10.0.0.5/8080"))
			}
			if chance(15) {
				there.words = append(there.words, "apart:app="+pick("web", "db")+"@"+pick("zone", "kubernetes.io/hostname"))
			}
			made.pods = append(made.pods, there)
		}
		one.nodes = append(one.nodes, made)
	}
	waiting := pod{name: "p", words: amounts(random, 3000)}
	if chance(40) {
		waiting.words = append(waiting.words, "app="+pick("web", "db"))
	}
	if chance(15) {
		waiting.words = append(waiting.words, pick(":8080", ":10.0.0.5/8080", ":8080/UDP", ":0.0.0.0/8080"))
	}
	if chance(10) {
		waiting.words = append(waiting.words, fmt.Sprintf("%dgpu", 1+random.Intn(2)))
	}
	if chance(30) {
		waiting.words = append(waiting.words, "tolerates:"+pick("a", "b", "a=1", "b=2", "*", "node.kubernetes.io/unschedulable"))
	}
	if chance(15) {
		waiting.words = append(waiting.words, "on:zone="+pick("z1", "z2"))
	}
	for range 2 {
		if chance(15) {
			waiting.words = append(waiting.words, "needs:"+pick("zone=z1", "zone!=z1", "gen>4", "gen<4", "gen", "!gen", "name=n2"))
		}
	}
	for range 2 {
		if chance(25) {
			waiting.words = append(waiting.words, fmt.Sprintf("prefers:%d:", 1+random.Intn(20))+pick("zone=z1", "zone!=z1", "gen>4", "gen", "!gen"))
		}
	}
	one.pod = waiting
	return one
}

func amounts(random *rand.Rand, milli int) []string {
	var words []string
	if random.Intn(100) < 85 {
		words = append(words, fmt.Sprintf("%dm", 50*(1+random.Intn(milli/50))))
	}
	if random.Intn(100) < 70 {
		words = append(words, fmt.Sprintf("%dMi", 100*(1+random.Intn(60))))
	}
	return words
}

func (n node) object() *v1.Node {
	made := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{v1.LabelHostname: n.name}}}
	made.Status.Allocatable = v1.ResourceList{"memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	for _, word := range n.words {
		if word == "cordoned" {
			made.Spec.Unschedulable = true
		} else if taint, effect, ok := strings.Cut(word, ":"); ok {
			key, value, _ := strings.Cut(taint, "=")
			made.Spec.Taints = append(made.Spec.Taints, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)})
		} else if key, value, ok := strings.Cut(word, "="); ok {
			made.Labels[key] = value
		} else {
			name, quantity := amount(word)
			made.Status.Allocatable[name] = quantity
		}
	}
	made.Status.Capacity = made.Status.Allocatable
	return made
}

func (p pod) object(nodeName string) *v1.Pod {
	made := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: "default", UID: types.UID(p.name), Labels: map[string]string{}}}
	made.Spec.NodeName = nodeName
	container := v1.Container{Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{}}}
	affinity := &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}, PodAntiAffinity: &v1.PodAntiAffinity{}}
	var terms []v1.NodeSelectorTerm
	for _, word := range p.words {
		kind, rest, _ := strings.Cut(word, ":")
		switch {
		case kind == "":
			container.Ports = append(container.Ports, port(rest))
		case kind == "tolerates":
			made.Spec.Tolerations = append(made.Spec.Tolerations, toleration(rest))
		case kind == "on":
			key, value, _ := strings.Cut(rest, "=")
			made.Spec.NodeSelector = map[string]string{key: value}
		case kind == "needs":
			terms = append(terms, term(rest))
		case kind == "prefers":
			weight, rest, _ := strings.Cut(rest, ":")
			number, _ := strconv.Atoi(weight)
			affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
				affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				v1.PreferredSchedulingTerm{Weight: int32(number), Preference: term(rest)})
		case kind == "apart":
			labels, topology, _ := strings.Cut(rest, "@")
			key, value, _ := strings.Cut(labels, "=")
			affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
				affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				v1.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}})
		case strings.Contains(word, "="):
			key, value, _ := strings.Cut(word, "=")
			made.Labels[key] = value
		default:
			name, quantity := amount(word)
			container.Resources.Requests[name] = quantity
		}
	}
	if len(terms) > 0 {
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: terms}
	}
	made.Spec.Affinity = affinity
	made.Spec.Containers = []v1.Container{container}
	return made
}

func amount(word string) (v1.ResourceName, resource.Quantity) {
	number := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyzGM")
	switch unit := strings.TrimPrefix(word, number); unit {
	case "c":
		return v1.ResourceCPU, resource.MustParse(number)
	case "m":
		return v1.ResourceCPU, resource.MustParse(word)
	case "Gi", "Mi":
		return v1.ResourceMemory, resource.MustParse(word)
	case "gpu":
		return "example.com/gpu", resource.MustParse(number)
	default:
		return v1.ResourceName(unit), resource.MustParse(number)
	}
}

func port(word string) v1.ContainerPort {
	made := v1.ContainerPort{Protocol: v1.ProtocolTCP}
	for _, part := range strings.Split(word, "/") {
		if number, err := strconv.Atoi(part); err == nil {
			made.HostPort, made.ContainerPort = int32(number), int32(number)
		} else if part == "UDP" {
			made.Protocol = v1.ProtocolUDP
		} else {
			made.HostIP = part
		}
	}
	return made
}

func toleration(word string) v1.Toleration {
	if word == "*" {
		return v1.Toleration{Operator: v1.TolerationOpExists}
	}
	if key, value, ok := strings.Cut(word, "="); ok {
		return v1.Toleration{Key: key, Operator: v1.TolerationOpEqual, Value: value}
	}
	return v1.Toleration{Key: word, Operator: v1.TolerationOpExists}
}

func term(word string) v1.NodeSelectorTerm {
	requirement := func(key string, operator v1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirement {
		return v1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	one := requirement(word, v1.NodeSelectorOpExists)
	if name, ok := strings.CutPrefix(word, "name="); ok {
		return v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{requirement("metadata.name", v1.NodeSelectorOpIn, name)}}
	} else if key, value, ok := strings.Cut(word, "!="); ok {
		one = requirement(key, v1.NodeSelectorOpNotIn, value)
	} else if key, ok := strings.CutPrefix(word, "!"); ok {
		one = requirement(key, v1.NodeSelectorOpDoesNotExist)
	} else if key, value, ok := strings.Cut(word, "="); ok {
		one = requirement(key, v1.NodeSelectorOpIn, value)
	} else if key, value, ok := strings.Cut(word, ">"); ok {
		one = requirement(key, v1.NodeSelectorOpGt, value)
	} else if key, value, ok := strings.Cut(word, "<"); ok {
		one = requirement(key, v1.NodeSelectorOpLt, value)
	}
	return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{one}}
}
