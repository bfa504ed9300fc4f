//! Reads of a Pod and of budgets, past the watch.
//!
//! Invariant: without a resource version the server answers from its storage, so what is read is no older
//! than the question.

use super::{Failure, pods, within};
use crate::engine::Answer;
use crate::model::{Budget, Pod, PodRef, Str};
use crate::wire::{self, Converter};
use futures::future::try_join_all;
use kube::Client;
use kube::core::Request;
use serde::de::DeserializeOwned;
use std::sync::{Mutex, PoisonError};

pub(super) async fn read(
    client: &Client,
    converter: &Mutex<Converter>,
    pod: &PodRef,
    budgets: &[Str],
) -> Answer {
    let all = async {
        let reads = try_join_all(budgets.iter().map(|name| budget(client, converter, &pod.namespace, name)));
        tokio::try_join!(one_pod(client, converter, pod), reads)
    };
    match all.await {
        Ok((pod, budgets)) => Answer::Read(pod.map(Box::new), budgets.into_iter().flatten().collect()),
        Err(failed) => Answer::ReadFailed(failed),
    }
}

async fn one_pod(client: &Client, converter: &Mutex<Converter>, pod: &PodRef) -> Result<Option<Pod>, String> {
    let Some(read) = get::<wire::Pod>(client, &pods(&pod.namespace), &pod.name).await? else {
        return Ok(None);
    };
    let read = lock(converter, |converter| converter.pod(&read)).map_err(|error| error.to_string())?;
    // Another Pod has its name by now, so the one that was asked for is gone.
    Ok((read.id.uid == pod.uid).then_some(read))
}

async fn budget(
    client: &Client,
    converter: &Mutex<Converter>,
    namespace: &str,
    name: &str,
) -> Result<Option<Budget>, String> {
    let all = Request::new(format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"));
    let Some(read) = get::<wire::Budget>(client, &all, name).await? else { return Ok(None) };
    lock(converter, |converter| converter.budget(&read)).map(Some).map_err(|error| error.to_string())
}

/// The object of that name; `None` when there is none.
async fn get<T: DeserializeOwned>(client: &Client, all: &Request, name: &str) -> Result<Option<T>, String> {
    let request = all.get(name, &kube::api::GetParams::default()).map_err(|error| error.to_string())?;
    match within(client.request::<T>(request)).await {
        Ok(object) => Ok(Some(object)),
        Err(Failure::Status(status)) if status.code == 404 => Ok(None),
        Err(failure) => Err(failure.said()),
    }
}

fn lock<T>(converter: &Mutex<Converter>, convert: impl FnOnce(&mut Converter) -> T) -> T {
    convert(&mut converter.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::testing::{by_path, pod, status};
    use super::*;
    use serde_json::{Value, json};

    const POD: &str = "/api/v1/namespaces/ns/pods/p";
    const WEB: &str = "/apis/policy/v1/namespaces/ns/poddisruptionbudgets/web";
    const OLD: &str = "/apis/policy/v1/namespaces/ns/poddisruptionbudgets/old";

    fn pod_with(uid: &str) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns", "uid": uid}})
    }

    async fn answer(replies: Vec<(&'static str, u16, Value)>, budgets: &[Str]) -> Answer {
        let converter = Mutex::new(Converter::new([]));
        read(&by_path(replies), &converter, &pod(), budgets).await
    }

    #[tokio::test]
    async fn a_pod_and_the_budgets_that_still_exist_are_read() {
        let web =
            json!({"metadata": {"name": "web", "namespace": "ns"}, "status": {"disruptionsAllowed": 2}});
        let replies =
            vec![(POD, 200, pod_with("u1")), (WEB, 200, web), (OLD, 404, status(404, "NotFound", ""))];
        let Answer::Read(Some(pod), budgets) = answer(replies, &["web".into(), "old".into()]).await else {
            unreachable!("the Pod is there")
        };
        assert_eq!(pod.id.uid, "u1");
        assert_eq!(
            budgets.iter().map(|b| (b.name.as_str(), b.allowance())).collect::<Vec<_>>(),
            [("web", 2)]
        );
    }

    #[tokio::test]
    async fn another_pod_of_that_name_means_gone() {
        let other = answer(vec![(POD, 200, pod_with("u2"))], &[]).await;
        assert!(matches!(other, Answer::Read(None, _)));
        let none = answer(vec![(POD, 404, status(404, "NotFound", ""))], &[]).await;
        assert!(matches!(none, Answer::Read(None, _)));
    }

    #[tokio::test]
    async fn one_read_that_fails_fails_all() {
        let replies =
            vec![(POD, 200, pod_with("u1")), (WEB, 500, status(500, "InternalError", "no storage"))];
        let failed = answer(replies, &["web".into()]).await;
        assert!(matches!(failed, Answer::ReadFailed(said) if said == "no storage"));
    }
}
