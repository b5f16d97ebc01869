//! `pith crawl` beside names whose DNS never answers: they leave the others their rate.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::crawl::pith;
use crate::hostile_hosts::{answer, is_full_run};
use crate::hostile_server::Hostile;

/// Names that are never resolved, and hosts that answer.
const N_MUTE: usize = 400;
const N_HONEST: usize = 30;
/// An address of loopback on which nothing else answers DNS.
const MUTE_SERVER: &str = "127.0.0.77";

/// There is one address for the server, and tests run at once.
static TURN: Mutex<()> = Mutex::new(());

/// A DNS server that takes questions and says nothing; `None` where none can be had.
fn mute_server() -> Option<(UdpSocket, MutexGuard<'static, ()>)> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let can_mount = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    let socket = UdpSocket::bind((MUTE_SERVER, 53)).ok().filter(|_| can_mount)?;
    Some((socket, turn))
}

/// A crawl whose system asks the mute server, and which finds the honest hosts without it.
fn crawl(server: &Hostile, out: &Path, n_mute: usize) -> Child {
    let mute = (0..n_mute).map(|number| format!("http://mute{number}.example/"));
    let seeds: Vec<String> = mute.chain((0..N_HONEST).map(|number| format!("http://honest{number}.test/"))).collect();
    std::fs::write(out.join("seeds.txt"), seeds.join("\n")).unwrap();
    std::fs::write(out.join("resolv.conf"), format!("nameserver {MUTE_SERVER}\n")).unwrap();
    let mut command = Command::new("unshare");
    let mount = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
    command.args(["-m", "sh", "-c", mount]).arg(out.join("resolv.conf")).arg(pith().get_program());
    command.arg("crawl").arg("--seeds").arg(out.join("seeds.txt")).arg("--out").arg(out.join("crawl"));
    for number in 0..N_HONEST {
        command.args(["--resolve", &format!("honest{number}.test={}", server.address)]);
    }
    command.args(["--quiet", "--delay", "300ms", "--time", "10m"]).spawn().unwrap()
}

/// Requests to honest hosts in so many seconds, after a first few.
fn honest_requests(n_mute: usize, time: Duration) -> usize {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let mut child = crawl(&server, out.path(), n_mute);
    std::thread::sleep(Duration::from_secs(5));
    let before = server.n_requests("honest");
    std::thread::sleep(time);
    let n_requests = server.n_requests("honest") - before;
    child.kill().unwrap();
    child.wait().unwrap();
    println!("{n_requests} requests to honest hosts beside {n_mute} mute names");
    n_requests
}

#[test]
fn names_that_are_never_resolved_leave_the_others_their_rate() {
    let Some(_server) = mute_server() else {
        println!("skipped: no DNS server can be had on {MUTE_SERVER}, or no mount namespace");
        return;
    };
    // With 300 ms between two requests a host can have forty in twelve seconds; a busy machine gives far fewer.
    if !is_full_run() {
        let n_requests = honest_requests(N_MUTE, Duration::from_secs(12));
        assert!(n_requests >= N_HONEST, "{n_requests} requests to {N_HONEST} hosts");
        return;
    }
    let alone = honest_requests(0, Duration::from_secs(30));
    let beside = honest_requests(N_MUTE, Duration::from_secs(30));
    assert!(beside * 100 >= alone * 90, "{beside} requests beside {N_MUTE} mute names, {alone} alone");
}

#[test]
fn sigterm_ends_a_crawl_whose_names_are_never_resolved() {
    let Some(_server) = mute_server() else {
        println!("skipped: no DNS server can be had on {MUTE_SERVER}, or no mount namespace");
        return;
    };
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let mut child = crawl(&server, out.path(), N_MUTE);
    std::thread::sleep(Duration::from_secs(4));
    let asked_at = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    while child.try_wait().unwrap().is_none() && asked_at.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let took = asked_at.elapsed();
    let _ = child.kill();
    child.wait().unwrap();
    assert!(took < Duration::from_secs(10), "{took:?}");
}
