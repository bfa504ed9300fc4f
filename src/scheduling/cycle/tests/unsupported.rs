//! Demands that nothing checks yet.
//!
//! Invariant: such a Pod is placed nowhere.

use super::*;

#[test]
fn a_pod_is_not_bound_for_want_of_a_plugin() {
    let spread = |pod: &mut Pod| place(pod, |to| to.unsupported.push(Unsupported::HardSpread("zone".into())));
    check_with(
        "n1 8c\nn2 8c",
        "p",
        spread,
        "0/2 nodes are available: pod asks for what this scheduler does not support yet: \
         topology spread with DoNotSchedule (key \"zone\").",
    );
}

#[test]
fn an_anti_affinity_deployment_is_refused_as_a_whole() {
    // Until pod anti-affinity is supported nobody is placed by halves.
    let own = |pod: &mut Pod| {
        let key = "kubernetes.io/hostname".into();
        place(pod, |to| to.unsupported.push(Unsupported::PodAntiAffinity(key)));
    };
    let mut cluster = cluster("n1 4c pool=p\nn2 4c pool=p\nn3 4c");
    let pod = pending_with(&mut cluster, "p 100m", own);
    let Outcome::Unfit(error) = outcome(&cluster, pod) else { panic!("must not be placed") };
    assert_eq!(error.rejectors.iter().collect::<Vec<_>>(), [Plugin::Unsupported]);
}
