//! What a process has used: time on a processor, and memory.

use rustix::time::{ClockId, clock_gettime};

/// The time that this thread has had on a processor, to the nanosecond. The counters below `/proc` move only with the
/// scheduler's ticks, which is longer than most pages take.
pub fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The most memory that this process ever held, in megabytes, where the system tells.
pub fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_sleep_does_not() {
        let begun = thread_seconds();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let slept = thread_seconds();
        let mut sum = 0u64;
        while thread_seconds() - slept < 0.01 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(slept - begun < 0.02, "{}", slept - begun);
    }
}
