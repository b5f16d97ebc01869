//! One crawl on several workers: a Redis server holds what it knows, each worker what it fetched.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pith_web::{RedisServer, RunningWeb, Web, WebConfig};
use tempfile::TempDir;

use crate::crawl::{crawl_command, stored};
use crate::resume::{check_rests, check_stored};

/// A server of the test's own; says so when there is none on this machine.
fn server(folder: &TempDir) -> Option<RedisServer> {
    let server = RedisServer::start(folder.path(), &[]).unwrap();
    if server.is_none() {
        eprintln!("skipped: there is no redis-server on this machine");
    }
    server
}

/// `pith crawl` as one worker, in a folder that has its name.
fn worker(web: &RunningWeb, frontier: &str, folder: &Path, name: &str, words: &[&str]) -> Command {
    let own = ["--frontier", frontier, "--worker", name, "--scope", "any"];
    let mut command = crawl_command(web, &folder.join(name), &[&own[..], words].concat());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn wait(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
}

fn stored_by(folder: &Path, names: &[&str]) -> Vec<Vec<String>> {
    names.iter().map(|name| stored(&folder.join(name))).collect()
}

#[test]
fn workers_store_every_page_once_and_are_polite_together() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = server(&folder) else { return };
    let config =
        WebConfig { hosts: 24, pages_per_host: 20, latency: Duration::from_millis(10), ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let names = ["a", "b", "c"];
    let words = ["--delay", "60ms"];
    let spawn = |name: &&str| worker(&web, &server.address("x"), folder.path(), name, &words).spawn().unwrap();
    names.iter().map(spawn).collect::<Vec<Child>>().into_iter().for_each(wait);
    let by_worker = stored_by(folder.path(), &names);
    println!("pages by worker: {:?}", by_worker.iter().map(Vec::len).collect::<Vec<_>>());
    assert!(by_worker.iter().all(|urls| !urls.is_empty()), "each has its part");
    check_stored(&web, &by_worker.concat());
    let log = web.log();
    check_rests(&log, Duration::from_millis(60));
    let n_robots = log.iter().filter(|request| request.path == "/robots.txt").count();
    assert_eq!(n_robots, 24, "robots.txt is asked for once, whoever asks");
}

#[test]
fn kills_of_workers_and_of_the_server_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = server(&folder) else { return };
    let config =
        WebConfig { hosts: 12, pages_per_host: 40, latency: Duration::from_millis(20), ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let address = server.address("x");
    let words = ["--delay", "20ms", "--timeout", "2s", "--lease", "4s", "--slots", "4"];
    let start = |name: &str| worker(&web, &address, folder.path(), name, &words).spawn().unwrap();
    let (mut first, mut second) = (start("a"), start("b"));
    for round in 0..4 {
        std::thread::sleep(Duration::from_millis(400));
        if round % 2 == 0 {
            server.restart().unwrap();
        }
        std::thread::sleep(Duration::from_millis(300));
        let (name, child) = if round % 2 == 0 { ("a", &mut first) } else { ("b", &mut second) };
        let _ = child.kill();
        child.wait().unwrap();
        *child = start(name);
    }
    wait(first);
    wait(second);
    check_stored(&web, &stored_by(folder.path(), &["a", "b"]).concat());
}

#[test]
fn a_worker_with_other_settings_is_told_which_and_a_server_that_forgets_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = server(&folder) else { return };
    let web = Web::start(WebConfig { hosts: 2, pages_per_host: 3, ..WebConfig::default() }).unwrap();
    let frontier = server.address("x");
    let run = |frontier: &str, name: &str, words: &[&str]| {
        let output = worker(&web, frontier, folder.path(), name, words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&frontier, "a", &["--delay", "0s"]).0, Some(0));
    let (code, told) = run(&frontier, "b", &["--delay", "0s", "--depth", "2"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("--depth is \"none\" there and \"2\" here"), "{told}");
    let (code, told) = run(&server.address("y"), "c", &["--order", "pagerank"]);
    assert!(code == Some(1) && told.contains("needs one machine"), "{told}");
    let (code, told) = run(&server.address("y"), "d", &["--recrawl"]);
    assert!(code == Some(2) && told.contains("--recrawl"), "{told}");
    let forgetful: PathBuf = folder.path().join("forgetful");
    std::fs::create_dir(&forgetful).unwrap();
    let forgetful = RedisServer::start(&forgetful, &["--appendonly", "no"]).unwrap().unwrap();
    let (code, told) = run(&forgetful.address("x"), "e", &["--delay", "0s"]);
    assert!(code == Some(1) && told.contains("--allow-volatile"), "{told}");
    assert_eq!(run(&forgetful.address("x"), "f", &["--delay", "0s", "--allow-volatile"]).0, Some(0));
}
