//! Whole files: what they come to, and the one line that each bad one gives.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::resize::policy::Mode;

const HEAD: &str = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

/// Reads a file that is good, with its warnings as lines.
fn good(body: &str) -> (Config, Vec<String>) {
    match Config::parse("elbowroom.yaml", &format!("{HEAD}{body}")) {
        Ok((config, warnings)) => (config, warnings.iter().map(Warning::to_string).collect()),
        Err(error) => panic!("{error}\n{body}"),
    }
}

/// Reads a file that is bad; line 3 is the body's first.
fn bad(body: &str) -> String {
    error(&format!("{HEAD}{body}"))
}

fn error(text: &str) -> String {
    match Config::parse("elbowroom.yaml", text) {
        Err(error) => error.to_string(),
        Ok((config, _)) => panic!("accepted as {config:?}\n{text}"),
    }
}

fn args(fields: &str) -> String {
    format!(
        "profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: ResizePreemption\n    args: {fields}\n"
    )
}

#[test]
fn the_smallest_file_is_the_default_configuration_and_says_whose_pods_it_serves() {
    let (config, warnings) = good("");
    assert_eq!(config, Config::default());
    let line = "elbowroom.yaml:1:1: no schedulerName is given: serving Pods with schedulerName `elbowroom`";
    assert_eq!(warnings, [line]);
}

#[test]
fn a_plain_file_gives_no_warning() {
    let (config, warnings) =
        good("leaderElection: {leaderElect: false}\nprofiles: [{schedulerName: elbowroom}]\n");
    assert_eq!(config, Config::default());
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn every_profile_has_its_own_rules() {
    let body = "\
profiles:
- schedulerName: placing
- schedulerName: growing
  pluginConfig:
  - args:
      apiVersion: elbowroom.dev/v1alpha1
      kind: ResizePreemptionArgs
      mode: Observe
      bind: false
      protect:
        namespaces: []
        unmanaged: true
        labelSelector:
          matchLabels: {tier: db}
          matchExpressions: [{key: keep, operator: Exists}]
    name: ResizePreemption
";
    let (config, warnings) = good(body);
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(config.profiles.len(), 2);
    let placing = Profile { scheduler_name: "placing".into(), ..Profile::default() };
    assert_eq!(config.profiles.first(), Some(&placing));
    let growing = config.profiles.get(1).unwrap();
    assert_eq!((growing.scheduler_name.as_str(), growing.bind), ("growing", false));
    assert_eq!(growing.resize.mode, Mode::Observe);
    assert!(growing.resize.protect.namespaces.is_empty());
    assert!(growing.resize.protect.unmanaged);
    let labels = [("tier", "db"), ("keep", "")].map(|(key, value)| (key.into(), value.into()));
    assert!(growing.resize.protect.label_selector.as_ref().unwrap().matches(&labels.into_iter().collect()));
}

#[test]
fn only_a_profile_that_places_pods_asks_for_the_right_to_bind() {
    assert!(good(&args("{}")).0.binds());
    assert!(!good(&args("{bind: false}")).0.binds());
}

#[test]
fn the_engine_is_told_what_the_file_says() {
    let body = "podMaxBackoffSeconds: 30\n".to_owned() + &args("{bind: false, mode: Observe}");
    let settings = good(&body).0.settings();
    assert_eq!(settings.max_backoff, Span::from_seconds(30));
    let profile = settings.profiles.first().unwrap();
    assert_eq!((profile.name.as_str(), profile.bind, profile.resize.mode), ("a", false, Mode::Observe));
}

#[test]
fn the_backoff_of_the_file_counts() {
    let (config, _) = good("podInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 30\n");
    assert_eq!(config.initial_backoff, Span::from_seconds(2));
    assert_eq!(config.max_backoff, Span::from_seconds(30));
}

#[test]
fn the_client_connection_is_read() {
    let body = "clientConnection: {kubeconfig: /etc/kubeconfig, qps: 12.5, burst: 100}\n\
        profiles: [{schedulerName: a}]\n";
    let (config, warnings) = good(body);
    let client =
        ClientConnection { kubeconfig: Some("/etc/kubeconfig".into()), qps: Some(12.5), burst: Some(100) };
    assert_eq!(config.client, client);
    assert_eq!(
        warnings,
        ["elbowroom.yaml:3:49: clientConnection.qps and burst are not enforced: \
             each kind of call has its own bound instead"]
    );
}

#[test]
fn json_is_yaml() {
    let text = r#"{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "elbowroom"}]}"#;
    assert_eq!(Config::parse("a.json", text).unwrap(), (Config::default(), vec![]));
}

#[test]
fn a_file_as_kube_scheduler_writes_it_is_taken_as_it_is() {
    let text = include_str!("../../tests/config/kube-scheduler-defaults.yaml");
    let (config, warnings) = Config::parse("defaults.yaml", text).unwrap();
    let names: Vec<&str> = config.profiles.iter().map(|profile| profile.scheduler_name.as_str()).collect();
    assert_eq!(names, ["default-scheduler"]);
    let lines: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        lines,
        [
            "clientConnection.qps and burst are not enforced: each kind of call has its own bound instead",
            "clientConnection.contentType: only `application/json` is spoken",
            "leaderElection.leaderElect: there is no leader election yet; run one replica at a time",
            "enableProfiling has no effect: there is no profiling endpoint",
            "enableContentionProfiling has no effect: there is no profiling endpoint",
        ]
    );
}

#[test]
fn what_only_changes_speed_or_serving_is_a_warning_by_name() {
    for (body, line) in [
        ("parallelism: 4", "3:1: parallelism has no effect: one thread decides"),
        (
            "percentageOfNodesToScore: 30",
            "3:1: percentageOfNodesToScore has no effect: every node is looked at",
        ),
        ("delayCacheUntilActive: true", "3:1: delayCacheUntilActive has no effect: the caches fill at once"),
        ("enableProfiling: true", "3:1: enableProfiling has no effect: there is no profiling endpoint"),
        (
            "leaderElection:\n  leaderElect: true",
            "4:3: leaderElection.leaderElect: there is no leader election yet; run one replica at a time",
        ),
    ] {
        let (_, warnings) = good(&format!("{body}\nprofiles: [{{schedulerName: a}}]\n"));
        assert_eq!(warnings, [format!("elbowroom.yaml:{line}")]);
    }
}

#[test]
fn a_profile_that_does_nothing_is_named() {
    let (_, warnings) = good(&args("{mode: Off, bind: false}"));
    assert_eq!(warnings, ["elbowroom.yaml:4:3: profile `a` neither binds nor resizes"]);
}

#[test]
fn a_file_that_is_no_configuration_is_refused() {
    for (text, line) in [
        ("", "1:1: expected a KubeSchedulerConfiguration, found nothing"),
        ("hello", "1:1: KubeSchedulerConfiguration: expected a mapping, found `hello`"),
        (
            "kind: KubeSchedulerConfiguration",
            "1:1: apiVersion: expected `kubescheduler.config.k8s.io/v1`, found nothing",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration",
            "1:13: apiVersion: expected `kubescheduler.config.k8s.io/v1`, \
             found `kubescheduler.config.k8s.io/v1beta3`",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod",
            "2:7: kind: expected `KubeSchedulerConfiguration`, found `Pod`",
        ),
        ("kind: [", "1:7: unclosed bracket '['"),
    ] {
        assert_eq!(error(text), format!("elbowroom.yaml:{line}"));
    }
}

#[test]
fn bad_files_give_one_line_with_its_place() {
    const PROFILES: &str = "`schedulerName`, `percentageOfNodesToScore`, `plugins`, `pluginConfig`";
    for (body, line) in [
        (
            "profiles:\n- schedulerNam: a",
            format!("4:3: unknown field `schedulerNam`, expected one of {PROFILES}"),
        ),
        ("profiles: []\nprofiles: []", "4:1: duplicate field `profiles`".into()),
        ("profiles: {}", "3:11: profiles: expected a list, found a mapping".into()),
        ("profiles: [a]", "3:12: profiles: expected a mapping, found `a`".into()),
        (
            "profiles: [{schedulerName: 5}]",
            "3:28: schedulerName: expected a string (put it in quotes), found `5`".into(),
        ),
        (
            "profiles: [{schedulerName: ''}]",
            "3:28: schedulerName: expected a name, found an empty string".into(),
        ),
        (
            "profiles: [{schedulerName: a}, {schedulerName: a}]",
            "3:48: schedulerName: expected a name of its own, found `a` again".into(),
        ),
        (
            "profiles: [{schedulerName: a}, {}]",
            "3:32: schedulerName: expected a name in each of several profiles, found nothing".into(),
        ),
        (
            "podInitialBackoffSeconds: 0",
            "3:27: podInitialBackoffSeconds: expected an integer of at least 1, found `0`".into(),
        ),
        (
            "podInitialBackoffSeconds: 20",
            "3:1: podMaxBackoffSeconds: expected at least podInitialBackoffSeconds, found `10`".into(),
        ),
        (
            "percentageOfNodesToScore: 101",
            "3:27: percentageOfNodesToScore: expected an integer from 0 to 100, found `101`".into(),
        ),
        (
            "parallelism: 1.5",
            "3:14: parallelism: expected an integer from 1 to 2147483647, found `1.5`".into(),
        ),
        ("clientConnection: {qps: fast}", "3:25: qps: expected a number, found `fast`".into()),
        (
            "leaderElection: {leaseDuration: 15}",
            "3:33: leaseDuration: expected a duration such as `30s` or `1h30m`, found `15`".into(),
        ),
        (
            "leaderElection: {resourceLock: endpoints}",
            "3:32: resourceLock: expected one of `leases`, found `endpoints`".into(),
        ),
        (
            "extenders: [{urlPrefix: 'http://gpu'}]",
            "3:13: extenders are not supported yet: they decide where Pods may go".into(),
        ),
        ("profiles: []\n---\nkind: Pod", "5:1: a second document begins here, expected only one".into()),
    ] {
        assert_eq!(bad(body), format!("elbowroom.yaml:{line}"), "{body}");
    }
}

#[test]
fn plugins_that_would_place_pods_differently_are_refused_by_name() {
    let plugins = |sets: &str| bad(&format!("profiles:\n- plugins:\n    {sets}\n"));
    for (sets, line) in [
        (
            "score: {disabled: [{name: ImageLocality}]}",
            "5:24: plugins.score: disabling `ImageLocality` is not supported yet",
        ),
        ("filter: {disabled: [{name: '*'}]}", "5:25: plugins.filter: disabling `*` is not supported yet"),
        (
            "score: {enabled: [{name: NodeAffinity, weight: 7}]}",
            "5:44: plugins.score: a weight of 7 for `NodeAffinity` is not supported yet, expected 2",
        ),
        (
            "multiPoint: {enabled: [{name: TaintToleration}]}",
            "5:28: plugins.multiPoint: a weight of 1 for `TaintToleration` is not supported yet, expected 3",
        ),
    ] {
        assert_eq!(plugins(sets), format!("elbowroom.yaml:{line}"));
    }
    let unknown = plugins("filter: {enabled: [{name: Coscheduling}]}");
    assert!(
        unknown
            .starts_with("elbowroom.yaml:5:31: unknown plugin `Coscheduling`, expected one of `Scheduling")
    );
    assert!(
        plugins("filters: {}")
            .starts_with("elbowroom.yaml:5:5: unknown field `filters`, expected one of `preE")
    );
}

#[test]
fn plugins_named_as_they_are_by_default_change_nothing() {
    let body = "profiles:\n- schedulerName: a\n  plugins:\n\
        \x20   score: {enabled: [{name: NodeAffinity, weight: 2}]}\n\
        \x20   filter: {enabled: [{name: NodeAffinity}]}\n    bind: {}\n";
    assert_eq!(good(body).0.profiles.len(), 1);
}

#[test]
fn other_plugins_args_are_accepted_only_as_their_defaults() {
    let plugin = |name: &str, args: &str| {
        format!("profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: {name}\n    args: {args}\n")
    };
    for (name, args, line) in [
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated}}",
            "7:36: scoringStrategy.type: `MostAllocated` is not supported yet, expected `LeastAllocated`",
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {typ: x}}",
            "7:30: unknown field `typ`, expected one of `type`, `resources`, `requestedToCapacityRatio`",
        ),
        (
            "InterPodAffinity",
            "{hardPodAffinityWeight: 5}",
            "7:35: hardPodAffinityWeight: `5` is not supported yet, expected `1`",
        ),
        (
            "NodeAffinity",
            "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}",
            "7:27: addedAffinity: a mapping is not supported yet, expected it left out",
        ),
        (
            "PodTopologySpread",
            "{defaultConstraints: [{maxSkew: 1}], defaultingType: List}",
            "7:32: defaultConstraints: a list is not supported yet, expected it left out",
        ),
        (
            "DefaultPreemption",
            "{pdbPolicy: BestEffort}",
            "7:12: pdbPolicy: expected `apiVersion: elbowroom.dev/v1alpha1` beside it",
        ),
        (
            "DefaultPreemption",
            "{apiVersion: elbowroom.dev/v1alpha1, pdbPolicy: Strict}",
            "7:59: pdbPolicy: `Strict` is not supported yet, expected `BestEffort`",
        ),
        ("NodeName", "{}", "7:11: `NodeName` takes no args"),
        (
            "NodeResourcesFit",
            "{kind: FitArgs}",
            "7:18: kind: expected `NodeResourcesFitArgs`, found `FitArgs`",
        ),
    ] {
        assert_eq!(bad(&plugin(name, args)), format!("elbowroom.yaml:{line}"));
    }
    good(&plugin(
        "DefaultPreemption",
        "{apiVersion: elbowroom.dev/v1alpha1, kind: DefaultPreemptionArgs, pdbPolicy: BestEffort}",
    ));
    good(&plugin("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated}}"));
    assert!(
        bad(&plugin("Coscheduling", "{}")).starts_with("elbowroom.yaml:6:11: unknown plugin `Coscheduling`")
    );
}

#[test]
fn args_of_resize_preemption_are_checked() {
    for (fields, line) in [
        ("{mode: Force}", "7:18: mode: expected one of `Enforce`, `Observe`, `Off`, found `Force`"),
        ("{wait: soon}", "7:18: wait: expected a duration such as `30s` or `1h30m`, found `soon`"),
        ("{maxVictims: 0}", "7:24: maxVictims: expected an integer from 1 to 2147483647, found `0`"),
        ("{protect: {annotations: [keep]}}", "7:36: annotations: expected `key=value`, found `keep`"),
        (
            "{protect: {labelSelector: {matchExpressions: [{key: a, operator: In}]}}}",
            "7:57: values: expected some with operator `In`",
        ),
        (
            "{protect: {labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}}",
            "7:76: operator: expected one of `In`, `NotIn`, `Exists`, `DoesNotExist`, found `Gt`",
        ),
        (
            "{apiVersion: kubescheduler.config.k8s.io/v1}",
            "7:24: apiVersion: expected `elbowroom.dev/v1alpha1`, found `kubescheduler.config.k8s.io/v1`",
        ),
    ] {
        assert_eq!(bad(&args(fields)), format!("elbowroom.yaml:{line}"));
    }
}

#[test]
fn all_pods_is_the_scope_of_one_profile_only() {
    let profile = |name: &str| {
        format!(
            "- schedulerName: {name}\n  pluginConfig:\n  - name: ResizePreemption\n    args: {{scope: AllPods}}\n"
        )
    };
    let line = bad(&format!("profiles:\n{}{}", profile("a"), profile("b")));
    let expected = "8:18: scope: expected `AllPods` in one profile only, found it in `a` and `b`";
    assert_eq!(line, format!("elbowroom.yaml:{expected}"));
}

#[test]
fn the_annotations_that_protect_are_listed_once() {
    let keys = ["cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt"];
    let profiles = vec![Profile::default(), Profile { scheduler_name: "b".into(), ..Profile::default() }];
    assert_eq!(Config { profiles, ..Config::default() }.annotations(), keys);
}

#[test]
fn a_plugin_is_configured_once() {
    let body = "profiles:\n- pluginConfig:\n  - name: ResizePreemption\n  - name: ResizePreemption\n";
    let line =
        "elbowroom.yaml:6:11: pluginConfig: expected one entry a plugin, found `ResizePreemption` again";
    assert_eq!(bad(body), line);
}

#[test]
fn a_missing_file_is_named() {
    let error = Config::read(Path::new("no/such/file.yaml")).unwrap_err().to_string();
    assert!(error.starts_with("no/such/file.yaml: No such file"), "{error}");
}

#[test]
fn a_file_made_to_exhaust_the_reader_is_refused() {
    let deep = "[".repeat(100_000);
    assert_eq!(error(&deep), "elbowroom.yaml:1:256: recursion limit exceeded");
}
