//! `pith`: parses the command line, runs the command and gives its exit code.

#[macro_use]
mod print;

mod args;
mod batch;
mod commands;
mod crawl_log;
mod exit;
mod fetch;
mod log;
mod progress;
mod signal;
mod sink;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().collect()) {
        Ok(Some(command)) => command,
        Ok(None) => return ExitCode::SUCCESS,
        Err(failure) => return failure.report(),
    };
    match commands::run(command).and_then(|exit| print::flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}
