//! What a failed call says about whether it happened.
//!
//! Invariant: without an answer of the server, only a call that never left counts as not done.

use crate::driver::client::root;
use kube::core::Status;
use std::error::Error;
use std::io;

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
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(one) = cause {
        if one.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = one.source();
    }
    false
}

/// What a status says, in one line.
pub(in crate::driver) fn said(status: &Status) -> String {
    let text = if status.message.is_empty() { &status.reason } else { &status.message };
    match text.trim() {
        "" => format!("HTTP status {}", status.code),
        text => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_listening_means_nothing_was_sent() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = kube::Error::Service(Box::new(io::Error::other(refused)));
        assert!(matches!(Failure::from(error), Failure::Unsent(_)));
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
