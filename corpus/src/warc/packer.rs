//! Digest and compression on a few threads: records are independent frames, and come back in the order they were given.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::compressor::Compressor;
use super::draft::Draft;
use super::response::encode;
use super::writer::Format;

/// How the records of one shard are packed.
pub(super) struct Packing {
    pub(super) format: Format,
    pub(super) level: i32,
    pub(super) dictionary: Option<Vec<u8>>,
}

impl Packing {
    pub(super) fn compressor(&self) -> Compressor {
        Compressor::new(self.format, self.level, self.dictionary.as_deref())
    }
}

/// A response whose record is packed as if it repeated nothing.
pub(super) struct Packed {
    pub(super) draft: Draft,
    pub(super) digest: [u8; 32],
    pub(super) frame: Vec<u8>,
    pub(super) packing: Arc<Packing>,
}

struct Job {
    draft: Draft,
    packing: Arc<Packing>,
    reply: Sender<Packed>,
}

/// Packs drafts on threads of its own, or on the caller's where there is but one.
pub(super) struct Packer {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// The replies that are awaited, in the order of their drafts, with the size of each body.
    awaited: VecDeque<(Receiver<Packed>, usize)>,
    awaited_bytes: usize,
    own: PackState,
    finished: VecDeque<Packed>,
}

/// Bytes of bodies that may be on their way; one larger body is let through alone.
const MAX_BYTES: usize = 8 << 20;
/// Responses that may be on their way, for each thread.
const PER_THREAD: usize = 8;

impl Packer {
    pub(super) fn new(n_threads: NonZeroUsize) -> Packer {
        let mut packer = Packer {
            jobs: None,
            threads: Vec::new(),
            awaited: VecDeque::new(),
            awaited_bytes: 0,
            own: PackState::default(),
            finished: VecDeque::new(),
        };
        if n_threads.get() > 1 {
            let (jobs, incoming) = bounded::<Job>(n_threads.get() * PER_THREAD);
            packer.jobs = Some(jobs);
            for number in 0..n_threads.get() {
                let incoming = incoming.clone();
                let thread = std::thread::Builder::new().name(format!("pack-{number}"));
                // Fewer threads than wanted do the same work; with none of them the caller's thread does it.
                packer.threads.extend(thread.spawn(move || run(&incoming)).ok());
            }
        }
        if packer.threads.is_empty() {
            packer.jobs = None;
        }
        packer
    }

    /// Whether a draft of this size has to wait until others are done.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        let most = self.threads.len() * PER_THREAD;
        !self.awaited.is_empty() && (self.awaited.len() >= most || self.awaited_bytes + bytes > MAX_BYTES)
    }

    /// Takes a draft to be packed.
    pub(super) fn put(&mut self, draft: Draft, packing: &Arc<Packing>) {
        let packing = packing.clone();
        let Some(jobs) = &self.jobs else {
            self.finished.push_back(self.own.pack(draft, packing));
            return;
        };
        let (reply, answer) = bounded(1);
        let bytes = draft.body.len();
        self.awaited.push_back((answer, bytes));
        self.awaited_bytes += bytes;
        // The threads only end when this sender is dropped; were they to die, the reply is missed in `next`.
        let _ = jobs.send(Job { draft, packing, reply });
    }

    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.finished.is_empty() && self.awaited.is_empty()
    }

    /// Whether the next packed response is there.
    pub(super) fn is_ready(&self) -> bool {
        !self.finished.is_empty() || self.awaited.front().is_some_and(|(answer, _)| !answer.is_empty())
    }

    /// The next packed response; waits for it. `None` when nothing is on its way.
    pub(super) fn next(&mut self) -> Option<Packed> {
        if let Some(packed) = self.finished.pop_front() {
            return Some(packed);
        }
        let (answer, bytes) = self.awaited.pop_front()?;
        self.awaited_bytes -= bytes;
        Some(answer.recv().expect("packing has no bug that ends its thread"))
    }
}

impl Drop for Packer {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn run(jobs: &Receiver<Job>) {
    let mut state = PackState::default();
    for Job { draft, packing, reply } in jobs {
        // Nobody waits for it when the writer was dropped.
        let _ = reply.send(state.pack(draft, packing));
    }
}

/// What a thread keeps between records.
#[derive(Default)]
struct PackState {
    compressor: Option<(Arc<Packing>, Compressor)>,
    record: Vec<u8>,
    scratch: Vec<u8>,
}

impl PackState {
    fn pack(&mut self, draft: Draft, packing: Arc<Packing>) -> Packed {
        let digest = draft.digest();
        self.record.clear();
        encode(&draft, &digest, draft.target(), &mut self.record);
        if !self.compressor.as_ref().is_some_and(|(current, _)| Arc::ptr_eq(current, &packing)) {
            self.compressor = Some((packing.clone(), packing.compressor()));
        }
        let (_, compressor) = self.compressor.as_mut().expect("it was set just now");
        let mut frame = Vec::new();
        compressor.pack(&self.record, &mut self.scratch, &mut frame);
        Packed { draft, digest, frame, packing }
    }
}
