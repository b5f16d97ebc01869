//! What a user sees, with the real program: one line per module.

#[path = "main/cli.rs"]
mod cli;
#[path = "main/demo.rs"]
mod demo;
#[path = "main/inspect.rs"]
mod inspect;
#[path = "main/layers.rs"]
mod layers;
#[path = "main/program.rs"]
mod program;
