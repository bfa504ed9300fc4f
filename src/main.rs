//! The `elbowroom` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Chosen here, since several could be compiled in; it is only an error when one was chosen before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    elbowroom::command::main(std::env::args_os())
}
