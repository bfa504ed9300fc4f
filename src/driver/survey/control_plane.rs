//! Where kube-scheduler's gate shows: in the flags of its Pod, or in the API server's own metrics.
//!
//! Invariant: what may not be read, or is not there, is unknown and no failure.

use super::super::calls::root;
use crate::check::{GATE, GateFacts, KubeScheduler};
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::api::ListParams;
use kube::{Api, Client};
use std::time::Duration;

/// How long either may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Looks in both places.
pub(super) async fn gate(client: &Client, unread: &mut Vec<String>) -> GateFacts {
    let schedulers = match schedulers(client).await {
        Ok(schedulers) => schedulers,
        Err(problem) => {
            unread.push(format!("Pods of kube-system: {problem}"));
            Vec::new()
        }
    };
    GateFacts { schedulers, api_server: api_server(client).await }
}

async fn schedulers(client: &Client) -> Result<Vec<KubeScheduler>, String> {
    let api = Api::<Pod>::namespaced(client.clone(), "kube-system");
    let params = ListParams::default();
    let list = match tokio::time::timeout(TIMEOUT, api.list(&params)).await {
        Ok(answer) => answer.map_err(|error| root(&error))?,
        Err(_) => return Err(format!("no answer within {TIMEOUT:?}")),
    };
    Ok(list.items.into_iter().filter_map(scheduler).collect())
}

/// The Pod as a kube-scheduler, if one of its containers starts that program.
fn scheduler(pod: Pod) -> Option<KubeScheduler> {
    let command = |container: Container| -> Vec<String> {
        [container.command, container.args].into_iter().flatten().flatten().collect()
    };
    let starts = |words: &Vec<String>| {
        let program = |word: &str| word.rsplit('/').next() == Some("kube-scheduler");
        words.iter().flat_map(|word| word.split_whitespace()).any(program)
    };
    let words = pod.spec?.containers.into_iter().map(command).find(starts)?;
    Some(KubeScheduler { pod: pod.metadata.name.unwrap_or_default(), words })
}

/// What the API server's metrics say of the gate.
async fn api_server(client: &Client) -> Option<bool> {
    let request = http::Request::get("/metrics").body(Vec::new()).ok()?;
    let page = tokio::time::timeout(TIMEOUT, client.request_text(request)).await.ok()?.ok()?;
    enabled(&page)
}

/// A server that tells of its gates and not of this one does not know it, so it is off.
fn enabled(page: &str) -> Option<bool> {
    let mut gates =
        page.lines().filter_map(|line| line.strip_prefix("kubernetes_feature_enabled{")).peekable();
    gates.peek()?;
    let name = format!("name=\"{GATE}\"");
    let found = gates.find(|line| line.contains(&name));
    Some(found.is_some_and(|line| line.trim_end().ends_with(" 1")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::super::calls::testing::{by_path, status};
    use super::*;
    use serde_json::{Value, json};

    const PODS: &str = "/api/v1/namespaces/kube-system/pods";

    fn pod(name: &str, container: Value) -> Value {
        json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
    }

    #[test]
    fn the_gate_is_read_off_the_metrics() {
        let line = |name: &str, value: u8| {
            format!("kubernetes_feature_enabled{{name=\"{name}\",stage=\"ALPHA\"}} {value}\n")
        };
        assert_eq!(enabled(&(line("Other", 1) + &line(GATE, 1))), Some(true));
        assert_eq!(enabled(&(line("Other", 1) + &line(GATE, 0))), Some(false));
        assert_eq!(enabled(&line("Other", 1)), Some(false));
        assert_eq!(enabled("apiserver_request_total 5\n"), None);
    }

    #[tokio::test]
    async fn a_kube_scheduler_is_known_by_its_program() {
        let plain = json!({"name": "s", "command": ["kube-scheduler", "--leader-elect=true"]});
        let shell =
            json!({"name": "s", "command": ["/bin/sh"], "args": ["-c", "exec /bin/kube-scheduler --v=2"]});
        let other = json!({"name": "s", "command": ["kube-proxy", "--for", "kube-scheduler-x"]});
        let items = [pod("a", plain), pod("b", shell), pod("c", other)];
        let client = by_path(vec![
            (PODS, 200, json!({"metadata": {}, "items": items})),
            ("/metrics", 403, status(403, "Forbidden", "no")),
        ]);
        let mut unread = Vec::new();
        let gate = gate(&client, &mut unread).await;
        let names: Vec<&str> = gate.schedulers.iter().map(|one| one.pod.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(gate.schedulers[0].words, ["kube-scheduler", "--leader-elect=true"]);
        assert_eq!((gate.api_server, unread.len()), (None, 0));
    }

    #[tokio::test]
    async fn pods_that_may_not_be_listed_are_told() {
        let client =
            by_path(vec![(PODS, 403, status(403, "Forbidden", "no")), ("/metrics", 200, json!("no text"))]);
        let mut unread = Vec::new();
        assert_eq!(gate(&client, &mut unread).await, GateFacts::default());
        assert_eq!(unread, ["Pods of kube-system: no"]);
    }
}
