//! Other programs as methods: a command that reads JSON lines on stdin and answers each with one on stdout.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How much of a dying peer's stderr is kept for the error message.
const STDERR_KEPT: usize = 2_000;

/// How long a peer may take for one answer, its start-up included, unless the caller says otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// Another program that is compared with ours in the same table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The name in tables.
    pub name: String,
    /// The command, run by the shell.
    pub command: String,
}

impl FromStr for Peer {
    type Err = String;

    /// Reads `name=command`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("a peer is written 'name=command'")?;
        let (name, command) = (name.trim(), command.trim());
        if name.is_empty() || command.is_empty() {
            return Err("a peer is written 'name=command', neither of them empty".to_owned());
        }
        Ok(Peer { name: name.to_owned(), command: command.to_owned() })
    }
}

/// What a peer answered, and how long it took.
#[derive(Debug)]
pub struct Replies<A> {
    /// One answer per question, in the order of the questions.
    pub answers: Vec<A>,
    /// The time for [`Replies::timed`] answers: the peer's own clocks added up where every answer carries
    /// `seconds`, otherwise from its first answer to its last.
    pub seconds: f64,
    /// How many answers that time covers: all of them by the peer's clock, all but the first by ours.
    pub timed: usize,
}

impl<A> Replies<A> {
    /// Answers per second, or nothing when there was too little to time.
    pub fn per_second(&self) -> Option<f64> {
        (self.timed > 0 && self.seconds > 0.0).then(|| self.timed as f64 / self.seconds)
    }
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    seconds: Option<f64>,
}

impl Peer {
    /// Starts the peer, asks every question (its id and the object to send, which must hold the same `id`)
    /// and gives the answers in the order of the questions. The peer may answer in any order.
    ///
    /// # Errors
    /// When the peer cannot start, ends early, answers with something else than its line of JSON, or stays
    /// silent for longer than `timeout`. It does not outlive this call.
    pub fn ask<Q, A>(&self, questions: &[(String, Q)], timeout: Duration) -> Result<Replies<A>, Error>
    where
        Q: Serialize + Sync,
        A: DeserializeOwned,
    {
        let mut child = self.start()?;
        let stdin = child.stdin.take().expect("stdin was piped");
        let stdout = child.stdout.take().expect("stdout was piped");
        let stderr = child.stderr.take().expect("stderr was piped");
        thread::scope(|scope| {
            scope.spawn(move || write_questions(stdin, questions));
            let stderr_tail = scope.spawn(move || tail(stderr));
            let (sender, lines) = sync_channel(1024);
            scope.spawn(move || read_lines(stdout, &sender));
            let outcome = self.collect(questions, &lines, timeout);
            drop(lines);
            let status = match &outcome {
                // It has answered everything; end of input tells it to go, and most do so by themselves.
                Ok(_) => wait_or_end(&mut child),
                Err(PeerFailure::Ended(_)) => wait_or_end(&mut child),
                Err(_) => end(&mut child),
            };
            let stderr = stderr_tail.join().expect("reading stderr does not panic");
            outcome.map_err(|stop| stop.explain(self, questions.len(), status, stderr))
        })
    }

    fn start(&self) -> Result<Child, Error> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&self.command);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.spawn().map_err(|source| Error::PeerStart {
            name: self.name.clone(),
            command: self.command.clone(),
            source,
        })
    }

    fn collect<Q, A: DeserializeOwned>(
        &self,
        questions: &[(String, Q)],
        lines: &Receiver<(Instant, String)>,
        timeout: Duration,
    ) -> Result<Replies<A>, PeerFailure> {
        let index_by_id: HashMap<&str, usize> =
            questions.iter().enumerate().map(|(index, (id, _))| (id.as_str(), index)).collect();
        let mut answers: Vec<Option<A>> = questions.iter().map(|_| None).collect();
        let (mut first, mut last) = (None, None);
        let mut reported_seconds = Some(0.0);
        let mut answered = 0;
        while answered < questions.len() {
            let (at, line) = lines.recv_timeout(timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => PeerFailure::Timeout(answered, timeout),
                RecvTimeoutError::Disconnected => PeerFailure::Ended(answered),
            })?;
            let bad = |problem: String| PeerFailure::Answer(answered + 1, problem);
            let envelope: Envelope = serde_json::from_str(&line).map_err(|error| bad(error.to_string()))?;
            let index =
                *index_by_id.get(envelope.id.as_str()).ok_or_else(|| bad(format!("nobody asked {:?}", envelope.id)))?;
            if answers[index].is_some() {
                return Err(bad(format!("{:?} was answered before", envelope.id)));
            }
            answers[index] = Some(serde_json::from_str(&line).map_err(|error| bad(error.to_string()))?);
            first.get_or_insert(at);
            last = Some(at);
            reported_seconds = reported_seconds.zip(envelope.seconds).map(|(total, seconds)| total + seconds.max(0.0));
            answered += 1;
        }
        let answers: Vec<A> = answers.into_iter().flatten().collect();
        let (seconds, timed) = match (reported_seconds, first, last) {
            (Some(seconds), Some(_), _) => (seconds, answered),
            (None, Some(first), Some(last)) => ((last - first).as_secs_f64(), answered - 1),
            _ => (0.0, 0),
        };
        Ok(Replies { answers, seconds, timed })
    }
}

/// Why a peer did not answer all questions.
enum PeerFailure {
    Ended(usize),
    Timeout(usize, Duration),
    Answer(usize, String),
}

impl PeerFailure {
    fn explain(self, peer: &Peer, asked: usize, status: String, stderr: String) -> Error {
        let name = peer.name.clone();
        let stderr = if stderr.is_empty() { stderr } else { format!("; it said: {stderr}") };
        match self {
            PeerFailure::Ended(answered) => Error::PeerEnded { name, answered, asked, status, stderr },
            PeerFailure::Timeout(answered, waited) => Error::PeerTimeout { name, answered, waited, stderr },
            PeerFailure::Answer(line, problem) => Error::PeerAnswer { name, line, problem },
        }
    }
}

fn write_questions<Q: Serialize>(stdin: ChildStdin, questions: &[(String, Q)]) {
    let mut stdin = BufWriter::with_capacity(1 << 16, stdin);
    for (_, question) in questions {
        // A peer that has gone breaks the pipe; the reading side reports the error. Each question is sent at
        // once, because a peer may answer before it reads on.
        let sent = serde_json::to_writer(&mut stdin, question).map_err(std::io::Error::from);
        if sent.and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, lines: &SyncSender<(Instant, String)>) {
    for line in BufReader::with_capacity(1 << 16, stdout).split(b'\n') {
        let Ok(line) = line else { return };
        let at = Instant::now();
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if lines.send((at, String::from_utf8_lossy(&line).into_owned())).is_err() {
            return;
        }
    }
}

/// Reads stderr to its end, so that the peer never waits for us, and keeps the last of it on one line.
fn tail(mut stderr: ChildStderr) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * STDERR_KEPT {
            kept.drain(..kept.len() - STDERR_KEPT);
        }
    }
    let text = String::from_utf8_lossy(&kept[kept.len().saturating_sub(STDERR_KEPT)..]).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Gives the process a moment to leave by itself, then ends it.
fn wait_or_end(child: &mut Child) -> String {
    for _ in 0..100 {
        if let Ok(Some(status)) = child.try_wait() {
            return status.to_string();
        }
        thread::sleep(Duration::from_millis(20));
    }
    end(child)
}

/// Ends the shell and everything it started.
fn end(child: &mut Child) -> String {
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    let _ = child.kill();
    child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ask(command: &str, n_questions: usize, timeout: Duration) -> Result<Replies<Value>, Error> {
        let peer: Peer = format!("other={command}").parse().unwrap();
        let questions: Vec<(String, Value)> =
            (0..n_questions).map(|i| (format!("q{i}"), json!({"id": format!("q{i}"), "n": i}))).collect();
        peer.ask(&questions, timeout)
    }

    const TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn answers_come_back_in_the_order_of_the_questions() {
        let replies = ask("tac", 50, TIMEOUT).unwrap();
        let numbers: Vec<u64> = replies.answers.iter().map(|answer| answer["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..50).collect::<Vec<u64>>());
        assert_eq!(replies.timed, 49);
    }

    #[test]
    fn a_peers_own_clock_counts() {
        let replies = ask("sed 's/}$/,\"seconds\":0.5}/'", 4, TIMEOUT).unwrap();
        assert_eq!((replies.seconds, replies.timed), (2.0, 4));
        assert_eq!(replies.per_second(), Some(2.0));
    }

    #[test]
    fn a_peer_that_dies_is_named_with_its_last_words() {
        let error = ask("head -n 2; echo 'out of luck' >&2; exit 7", 5, TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("other: ended after 2 of 5 answers"), "{error}");
        assert!(error.contains("exit status: 7") && error.contains("out of luck"), "{error}");
    }

    #[test]
    fn a_silent_peer_is_ended() {
        let begun = Instant::now();
        let error = ask("cat >/dev/null; sleep 600 & sleep 600", 1, Duration::from_millis(300)).unwrap_err();
        assert!(matches!(error, Error::PeerTimeout { answered: 0, .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_answer_that_nobody_asked_for_is_refused() {
        let error = ask("sed 's/q1/q9/'", 3, TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("answer 2: nobody asked \"q9\""), "{error}");
        let error = ask("sed 's/^.*$/hello/'", 1, TIMEOUT).unwrap_err().to_string();
        assert!(error.contains("answer 1: expected value"), "{error}");
    }

    #[test]
    fn a_peer_needs_a_name_and_a_command() {
        assert!("sumy".parse::<Peer>().is_err());
        assert!("=cat".parse::<Peer>().is_err());
        let peer: Peer = "sumy=python3 peer.py --method=lexrank".parse().unwrap();
        assert_eq!(peer.command, "python3 peer.py --method=lexrank");
    }
}
