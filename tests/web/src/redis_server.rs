//! A Redis server of a test's own: on a free port of this machine, with its data in a folder of the test.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with its owner, also when that is killed.
pub struct RedisServer {
    port: u16,
    folder: PathBuf,
    arguments: Vec<String>,
    /// A shell that ends the server when its own input is closed.
    shell: Option<Child>,
}

/// The program, or the name of another that speaks the same protocol.
fn program() -> String {
    std::env::var("PITH_REDIS_SERVER").unwrap_or_else(|_| "redis-server".to_owned())
}

impl RedisServer {
    /// Starts a server with an append-only file; `None` when there is no such program here.
    ///
    /// # Errors
    /// When it does not answer within ten seconds.
    pub fn start(folder: &Path, more: &[&str]) -> io::Result<Option<RedisServer>> {
        let found = Command::new(program()).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if found.is_err() {
            return Ok(None);
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let arguments = more.iter().map(|argument| (*argument).to_owned()).collect();
        let mut server = RedisServer { port, folder: folder.to_owned(), arguments, shell: None };
        server.restart()?;
        Ok(Some(server))
    }

    /// Kills the server, if it runs, and starts it again on what it has kept.
    ///
    /// # Errors
    /// When it does not answer within ten seconds.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill();
        // The shell reads until its input ends, which it does when the test ends, however that is.
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$@\" >/dev/null 2>&1 & server=$!; read -r _; kill -9 $server; wait $server 2>/dev/null"]);
        shell.args(["sh", &program(), "--bind", "127.0.0.1", "--port", &self.port.to_string(), "--save", ""]);
        shell.args(["--appendonly", "yes", "--dir", &self.folder.display().to_string()]).args(&self.arguments);
        self.shell = Some(shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let began = Instant::now();
        while TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_err() {
            if began.elapsed() > Duration::from_secs(10) {
                return Err(io::Error::other("the Redis server does not start"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Kills the server with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut shell) = self.shell.take() {
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }

    /// Its address, with the name of a crawl.
    pub fn address(&self, crawl: &str) -> String {
        format!("redis://127.0.0.1:{}/0#{crawl}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
