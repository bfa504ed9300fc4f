//! `plan resize`: what a resize would cost before anyone asks for it.

use super::{ask, question, screen};
use elbowroom::config::Config;
use elbowroom::inspect::shape::Explanation;
use elbowroom::inspect::{NoAnswer, Plan, Question};
use elbowroom::model::Quantity;

type Amounts<'a> = &'a [(&'a str, &'a str)];

fn wish(requests: Amounts<'_>, limits: Amounts<'_>) -> Plan {
    let read = |list: Amounts<'_>| {
        list.iter()
            .map(|(name, text)| ((*name).to_owned(), Quantity::parse(text).expect("an amount")))
            .collect()
    };
    let mut plan = Plan::default();
    (plan.wish.requests, plan.wish.limits) = (read(requests), read(limits));
    plan
}

fn plan(dump: &str, pod: &str, plan: Plan) -> Result<Explanation, NoAnswer> {
    ask(dump, &Question { plan: Some(plan), ..question(pod) }, &Config::default())
}

fn cpu(dump: &str, pod: &str, amount: &str) -> Explanation {
    plan(dump, pod, wish(&[("cpu", amount)], &[])).expect("a plan")
}

fn refusals(explanation: &Explanation) -> Vec<(u16, &str)> {
    let all = &explanation.resize.as_ref().expect("a resize").refusals;
    all.iter().map(|one| (one.code, one.message.as_str())).collect()
}

#[test]
fn what_fits_now_costs_nobody() {
    let explanation = cpu("plain", "cart-0", "500m");
    assert_eq!(explanation.summary, "Pod shop/cart-0 on node n1: the resize fits now, nobody would go");
    assert!(refusals(&explanation).is_empty());
    insta::assert_snapshot!("plan_fits", screen(&explanation));
}

#[test]
fn what_does_not_fit_names_its_victims() {
    let explanation = cpu("plain", "cart-0", "600m");
    assert!(
        explanation.summary.ends_with("the resize would be Deferred, and 1 Pod would go"),
        "{explanation:?}"
    );
    insta::assert_snapshot!("plan_victims", screen(&explanation));
}

#[test]
fn a_resize_that_is_pending_already_is_replaced_by_the_wish() {
    let explanation = cpu("waiting-for-kubelet", "cart-0", "600m");
    assert_eq!(explanation.pod.asks["cpu"], "600m");
    assert_eq!(explanation.pod.holds["cpu"], "400m");
    assert!(explanation.summary.contains("fits now"), "{}", explanation.summary);
}

#[test]
fn what_would_be_blocked_says_by_what() {
    let explanation = cpu("blocked-by-pdb", "cart-0", "900m");
    assert!(explanation.summary.ends_with("and stay so: BlockedByPDB"), "{}", explanation.summary);
    assert_eq!(explanation.blocked_by[0].name, "shop/web");
}

#[test]
fn a_request_beyond_the_node_is_refused_with_403() {
    let explanation = cpu("plain", "cart-0", "1500m");
    let told = "from Kubernetes 1.37 on admission refuses it: shop/cart-0 would ask for more than node n1 has: \
                cpu 1500m of 1300m";
    assert_eq!(refusals(&explanation), [(403, told)]);
    assert_eq!(
        explanation.summary,
        "Pod shop/cart-0 on node n1: the API server would refuse the resize with 403"
    );
    assert_eq!(explanation.resize.as_ref().expect("a resize").state.reason, "ExceedsNode");
    insta::assert_snapshot!("plan_exceeds", screen(&explanation));
}

#[test]
fn a_change_of_the_qos_class_is_refused_with_422() {
    let plan = plan("plain", "guarded", wish(&[("cpu", "50m")], &[("cpu", "100m")])).expect("a plan");
    let told = "the QoS class would change from Guaranteed to Burstable, which no resize may do";
    assert_eq!(refusals(&plan), [(422, told)]);
}

#[test]
fn a_guaranteed_pod_stays_so_when_its_request_moves() {
    assert!(refusals(&cpu("plain", "guarded", "150m")).is_empty());
}

#[test]
fn a_request_above_its_limit_is_refused_with_422() {
    let plan = plan("plain", "guarded", wish(&[("cpu", "200m")], &[("cpu", "150m")])).expect("a plan");
    let told = "container app would ask for cpu 200m, above its limit 150m: raise it with --cpu-limit";
    assert!(refusals(&plan).contains(&(422, told)), "{:?}", refusals(&plan));
}

#[test]
fn a_static_pod_is_refused_with_422() {
    let told = "a static Pod cannot be resized: change its manifest on the node";
    assert_eq!(refusals(&cpu("plain", "etcd-0", "60m")), [(422, told)]);
}

#[test]
fn of_several_containers_one_must_be_named_sidecars_too() {
    let error = plan("plain", "pair-0", wish(&[("cpu", "150m")], &[])).unwrap_err().to_string();
    let told = "Pod shop/pair-0 has several containers: say which with --container, one of app, log, proxy";
    assert_eq!(error, told);
    let named = Plan { container: Some("proxy".into()), ..wish(&[("cpu", "60m")], &[]) };
    let explanation = plan("plain", "pair-0", named).expect("a plan");
    assert_eq!(explanation.pod.asks["cpu"], "210m");
    let step = &explanation.next_steps[0];
    let patch = r#"-p '{"spec": {"initContainers": [{"name": "proxy", "resources": {"requests": {"cpu": "60m"}}}]}}'"#;
    assert!(step.contains(patch), "{step}");
}

#[test]
fn the_command_moves_the_limit_that_equals_its_request() {
    let step = &cpu("plain", "guarded", "150m").next_steps[0];
    let resources = r#""resources": {"requests": {"cpu": "150m"}, "limits": {"cpu": "150m"}}"#;
    assert!(step.contains(resources), "{step}");
}

#[test]
fn a_container_that_is_not_there_is_one_line() {
    let wish = Plan { container: Some("db".into()), ..wish(&[("cpu", "1")], &[]) };
    let error = plan("plain", "cart-0", wish).unwrap_err().to_string();
    assert_eq!(error, "Pod shop/cart-0 has no container db that can be resized; it has app");
}

#[test]
fn a_pod_without_a_node_has_nobody_to_evict() {
    let error = plan("plain", "new-0", wish(&[("cpu", "1")], &[])).unwrap_err().to_string();
    assert!(error.starts_with("Pod shop/new-0 is on no node"), "{error}");
}
