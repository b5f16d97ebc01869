//! What a user sees, with the real program: one line per module.

#[path = "main/batch.rs"]
mod batch;
#[path = "main/cli.rs"]
mod cli;
#[path = "main/corpus.rs"]
mod corpus;
#[path = "main/crawl.rs"]
mod crawl;
#[path = "main/dataset.rs"]
mod dataset;
#[path = "main/demo.rs"]
mod demo;
#[path = "main/ends.rs"]
mod ends;
#[path = "main/folders.rs"]
mod folders;
#[path = "main/guides.rs"]
mod guides;
#[path = "main/hostile.rs"]
mod hostile;
#[path = "main/hostile_hosts.rs"]
mod hostile_hosts;
#[path = "main/hostile_names.rs"]
mod hostile_names;
#[path = "main/hostile_neighbours.rs"]
mod hostile_neighbours;
#[path = "main/hostile_server.rs"]
mod hostile_server;
#[path = "main/inspect.rs"]
mod inspect;
#[path = "main/lab.rs"]
mod lab;
#[path = "main/layers.rs"]
mod layers;
#[path = "main/near_duplicates.rs"]
mod near_duplicates;
#[path = "main/network.rs"]
mod network;
#[path = "main/order.rs"]
mod order;
#[path = "main/packaging.rs"]
mod packaging;
#[path = "main/pages.rs"]
mod pages;
#[path = "main/preferences.rs"]
mod preferences;
#[path = "main/program.rs"]
mod program;
#[path = "main/readme.rs"]
mod readme;
#[path = "main/recrawl.rs"]
mod recrawl;
#[path = "main/repair.rs"]
mod repair;
#[path = "main/requests.rs"]
mod requests;
#[path = "main/resume.rs"]
mod resume;
#[path = "main/rules.rs"]
mod rules;
#[path = "main/seeds.rs"]
mod seeds;
#[path = "main/shared.rs"]
mod shared;
#[path = "main/signature.rs"]
mod signature;
#[path = "main/text.rs"]
mod text;
