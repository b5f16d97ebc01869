//! `pith`: words in, exit code out.

mod args;
mod commands;
mod exit;
mod sink;

use std::process::ExitCode;

fn main() -> ExitCode {
    exit::forgive_closed_pipes();
    let command = match args::parse(std::env::args_os().collect()) {
        Ok(command) => command,
        Err(failure) => return failure.report(),
    };
    match commands::run(command) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}
