//! A deterministic simulation of whole crawls: frontier, scheduler and pacing are the real code; clock, network and crashes
//! come from a seed, and the disk can be taken away at any write.
//!
//! ```console
//! $ cargo test -p pith-crawler simulation                                 # some hundred seeds
//! $ PITH_SEEDS=5000 cargo test --release -p pith-crawler simulation       # more of them
//! $ PITH_SEED=1234 cargo test -p pith-crawler simulation -- --nocapture   # one of them, with its history
//! ```

mod driver;
mod model;
mod settings;
mod web;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use self::driver::{Ending, simulate};
use self::settings::Settings;

/// Seeds of an ordinary run, and with `PITH_FULL`.
const N_SEEDS: u64 = 200;
const N_SEEDS_FULL: u64 = 5000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
}

/// Crawls with one seed; a crawl that breaks a promise is named with the seed.
fn run(seed: u64) -> Ending {
    let settings = Settings::of(seed);
    let described = format!("{settings:?}");
    catch_unwind(AssertUnwindSafe(|| simulate(settings))).unwrap_or_else(|panic| {
        crate::frontier::simulated_disk::end();
        let what = panic.downcast_ref::<String>().cloned();
        let what = what.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
        panic!("{what}\n  {described}\n  again: PITH_SEED={seed} cargo test -p pith-crawler simulation -- --nocapture")
    })
}

#[test]
fn no_crash_at_any_moment_breaks_a_promise() {
    if let Some(seed) = number("PITH_SEED") {
        println!("{:?}", run(seed));
        return;
    }
    let default = if std::env::var_os("PITH_FULL").is_some() { N_SEEDS_FULL } else { N_SEEDS };
    let n_seeds = number("PITH_SEEDS").unwrap_or(default);
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ending::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).min(8) {
            scope.spawn(|| {
                while let seed = next.fetch_add(1, Ordering::Relaxed)
                    && seed < n_seeds
                {
                    let ending = run(seed);
                    total.lock().unwrap().add(&ending);
                }
            });
        }
    });
    let total = total.into_inner().unwrap();
    println!("{n_seeds} seeds: {total:?}");
    // A simulation in which nothing happens proves nothing.
    assert!(total.n_stored > n_seeds && total.n_crashes > n_seeds && total.n_adopted > 0, "{total:?}");
    assert!(total.n_without_room > n_seeds / 20, "{total:?}");
}

#[test]
fn a_seed_gives_the_same_crawl_each_time() {
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed), "PITH_SEED={seed}");
    }
}
