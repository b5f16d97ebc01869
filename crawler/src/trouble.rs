//! Trouble of this machine: no more files, no buffers, no network. It is never the fault of a host.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

/// The first pause; it doubles as long as the trouble goes on.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// What an error says about this machine, if anything. `had_network` tells whether it could reach others before.
pub(crate) fn local_trouble(error: &(dyn Error + 'static), had_network: bool) -> Option<&'static str> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(code) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) {
            return trouble_of_code(code, had_network);
        }
        cause = error.source();
    }
    None
}

/// What is kept free on the disk, so that what is on its way can be recorded: this many bytes, or a twentieth of a small
/// disk.
const MIN_FREE_BYTES: u64 = 32 << 20;

/// Whether the disk of a folder is nearly full.
pub(crate) fn disk_trouble(folder: &Path) -> Option<&'static str> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    is_nearly_full(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize).then_some("the disk is nearly full")
}

fn is_nearly_full(free_bytes: u64, bytes: u64) -> bool {
    free_bytes < MIN_FREE_BYTES.min(bytes / 20)
}

/// What an error of the sink says about this machine, if it may pass.
pub(crate) fn sink_trouble(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull => Some("the disk is full"),
        io::ErrorKind::QuotaExceeded => Some("the disk quota is used up"),
        io::ErrorKind::ResourceBusy => Some("too many open files"),
        _ => match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Some("too many open files"),
            _ => None,
        },
    }
}

fn trouble_of_code(code: i32, had_network: bool) -> Option<&'static str> {
    match code {
        libc::EMFILE => Some("too many open files"),
        libc::ENFILE => Some("too many open files in the system"),
        libc::ENOBUFS => Some("no buffer space"),
        libc::ENOMEM => Some("out of memory"),
        // Hosts with strange addresses lead to these as well.
        libc::EADDRNOTAVAIL if !has_free_port() => Some("no free port"),
        libc::ENETDOWN | libc::ENETUNREACH if had_network && !has_network() => Some("the network is down"),
        _ => None,
    }
}

fn has_free_port() -> bool {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).is_ok()
}

/// Whether there is a route to other machines. Nothing is sent.
pub(crate) fn has_network() -> bool {
    let has_route =
        |own: SocketAddr, to: SocketAddr| UdpSocket::bind(own).and_then(|socket| socket.connect(to)).is_ok();
    let v4 = (SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)), SocketAddr::from(([192, 0, 2, 1], 9)));
    let v6 = (SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)), SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], 9)));
    has_route(v4.0, v4.1) || has_route(v6.0, v6.1)
}

/// Whether this machine can open no socket, or has lost its network.
pub(crate) fn is_in_trouble(had_network: bool) -> bool {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).is_err() || (had_network && !has_network())
}

/// The pauses of a crawl for trouble of this machine.
#[derive(Default)]
pub(crate) struct Pauses {
    /// What the trouble is, until when the crawl pauses, and the length of the pause.
    current: Option<(&'static str, Instant, Duration)>,
}

impl Pauses {
    /// There was trouble: the crawl pauses.
    pub(crate) fn begin(&mut self, what: &'static str, now: Instant) {
        let pause = match self.current {
            // Requests that were in flight when it began say nothing new.
            Some((_, until, _)) if now < until => return,
            Some((.., last)) => (last * 2).min(MAX_PAUSE),
            None => FIRST_PAUSE,
        };
        self.current = Some((what, now + pause, pause));
    }

    /// A connection succeeded: the trouble is over.
    pub(crate) fn end(&mut self, now: Instant) {
        if self.current.is_some_and(|(_, until, _)| now >= until) {
            self.current = None;
        }
    }

    /// What the trouble is, while the crawl pauses.
    pub(crate) fn current(&self, now: Instant) -> Option<&'static str> {
        self.current.filter(|(_, until, _)| now < *until).map(|(what, ..)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_told_by_its_code_wherever_it_is_in_the_chain() {
        let full = std::io::Error::from_raw_os_error(libc::EMFILE);
        assert_eq!(local_trouble(&full, true), Some("too many open files"));
        let refused = std::io::Error::from_raw_os_error(libc::ECONNREFUSED);
        assert_eq!(local_trouble(&refused, true), None);
        let strange = std::io::Error::from_raw_os_error(libc::EADDRNOTAVAIL);
        assert_eq!(local_trouble(&strange, true), None, "there are free ports");
    }

    #[test]
    fn some_room_is_kept_on_the_disk() {
        assert!(is_nearly_full(31 << 20, 1 << 40) && !is_nearly_full(33 << 20, 1 << 40));
        assert!(!is_nearly_full(4 << 20, 64 << 20), "a small disk has a smaller reserve");
        assert!(!is_nearly_full(0, 0), "some file systems say nothing");
        assert_eq!(disk_trouble(Path::new("/there/is/no/such/folder")), None);
    }

    #[test]
    fn pauses_grow_while_the_trouble_lasts() {
        let start = Instant::now();
        let mut pauses = Pauses::default();
        pauses.begin("x", start);
        pauses.begin("x", start + FIRST_PAUSE / 2);
        assert_eq!(pauses.current(start + FIRST_PAUSE / 2), Some("x"));
        assert_eq!(pauses.current(start + FIRST_PAUSE), None);
        pauses.begin("x", start + FIRST_PAUSE);
        assert!(pauses.current(start + FIRST_PAUSE * 5 / 2).is_some(), "twice as long");
        pauses.end(start + FIRST_PAUSE * 4);
        pauses.begin("x", start + FIRST_PAUSE * 4);
        assert!(pauses.current(start + FIRST_PAUSE * 5).is_none());
    }
}
