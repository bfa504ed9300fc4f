//! The rules of the kubelet, one by one, in a world whose scheduler does nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::engine::{Effect, Input};
use crate::model::{Span, Timestamp};
use crate::simulation::objects::{Key, PodExt, timestamp};
use crate::simulation::scenario::Scenario;
use crate::simulation::world::{Brain, EPOCH, Faults, World};
use k8s_openapi::api::core::v1::Pod;

struct Idle;

impl Brain for Idle {
    fn step(&mut self, _: Input, _: Timestamp, _: &mut Vec<Effect>) {}
}

/// A node of 1000m with Pods as `name priority cpu`, and steps. Further lines go into the Node's or Pod's manifest.
struct Stage {
    steps: String,
    node: String,
    pods: String,
}

impl Stage {
    fn new(steps: &[&str]) -> Self {
        let steps = steps.iter().map(|step| format!("- {step}\n")).collect();
        let node = "{name: n1, labels: {zone: east}}".to_owned();
        Self { steps, node, pods: String::new() }
    }

    fn node(mut self, metadata: &str) -> Self {
        self.node = metadata.to_owned();
        self
    }

    fn pod(self, name: &str, priority: i32, cpu: &str) -> Self {
        self.pod_with(
            name,
            priority,
            &format!("requests: {{cpu: {cpu}}}"),
            "terminationGracePeriodSeconds: 5",
            "",
        )
    }

    fn pod_with(mut self, name: &str, priority: i32, resources: &str, spec: &str, meta: &str) -> Self {
        self.pods.push_str(&format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{meta}}}\nspec:\n  nodeName: n1\n  \
             priority: {priority}\n  {spec}\n  \
             containers: [{{name: main, image: i, resources: {{{resources}}}}}]\n"
        ));
        self
    }

    fn play(&self, seconds: i64) -> World {
        let text = format!(
            "apiVersion: elbowroom.dev/v1alpha1\nkind: Scenario\nuntil: 10m\nsteps:\n{}---\napiVersion: v1\nkind: Node\n\
             metadata: {}\nstatus: {{allocatable: {{cpu: 1000m, memory: 1Gi, pods: \"10\"}}}}\n{}",
            self.steps, self.node, self.pods
        );
        let scenario = Scenario::parse("stage", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut world = scenario.stage(Box::new(|| Box::new(Idle)), Faults::default());
        world.run(Span::from_seconds(seconds)).unwrap();
        world
    }
}

fn pod<'a>(world: &'a World, name: &str) -> &'a Pod {
    &world.api().pods[&Key::new("default", name)]
}

fn pending(world: &World, name: &str) -> Option<(String, String)> {
    let one = pod(world, name).condition("PodResizePending")?;
    assert_eq!(one.status, "True");
    Some((one.reason.clone().unwrap(), one.message.clone().unwrap()))
}

fn allocated(world: &World, name: &str) -> String {
    let status = pod(world, name).status.as_ref().unwrap();
    status.container_statuses.as_ref().unwrap()[0].allocated_resources.as_ref().unwrap()["cpu"].0.clone()
}

fn events(world: &World, name: &str) -> Vec<String> {
    let of = world.api().events.iter().filter(|event| event.pod.name == name);
    of.map(|event| event.reason.clone()).collect()
}

#[test]
fn a_resize_that_fits_is_allocated_and_then_in_force() {
    let stage = Stage::new(&["{at: 1s, resize: {pod: p, cpu: 300m}}"]).pod("p", 0, "100m");
    let world = stage.play(5);
    assert_eq!(allocated(&world, "p"), "300m");
    assert_eq!(pending(&world, "p"), None);
    assert_eq!(events(&world, "p"), ["ResizeStarted", "ResizeCompleted"]);
    let status = pod(&world, "p").status.as_ref().unwrap();
    assert_eq!(status.resources.as_ref().unwrap().requests.as_ref().unwrap()["cpu"].0, "300m");
    assert_eq!(status.container_statuses.as_ref().unwrap()[0].restart_count, 0);
    assert_eq!(status.observed_generation, Some(2));
}

#[test]
fn a_shortage_is_deferred_with_the_kubelets_own_sum() {
    let stage =
        Stage::new(&["{at: 1s, resize: {pod: p, cpu: 700m}}"]).pod("v", 0, "600m").pod("p", 0, "400m");
    let world = stage.play(5);
    let message = "Node didn't have enough resource: cpu, requested: 700, used: 600, capacity: 1000";
    assert_eq!(pending(&world, "p"), Some(("Deferred".to_owned(), message.to_owned())));
    assert_eq!(pod(&world, "p").condition("PodResizePending").unwrap().observed_generation, Some(2));
    assert_eq!(allocated(&world, "p"), "400m");
    assert_eq!(events(&world, "p"), ["ResizeDeferred"]);
}

#[test]
fn what_neighbours_would_like_does_not_count() {
    let steps = ["{at: 1s, resize: {pod: v, cpu: 1000m}}", "{at: 2s, resize: {pod: p, cpu: 400m}}"];
    let world = Stage::new(&steps).pod("v", 9, "600m").pod("p", 0, "300m").play(5);
    assert_eq!(pending(&world, "v").unwrap().0, "Deferred");
    assert_eq!(allocated(&world, "p"), "400m");
}

#[test]
fn a_new_request_keeps_the_time_of_the_condition_and_moves_its_generation() {
    let steps = ["{at: 1s, resize: {pod: p, cpu: 700m}}", "{at: 5s, resize: {pod: p, cpu: 800m}}"];
    let world = Stage::new(&steps).pod("v", 0, "600m").pod("p", 0, "400m").play(9);
    let one = pod(&world, "p").condition("PodResizePending").unwrap();
    assert_eq!(one.observed_generation, Some(3));
    assert!(timestamp(one.last_transition_time.as_ref().unwrap()) < EPOCH + Span::from_seconds(2));
    assert_eq!(events(&world, "p"), ["ResizeDeferred", "ResizeDeferred"]);
}

#[test]
fn taking_a_request_back_clears_the_condition() {
    let steps = ["{at: 1s, resize: {pod: p, cpu: 700m}}", "{at: 5s, resize: {pod: p, cpu: 400m}}"];
    let world = Stage::new(&steps).pod("v", 0, "600m").pod("p", 0, "400m").play(9);
    assert_eq!(pending(&world, "p"), None);
}

#[test]
fn freed_room_goes_to_whoever_fits_even_behind_a_blocked_head() {
    let steps = [
        "{at: 1s, resize: {pod: high, cpu: 900m}}",
        "{at: 1s, resize: {pod: low, cpu: 300m}}",
        "{at: 2s, delete: {pod: v}}",
    ];
    let stage = Stage::new(&steps).pod("high", 9, "200m").pod("low", 0, "200m").pod("v", 0, "600m");
    let world = stage.play(10);
    assert_eq!((allocated(&world, "high"), allocated(&world, "low")), ("200m".into(), "300m".into()));
}

#[test]
fn of_two_that_would_fit_the_higher_priority_is_first() {
    let steps = [
        "{at: 1s, resize: {pod: low, cpu: 700m}}",
        "{at: 2s, resize: {pod: high, cpu: 700m}}",
        "{at: 3s, delete: {pod: v}}",
    ];
    let stage = Stage::new(&steps).pod("high", 9, "200m").pod("low", 0, "200m").pod("v", 0, "600m");
    let world = stage.play(10);
    assert_eq!((allocated(&world, "high"), allocated(&world, "low")), ("700m".into(), "200m".into()));
}

#[test]
fn of_two_equal_ones_the_longest_waiting_is_first() {
    let steps = [
        "{at: 1s, resize: {pod: z, cpu: 700m}}",
        "{at: 2s, resize: {pod: a, cpu: 700m}}",
        "{at: 3s, delete: {pod: v}}",
    ];
    let world = Stage::new(&steps).pod("a", 0, "200m").pod("z", 0, "200m").pod("v", 0, "600m").play(10);
    assert_eq!((allocated(&world, "a"), allocated(&world, "z")), ("200m".into(), "700m".into()));
}

#[test]
fn guaranteed_comes_before_burstable() {
    let steps = [
        "{at: 1s, resize: {pod: a, cpu: 700m}}",
        "{at: 2s, resize: {pod: z, cpu: 700m}}",
        "{at: 3s, delete: {pod: v}}",
    ];
    let limits = "limits: {cpu: 200m, memory: 1Mi}";
    let stage = Stage::new(&steps)
        .pod("a", 0, "200m")
        .pod_with("z", 0, limits, "restartPolicy: Always", "")
        .pod("v", 0, "600m");
    let world = stage.play(10);
    assert_eq!((allocated(&world, "a"), allocated(&world, "z")), ("200m".into(), "700m".into()));
}

#[test]
fn a_shrinking_neighbour_lets_a_resize_through_once_it_is_in_force() {
    let steps = ["{at: 1s, resize: {pod: p, cpu: 700m}}", "{at: 5s, resize: {pod: v, cpu: 200m}}"];
    let world = Stage::new(&steps).pod("v", 0, "600m").pod("p", 0, "400m").play(9);
    assert_eq!(allocated(&world, "p"), "700m");
}

#[test]
fn a_node_label_that_is_gone_defers_a_resize_that_fits() {
    let steps = ["{at: 1s, node: {name: n1, labels: {zone: west}}}", "{at: 2s, resize: {pod: p, cpu: 300m}}"];
    let selector = "nodeSelector: {zone: east}";
    let world = Stage::new(&steps).pod_with("p", 0, "requests: {cpu: 100m}", selector, "").play(5);
    let message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert_eq!(pending(&world, "p"), Some(("Deferred".to_owned(), message.to_owned())));
}

#[test]
fn a_node_change_alone_is_noticed_at_the_periodic_retry() {
    let steps = [
        "{at: 1s, node: {name: n1, labels: {zone: west}}}",
        "{at: 2s, resize: {pod: p, cpu: 300m}}",
        "{at: 3s, node: {name: n1, labels: {zone: east}}}",
    ];
    let stage =
        Stage::new(&steps).pod_with("p", 0, "requests: {cpu: 100m}", "nodeSelector: {zone: east}", "");
    assert_eq!(allocated(&stage.play(180), "p"), "100m");
    assert_eq!(allocated(&stage.play(190), "p"), "300m");
}

#[test]
fn an_untolerated_no_execute_taint_defers_and_no_schedule_does_not() {
    let taint =
        |effect: &str| format!("{{at: 1s, node: {{name: n1, taints: [{{key: k, effect: {effect}}}]}}}}");
    let play = |effect: &str| {
        let taint = taint(effect);
        Stage::new(&[&taint, "{at: 2s, resize: {pod: p, cpu: 300m}}"]).pod("p", 0, "100m").play(5)
    };
    assert!(pending(&play("NoExecute"), "p").unwrap().1.starts_with("Predicate TaintToleration failed"));
    assert_eq!(allocated(&play("NoSchedule"), "p"), "300m");
}

#[test]
fn a_cordon_does_not_keep_a_resize_back() {
    let steps = ["{at: 1s, node: {name: n1, cordon: true}}", "{at: 2s, resize: {pod: p, cpu: 300m}}"];
    assert_eq!(allocated(&Stage::new(&steps).pod("p", 0, "100m").play(5), "p"), "300m");
}

#[test]
fn exclusive_cpus_make_a_resize_infeasible() {
    let node = "{name: n1, annotations: {simulation.elbowroom.dev/cpu-manager: static}}";
    let limits = "limits: {cpu: 200m, memory: 1Mi}";
    let stage = Stage::new(&["{at: 1s, resize: {pod: p, cpu: 300m}}"]).node(node).pod_with(
        "p",
        0,
        limits,
        "restartPolicy: Always",
        "",
    );
    assert_eq!(pending(&stage.play(5), "p").unwrap().0, "Infeasible");
}

#[test]
fn a_victim_holds_its_room_until_its_containers_end() {
    let steps = ["{at: 1s, resize: {pod: p, cpu: 700m}}", "{at: 2s, delete: {pod: v}}"];
    let stage = Stage::new(&steps).pod("v", 0, "600m").pod("p", 0, "400m");
    assert_eq!(allocated(&stage.play(6), "p"), "400m");
    let world = stage.play(8);
    assert_eq!(allocated(&world, "p"), "700m");
    assert!(!world.api().pods.contains_key(&Key::new("default", "v")));
}

#[test]
fn a_pod_that_obeys_sigterm_ends_before_its_grace_period() {
    let meta = ", annotations: {simulation.elbowroom.dev/exit-after: 1s}";
    let stage = Stage::new(&["{at: 2s, delete: {pod: v}}"]).pod_with(
        "v",
        0,
        "requests: {cpu: 600m}",
        "terminationGracePeriodSeconds: 30",
        meta,
    );
    assert!(!stage.play(4).api().pods.contains_key(&Key::new("default", "v")));
}

#[test]
fn a_pod_that_does_not_fit_is_rejected() {
    let create = "{at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeName: n1, \
                  containers: [{name: main, image: i, resources: {requests: {cpu: 500m}}}]}}}";
    let world = Stage::new(&[create]).pod("v", 0, "600m").play(5);
    let status = pod(&world, "q").status.as_ref().unwrap();
    assert_eq!((status.phase.as_deref(), status.reason.as_deref()), (Some("Failed"), Some("OutOfcpu")));
}

#[test]
fn a_pod_that_fits_is_started() {
    let create = "{at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeName: n1, \
                  containers: [{name: main, image: i, resources: {requests: {cpu: 400m}}}]}}}";
    let world = Stage::new(&[create]).pod("v", 0, "600m").play(5);
    assert_eq!(pod(&world, "q").phase(), "Running");
    assert!(pod(&world, "q").ready());
    assert_eq!(allocated(&world, "q"), "400m");
}

#[test]
fn host_ports_are_taken_once() {
    let create = "{at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {nodeName: n1, \
                  containers: [{name: main, image: i, ports: [{containerPort: 80, hostPort: 80}]}]}}}";
    let other = create.replace("name: q", "name: r").replace("at: 1s", "at: 2s");
    let world = Stage::new(&[create, &other]).play(5);
    assert_eq!(pod(&world, "q").phase(), "Running");
    assert_eq!(pod(&world, "r").status.as_ref().unwrap().reason.as_deref(), Some("NodePorts"));
}

#[test]
fn a_node_that_is_not_ready_judges_nothing_until_it_is() {
    let steps = [
        "{at: 1s, node: {name: n1, ready: false}}",
        "{at: 2s, resize: {pod: p, cpu: 300m}}",
        "{at: 8s, node: {name: n1, ready: true}}",
    ];
    let stage = Stage::new(&steps).pod("p", 0, "100m");
    assert_eq!(allocated(&stage.play(7), "p"), "100m");
    assert_eq!(allocated(&stage.play(9), "p"), "300m");
}

#[test]
fn pods_of_a_deleted_node_are_collected() {
    let stage = Stage::new(&["{at: 1s, node: {name: n1, delete: true}}"]).pod("p", 0, "100m");
    assert!(stage.play(60).api().pods.contains_key(&Key::new("default", "p")));
    assert!(!stage.play(62).api().pods.contains_key(&Key::new("default", "p")));
}

#[test]
fn a_pod_as_a_whole_is_resized() {
    let whole = "terminationGracePeriodSeconds: 5\n  resources: {requests: {cpu: 200m}}";
    let stage = |cpu: &str| {
        let step = format!("{{at: 1s, resize: {{pod: p, podLevel: true, cpu: {cpu}}}}}");
        let stage = Stage::new(&[&step]).pod("v", 0, "600m");
        stage.pod_with("p", 0, "requests: {cpu: 100m}", whole, "").play(5)
    };
    let total = |world: &World| {
        pod(world, "p").status.as_ref().unwrap().allocated_resources.as_ref().unwrap()["cpu"].0.clone()
    };
    let granted = stage("400m");
    assert_eq!((total(&granted).as_str(), pending(&granted, "p")), ("400m", None));
    let deferred = stage("500m");
    assert_eq!(total(&deferred), "200m");
    let message = "Node didn't have enough resource: cpu, requested: 500, used: 600, capacity: 1000";
    assert_eq!(pending(&deferred, "p"), Some(("Deferred".to_owned(), message.to_owned())));
}

#[test]
fn a_pod_whose_image_is_pulled_stays_pending() {
    let create = "{at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: q, annotations: \
                  {simulation.elbowroom.dev/start-after: 1m}}, spec: {nodeName: n1, \
                  containers: [{name: main, image: i}]}}}";
    let stage = Stage::new(&[create]);
    assert_eq!(pod(&stage.play(60), "q").phase(), "Pending");
    assert!(pod(&stage.play(62), "q").ready());
}

#[test]
fn a_passive_kubelet_says_what_the_scenario_says() {
    let report = "{at: 1s, report: {pod: p, status: {conditions: [{type: PodResizePending, status: \"True\", \
                  reason: Deferred, message: full}]}}}";
    let withdraw =
        "{at: 3s, report: {pod: p, withdraw: [PodResizePending], status: {observedGeneration: 7}}}";
    let passive = "{name: n1, annotations: {simulation.elbowroom.dev/kubelet: passive}}";
    let stage = Stage::new(&[report, withdraw]).node(passive).pod("p", 0, "100m");
    assert_eq!(pending(&stage.play(2), "p"), Some(("Deferred".to_owned(), "full".to_owned())));
    let world = stage.play(4);
    assert_eq!(pending(&world, "p"), None);
    assert!(pod(&world, "p").ready(), "the rest stays");
    assert_eq!(pod(&world, "p").status.as_ref().unwrap().observed_generation, Some(7));
    // Any other says by itself what is so.
    assert_eq!(pending(&Stage::new(&[report]).pod("p", 0, "100m").play(2), "p"), None);
}

#[test]
fn a_pod_comes_back_as_its_controller_would_have_it() {
    let there = |world: &World, name: &str| world.api().pods.contains_key(&Key::new("default", name));
    let stage = |back: &str, owner: &str| {
        let meta = format!(", annotations: {{simulation.elbowroom.dev/comes-back: {back}}}{owner}");
        let grace = "terminationGracePeriodSeconds: 10";
        Stage::new(&["{at: 1s, delete: {pod: v}}"]).pod_with("v", 3, "requests: {cpu: 600m}", grace, &meta)
    };
    let replicas = stage("pending", "").play(5);
    assert!(there(&replicas, "v") && there(&replicas, "v-r1"), "while the old one still leaves");
    let daemon = ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: d}]";
    let daemon = stage("pending", daemon);
    assert!(!there(&daemon.play(5), "v-r1"));
    assert_eq!(pod(&daemon.play(12), "v-r1").node(), None);
    let bound = stage("bound", "");
    assert!(!there(&bound.play(5), "v-r1"));
    let next = bound.play(15);
    let next = pod(&next, "v-r1");
    assert_eq!((next.node(), next.phase(), next.priority()), (Some("n1"), "Running", 3));
}
