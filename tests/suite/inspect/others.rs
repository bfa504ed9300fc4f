//! Pods that wait for a node, Pods that wait for nothing, and Pods that are not there.

use super::{ask, explained, question, screen, with_policy};
use elbowroom::config::{Config, Profile};
use elbowroom::inspect::Question;
use elbowroom::resize::ResizePolicy;
use elbowroom::resize::policy::{Mode, PdbPolicy, Scope};

fn summary(dump: &str, name: &str) -> String {
    ask(dump, &question(name), &Config::default()).expect("an explanation").summary
}

#[test]
fn a_pending_pod_hears_of_each_node_and_of_the_claims_in_its_way() {
    let explanation = ask("pending", &question("new-0"), &Config::default()).expect("an explanation");
    insta::assert_snapshot!("pending", screen(&explanation));
    let names: Vec<_> = explanation.blocked_by.iter().map(|one| one.name.as_str()).collect();
    assert!(names.contains(&"shop/grow-0"), "{names:?}");
}

#[test]
fn a_pod_that_waits_for_nothing_is_told_in_one_line() {
    for (name, told) in [
        ("idle", "Pod shop/idle: it runs on node n1 and no resize of it is pending"),
        ("done", "Pod shop/done: it has finished on node n1"),
        ("going", "Pod shop/going: it is being deleted on node n1, until 2026-12-01T04:00:20Z at most"),
        ("gated", "Pod shop/gated: it is held back by scheduling gates"),
        (
            "hopeless",
            "Pod shop/hopeless: its resize on node n1 is Infeasible, so no room would help (the kubelet says: In-place \
             resize of containers with swap is not supported)",
        ),
        (
            "behind",
            "Pod shop/behind: its kubelet on node n1 has judged generation 2 and not yet 3: ask again in a moment",
        ),
    ] {
        assert_eq!(summary("neither", name), told);
    }
}

#[test]
fn a_pod_that_is_not_there_is_one_line() {
    let error = ask("neither", &question("nobody"), &Config::default()).unwrap_err();
    assert_eq!(error.to_string(), "no Pod nobody was found");
    let named = Question { namespace: Some("bakery".into()), ..question("idle") };
    let error = ask("neither", &named, &Config::default()).unwrap_err();
    assert_eq!(error.to_string(), "no Pod bakery/idle was found");
}

#[test]
fn of_two_pods_with_one_name_the_namespace_decides() {
    let error = ask("neither", &question("twin"), &Config::default()).unwrap_err();
    assert_eq!(error.to_string(), "several Pods are named twin: say which with -n, one of bakery, shop");
    let named = Question { namespace: Some("bakery".into()), ..question("twin") };
    assert_eq!(ask("neither", &named, &Config::default()).expect("found").pod.namespace, "bakery");
}

#[test]
fn a_pod_that_nobody_looks_after_is_explained_all_the_same() {
    let other = Profile { scheduler_name: "another".into(), ..Profile::default() };
    let config = Config { profiles: vec![other], ..Config::default() };
    let explanation = explained("preempting", &config);
    assert!(!explanation.policy.looked_after);
    assert_eq!(explanation.resize.as_ref().expect("a resize").victims.len(), 1);
    assert!(screen(&explanation).contains("no elbowroom with this configuration looks after the Pod"));
}

#[test]
fn who_goes_for_a_resize_that_comes_first_is_told() {
    let explanation = explained("two-deferred", &Config::default());
    insta::assert_snapshot!("two_deferred", screen(&explanation));
    let resize = explanation.resize.expect("a resize");
    assert_eq!(resize.tried_before, ["shop/first-0"]);
    let taken = resize.neighbours.iter().find(|group| group.rule == "GoesForAnother").expect("somebody");
    assert_eq!(
        (taken.pods[0].name.as_str(), taken.detail.as_str()),
        ("batch-1", "goes first, for shop/first-0")
    );
}

#[test]
fn best_effort_says_who_is_deleted_although_a_budget_keeps_it() {
    let config = with_policy(ResizePolicy { pdb_policy: PdbPolicy::BestEffort, ..ResizePolicy::default() });
    let victims = explained("blocked-by-pdb", &config).resize.expect("a resize").victims;
    let told: Vec<_> =
        victims.iter().map(|one| (one.name.as_str(), one.budget.as_deref(), one.deleted)).collect();
    assert_eq!(told, [("web-1", Some("shop/web"), true)]);
}

#[test]
fn scope_all_pods_looks_after_pods_of_other_schedulers() {
    let resize = ResizePolicy { scope: Scope::AllPods, ..ResizePolicy::default() };
    let helper = Profile { scheduler_name: "helper".into(), bind: false, resize };
    let config = Config { profiles: vec![helper], ..Config::default() };
    let explanation = explained("preempting", &config);
    assert!(explanation.policy.looked_after);
    assert_eq!(explanation.resize.expect("a resize").victims[0].name, "batch-1");
}

#[test]
fn mode_off_is_said_and_explained_as_if_it_were_on() {
    let config = with_policy(ResizePolicy { mode: Mode::Off, ..ResizePolicy::default() });
    let explanation = explained("preempting", &config);
    assert_eq!(explanation.policy.because.as_deref(), Some("profile elbowroom has mode Off"));
    assert_eq!(explanation.resize.expect("a resize").victims[0].name, "batch-1");
}

#[test]
fn json_and_yaml_have_one_shape() {
    let explanation = explained("blocked-by-pdb", &Config::default());
    let json = serde_json::to_string_pretty(&explanation).expect("JSON");
    insta::assert_snapshot!("json", json);
    let yaml = serde_yaml::to_string(&explanation).expect("YAML");
    let back: serde_json::Value = serde_yaml::from_str(&yaml).expect("our own YAML");
    assert_eq!(back, serde_json::from_str::<serde_json::Value>(&json).expect("our own JSON"));
}

#[test]
fn every_field_of_the_shape_is_documented() {
    fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
        match value {
            // Resource names are keys too, and are no fields.
            serde_json::Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                if key != "cpu" && key != "memory" {
                    found.insert(key.clone());
                }
                keys(value, found);
            }),
            serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    let mut found = std::collections::BTreeSet::new();
    for dump in ["blocked-by-pdb", "preempting", "eviction-failed"] {
        let explanation = explained(dump, &Config::default());
        keys(&serde_json::to_value(explanation).expect("JSON"), &mut found);
    }
    let pending = ask("pending", &question("new-0"), &Config::default()).expect("an explanation");
    keys(&serde_json::to_value(pending).expect("JSON"), &mut found);
    let page = crate::documentation::read("docs/explain.md");
    for field in found {
        assert!(page.contains(&format!("`{field}`")), "docs/explain.md does not tell of {field}");
    }
}
