//! The program `pith` as a library: what joins the stages, for bindings that hand out the same documents as the program.
//!
//! [`run`] is the program itself. The rest is what one page ([`PageDocument`]) and one shard ([`ShardTask`]) become. The stages
//! are crates of their own, which know nothing of this one.

#[macro_use]
mod print;

mod args;
mod batch;
mod commands;
mod exit;
mod fetch;
mod invocation;
mod log;
mod progress;
mod signal;
mod sink;

pub use batch::{
    Extract, GivenUp, Job, MAX_PAGE_BYTES, OriginFiles, Outcome, PageDocument, Reply, Settings, ShardResult, ShardTask,
    Source, TIME_LIMIT, Task, WINDOW_PER_JOB, Workers, extract_task, find, page_at_hand, reason_to_skip,
};
pub use exit::Failure;
pub use invocation::Invocation;
pub use progress::Progress;

/// Runs the program to its end and gives its exit code.
pub fn run(invocation: Invocation) -> u8 {
    let words = invocation.words.clone();
    invocation::set(invocation);
    let command = match args::parse(words) {
        Ok(Some(command)) => command,
        Ok(None) => return 0,
        Err(failure) => return failure.report(),
    };
    match commands::run(command).and_then(|exit| print::flush().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(failure) => failure.report(),
    }
}
