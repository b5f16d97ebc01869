//! Starting and stopping.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::answer::{Answers, Content};
use crate::config::{Addresses, WebConfig};
use crate::graph::Graph;
use crate::log::{Connection, Log, Request, Totals};
use crate::owners::{OWNED_PAGES, OwnedPage};
use crate::serve::{Server, accept};
use crate::site::{Role, Site, loopback};
use crate::truth::Truth;

/// The way to start a web.
pub struct Web;

impl Web {
    /// Starts serving on loopback, on threads of its own: callers may be async or not.
    ///
    /// # Errors
    ///
    /// When no port can be bound.
    pub fn start(config: WebConfig) -> io::Result<RunningWeb> {
        let hosts = config.hosts + config.traps.count();
        let listeners = bind(&config, hosts)?;
        let ports: Vec<u16> =
            listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<io::Result<_>>()?;
        let (threads, latency, keep_log) = (config.threads, config.latency, config.log);
        let site = Arc::new(Site::new(config, &ports));
        let names = site.hosts.iter().map(|host| host.authority.clone()).collect();
        let ordinary = site.hosts.iter().filter(|host| host.role == Role::Ordinary);
        let seeds = ordinary.map(|host| format!("http://{}/", host.authority)).collect();
        let content = Content::Site(site.clone());
        let truth = Some(Truth::new(site));
        run(listeners, content, Settings { threads, latency, keep_log }, names, seeds, truth)
    }

    /// Serves the given pages and links; `edges` are positions in `urls`, which are `http` without a port.
    ///
    /// # Errors
    ///
    /// When no port can be bound.
    ///
    /// # Panics
    ///
    /// When an edge names a page that is not there.
    pub fn from_graph(urls: Vec<String>, edges: &[(u32, u32)]) -> io::Result<RunningWeb> {
        let listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
        let seeds = urls.iter().take(1).cloned().collect();
        let graph = Graph::new(urls, edges);
        let names = graph.hosts();
        let settings = Settings { threads: 2, latency: Duration::ZERO, keep_log: true };
        run(listeners, Content::Graph(Arc::new(graph)), settings, names, seeds, None)
    }

    /// Serves [`OWNED_PAGES`]: hosts whose owners say what their pages may be used for. Every page is a seed.
    ///
    /// # Errors
    ///
    /// When no port can be bound.
    pub fn owners() -> io::Result<RunningWeb> {
        let listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
        let seeds = OWNED_PAGES.iter().map(OwnedPage::url).collect();
        let mut names: Vec<String> = OWNED_PAGES.iter().map(|page| page.host.to_owned()).collect();
        names.dedup();
        let settings = Settings { threads: 2, latency: Duration::ZERO, keep_log: true };
        run(listeners, Content::Owners, settings, names, seeds, None)
    }
}

struct Settings {
    threads: usize,
    latency: Duration,
    keep_log: bool,
}

/// A web that is being served; dropping it stops it.
pub struct RunningWeb {
    address: SocketAddr,
    names: Vec<String>,
    seeds: Vec<String>,
    truth: Option<Truth>,
    log: Arc<Log>,
    clock_ahead: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RunningWeb {
    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where every named host lives.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The hosts as they stand in URLs, ordinary ones first, then traps.
    pub fn hosts(&self) -> &[String] {
        &self.names
    }

    /// The roots of all ordinary hosts; for a given graph, its first page.
    pub fn seeds(&self) -> &[String] {
        &self.seeds
    }

    /// What to give to `--resolve` so that every name leads here: `*=127.0.0.1:PORT`.
    pub fn resolve(&self) -> String {
        format!("*={}", self.address)
    }

    /// Every request so far.
    pub fn log(&self) -> Vec<Request> {
        self.log.requests()
    }

    /// Every connection so far.
    pub fn connections(&self) -> Vec<Connection> {
        self.log.connections()
    }

    /// Counts so far, kept even without a log.
    pub fn totals(&self) -> Totals {
        self.log.totals()
    }

    /// What is true about the pages.
    ///
    /// # Panics
    ///
    /// For a web that was made from a given graph: its truth is that graph.
    pub fn truth(&self) -> &Truth {
        self.truth.as_ref().expect("only generated webs have a truth of their own")
    }

    /// Moves the clock that pages change by, so that tests need not wait.
    pub fn advance(&self, time: Duration) {
        self.clock_ahead.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }

    /// Stops serving and waits until it has stopped.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The other end is gone only when serving has already ended.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the serving thread does not panic");
        }
    }
}

impl Drop for RunningWeb {
    fn drop(&mut self) {
        self.end();
    }
}

fn run(
    listeners: Vec<TcpListener>,
    content: Content,
    settings: Settings,
    names: Vec<String>,
    seeds: Vec<String>,
    truth: Option<Truth>,
) -> io::Result<RunningWeb> {
    let address = listeners[0].local_addr()?;
    let log = Arc::new(Log::new(settings.keep_log));
    let clock_ahead = Arc::new(AtomicU64::new(0));
    let server = Arc::new(Server {
        answers: Answers::new(content),
        log: log.clone(),
        latency: settings.latency,
        clock_ahead: clock_ahead.clone(),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(settings.threads.max(1))
        .thread_name("test-web")
        .enable_all()
        .build()?;
    for listener in &listeners {
        listener.set_nonblocking(true)?;
    }
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::Builder::new().name("test-web".to_owned()).spawn(move || {
        runtime.block_on(async {
            for listener in listeners {
                let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime takes sockets");
                tokio::spawn(accept(listener, server.clone()));
            }
            let _ = stopped.await;
        });
        runtime.shutdown_background();
    })?;
    Ok(RunningWeb { address, names, seeds, truth, log, clock_ahead, stop: Some(stop), thread: Some(thread) })
}

/// One socket for all names, or one per host.
fn bind(config: &WebConfig, hosts: usize) -> io::Result<Vec<TcpListener>> {
    let mut last = None;
    // A free port of the first address may be taken on another: some tries are enough.
    for _ in 0..20 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port))?;
        let port = first.local_addr()?.port();
        let rest: io::Result<Vec<TcpListener>> = match config.addresses {
            Addresses::Names | Addresses::CountryNames => Ok(Vec::new()),
            Addresses::Loopback => {
                (1..hosts).map(|index| TcpListener::bind((IpAddr::V4(loopback(index)), port))).collect()
            }
            Addresses::Ports => (1..hosts).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect(),
        };
        match rest {
            Ok(rest) => return Ok(std::iter::once(first).chain(rest).collect()),
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("the loop ran"))
}
