//! `pith`: runs the command line and gives its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    pith::run(pith::Invocation::of_process()).into()
}
