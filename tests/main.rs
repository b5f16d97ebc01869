//! What a user sees, with the real program: one line per module.

#[path = "main/batch.rs"]
mod batch;
#[path = "main/cli.rs"]
mod cli;
#[path = "main/corpus.rs"]
mod corpus;
#[path = "main/crawl.rs"]
mod crawl;
#[path = "main/demo.rs"]
mod demo;
#[path = "main/inspect.rs"]
mod inspect;
#[path = "main/lab.rs"]
mod lab;
#[path = "main/layers.rs"]
mod layers;
#[path = "main/network.rs"]
mod network;
#[path = "main/order.rs"]
mod order;
#[path = "main/pages.rs"]
mod pages;
#[path = "main/program.rs"]
mod program;
#[path = "main/readme.rs"]
mod readme;
#[path = "main/recrawl.rs"]
mod recrawl;
#[path = "main/resume.rs"]
mod resume;
#[path = "main/rules.rs"]
mod rules;
