//! What a failed call says about whether it happened.
//!
//! Invariant: without an answer of the server, only a call that never left counts as not done.

use kube::core::Status;
use std::error::Error;
use std::{io, iter};

/// Why a call did not succeed.
#[derive(Debug)]
pub(in crate::driver) enum Failure {
    /// The server said no.
    Status(Box<Status>),
    /// Nothing was sent.
    Unsent(String),
    /// It was sent, and no usable answer came.
    Lost(String),
}

impl Failure {
    /// The server's code.
    pub(in crate::driver) fn code(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status.code),
            Self::Unsent(_) | Self::Lost(_) => None,
        }
    }

    /// One line for people.
    pub(in crate::driver) fn said(&self) -> String {
        match self {
            Self::Status(status) => said(status),
            Self::Unsent(text) | Self::Lost(text) => text.clone(),
        }
    }

    /// Whether the server itself does not know what became of the write: it timed out, or its storage did.
    pub(super) fn open(&self) -> bool {
        match self {
            Self::Status(status) => {
                matches!(status.code, 502..=504)
                    || matches!(status.reason.as_str(), "ServerTimeout" | "Timeout")
                    || status.message.starts_with("etcdserver: ")
            }
            Self::Unsent(_) => false,
            Self::Lost(_) => true,
        }
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Status(status),
            kube::Error::Auth(_) | kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => {
                Self::Unsent(root(&error))
            }
            error if refused(&error) => Self::Unsent(root(&error)),
            error => Self::Lost(root(&error)),
        }
    }
}

/// Whether nobody listened at the other end.
fn refused(error: &kube::Error) -> bool {
    causes(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused)
    })
}

/// The error and its causes. The standard library's `source` of an `io::Error` skips the error it was made
/// from.
fn causes<'a>(error: &'a kube::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error as &(dyn Error + 'static)), |one| {
        let one: &'a (dyn Error + 'static) = *one;
        match one.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => one.source(),
        }
    })
}

/// The innermost cause of an error: what the system or the server said, in one line.
pub(in crate::driver) fn root(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => said(status),
        _ => causes(error).last().map(ToString::to_string).unwrap_or_default(),
    }
}

/// What a status says, in one line.
pub(in crate::driver) fn said(status: &Status) -> String {
    match status.message.trim() {
        "" => format!("HTTP status {}", status.code),
        text => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn nobody_listening_means_nothing_was_sent() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = kube::Config::new(format!("http://{free}").parse().unwrap());
        let client = kube::Client::try_from(config).unwrap();
        let failure = Failure::from(client.apiserver_version().await.unwrap_err());
        assert!(matches!(failure, Failure::Unsent(said) if said.starts_with("Connection refused")));
    }

    #[test]
    fn a_connection_that_breaks_leaves_it_open() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let failure = Failure::from(kube::Error::Service(Box::new(reset)));
        assert!(matches!(failure, Failure::Lost(_)) && failure.open());
    }

    #[test]
    fn a_time_out_of_the_storage_leaves_it_open() {
        let status = Status::failure("etcdserver: request timed out", "InternalError").with_code(500);
        assert!(Failure::Status(status.boxed()).open());
        let status = Status::failure("failed calling webhook", "InternalError").with_code(500);
        assert!(!Failure::Status(status.boxed()).open());
    }

    #[test]
    fn a_status_without_words_is_told_by_its_code() {
        assert_eq!(said(&Status::failure("", "").with_code(418)), "HTTP status 418");
        assert_eq!(said(&Status::failure("two\n lines", "")), "two lines");
    }
}
