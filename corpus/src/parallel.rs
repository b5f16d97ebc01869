//! One task per shard on several threads, results in the order of the shards.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::Error;

/// Runs `task` once for every number below `n_tasks`, `jobs` at a time.
///
/// After the first error no new task begins, and that error is the answer.
pub(crate) fn run<T: Send>(
    jobs: NonZeroUsize,
    n_tasks: usize,
    task: impl Fn(usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Vec<Mutex<Option<Result<T, Error>>>> = (0..n_tasks).map(|_| Mutex::new(None)).collect();
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= n_tasks {
                break;
            }
            let result = task(index);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            *results[index].lock().expect("no thread panics while it holds this lock") = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.get().min(n_tasks) {
            scope.spawn(work);
        }
        work();
    });
    let mut values = Vec::with_capacity(n_tasks);
    let mut unfinished = false;
    for result in results {
        match result.into_inner().expect("no thread panics while it holds this lock") {
            Some(Ok(value)) => values.push(value),
            Some(Err(error)) => return Err(error),
            None => unfinished = true,
        }
    }
    if unfinished { Err(Error::Stopped) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_errors_come_out() {
        let jobs = NonZeroUsize::new(4).unwrap();
        assert_eq!(run(jobs, 50, |n| Ok(n * 2)).unwrap(), (0..50).map(|n| n * 2).collect::<Vec<_>>());
        let failed = run(jobs, 50, |n| if n == 20 { Err(Error::NoDocuments { path: "x".into() }) } else { Ok(n) });
        assert!(matches!(failed, Err(Error::NoDocuments { .. })), "{failed:?}");
    }
}
