//! A future that knows how much processor time it has taken.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Runs a future; gives its output and the time that was spent in it, without the time that it waited.
pub(crate) async fn timed<F: Future>(future: F) -> (F::Output, Duration) {
    let mut timed = Timed { future: Box::pin(future), busy: Duration::ZERO };
    let output = (&mut timed).await;
    (output, timed.busy)
}

struct Timed<F> {
    future: Pin<Box<F>>,
    busy: Duration,
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let started = Instant::now();
        let polled = self.future.as_mut().poll(context);
        self.busy += started.elapsed();
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_is_not_counted_and_work_is() {
        let ((), busy) = timed(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            std::thread::sleep(Duration::from_millis(20));
        })
        .await;
        assert!(busy >= Duration::from_millis(20) && busy < Duration::from_millis(50), "{busy:?}");
    }
}
