//! A web served from memory on loopback: many hosts, realistic pages, traps and failures, all from a seed
//! number, with the truth about every page and a log of every request.
//!
//! Tests, benchmarks and the demo crawl it over real HTTP. It is not a mock: a client that works here has parsed real
//! headers, followed real redirects and been fed by a real socket.
//!
//! ```
//! use pith_web::{Web, WebConfig};
//!
//! let web = Web::start(WebConfig { hosts: 4, pages_per_host: 10, ..WebConfig::default() })?;
//! assert_eq!(web.hosts().len(), 4);
//! let root = web.truth().page(&web.seeds()[0]).expect("every host has a root");
//! assert!(root.text.len() > 100);
//! # Ok::<(), std::io::Error>(())
//! ```

mod answer;
mod config;
mod date;
mod graph;
mod log;
mod owners;
mod prose;
mod random;
mod redis_server;
mod render;
mod serve;
mod site;
mod truth;
mod web;

pub use config::{Addresses, PageStyle, Robots, Traps, WebConfig};
pub use log::{Connection, Request, Totals};
pub use owners::{OWNED_PAGES, OwnedPage};
pub use prose::{Language, PageType};
pub use redis_server::RedisServer;
pub use site::Charset;
pub use truth::{PageTruth, Truth};
pub use web::{RunningWeb, Web};
