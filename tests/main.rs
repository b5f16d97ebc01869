//! What a user sees, with the real program: one line per module.

#[path = "main/cli.rs"]
mod cli;
#[path = "main/crawl.rs"]
mod crawl;
#[path = "main/demo.rs"]
mod demo;
#[path = "main/layers.rs"]
mod layers;
#[path = "main/program.rs"]
mod program;
#[path = "main/resume.rs"]
mod resume;
