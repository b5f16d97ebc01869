//! Whose turn it is: hosts wait, rest, are ready or busy.

use std::cmp::Reverse;
use std::time::Duration;

use super::super::hosts::State;
use super::super::journal::Event;
use super::super::{Claim, Pause};
use super::Inner;
use crate::error::Error;

impl Inner {
    /// A URL more waits at a host.
    pub(super) fn one_more(&mut self, number: u32) {
        let host = self.hosts.get_mut(number);
        host.pending += 1;
        if host.state != State::Exhausted {
            self.pending += 1;
        }
        match self.hosts.get(number).state {
            State::Idle => self.make_ready(number),
            State::Ready(_) => self.renew_precedence(number),
            State::Resting | State::Busy | State::Exhausted => {}
        }
    }

    pub(super) fn make_ready(&mut self, number: u32) {
        let host = self.hosts.get_mut(number);
        if host.pending == 0 {
            host.state = State::Idle;
            return;
        }
        if u64::from(host.fetched) >= self.host_budget {
            host.state = State::Exhausted;
            self.pending -= u64::from(host.pending);
            return;
        }
        let precedence = self.precedence(number);
        self.hosts.get_mut(number).state = State::Ready(precedence);
        self.ready.insert((precedence, number));
    }

    pub(super) fn renew_precedence(&mut self, number: u32) {
        let State::Ready(old) = self.hosts.get(number).state else { return };
        let new = self.precedence(number);
        if new != old {
            self.hosts.get_mut(number).state = State::Ready(new);
            self.ready.remove(&(old, number));
            self.ready.insert((new, number));
        }
    }

    /// Sitemaps, probes and what a kill left unfinished come before everything that the policy places.
    fn precedence(&self, number: u32) -> u64 {
        match self.has_something_first(number) {
            true => 0,
            false => self.order.precedence(&self.hosts.get(number).counts()).saturating_add(1),
        }
    }

    pub(super) fn has_something_first(&self, number: u32) -> bool {
        self.hosts.get(number).extras > 0 || self.unfinished.contains_key(&number)
    }

    pub(super) fn put_to_rest(&mut self, number: u32, rest: Duration) {
        if rest.is_zero() {
            self.make_ready(number);
            return;
        }
        // One microsecond more than asked for: the clock's own reading was cut off below.
        let until = self.now() + rest.as_micros() as u64 + 1;
        let host = self.hosts.get_mut(number);
        host.state = State::Resting;
        host.due = until;
        self.resting.push(Reverse((until, number)));
    }

    pub(super) fn rest(&mut self, number: u32, pause: Pause) -> Result<(), Error> {
        let rest = match pause {
            Pause::Unasked(rest) => rest,
            Pause::Answered(rest) => {
                let milliseconds = u32::try_from(rest.as_millis()).unwrap_or(u32::MAX);
                let host = self.hosts.get_mut(number);
                host.fetched += 1;
                // Adaptive rests change a little with every answer; only what matters after a crash is written down.
                if milliseconds > host.rest_milliseconds || milliseconds < host.rest_milliseconds / 2 {
                    host.rest_milliseconds = milliseconds;
                    self.journal.push(&Event::Rest { host: number, milliseconds })?;
                }
                rest
            }
        };
        self.put_to_rest(number, rest);
        Ok(())
    }

    pub(super) fn claim(&mut self, name: &str) -> Result<Claim, Error> {
        let number = match self.hosts.find(name) {
            Some(number) => number,
            None => {
                self.journal.push(&Event::Host { name: name.to_owned() })?;
                self.hosts.add(name)
            }
        };
        let now = self.now();
        let host = self.hosts.get_mut(number);
        match host.state {
            State::Busy => return Ok(Claim::Later(Duration::from_millis(200))),
            State::Resting if host.due > now => return Ok(Claim::Later(Duration::from_micros(host.due - now))),
            State::Resting => return Ok(Claim::Later(Duration::from_millis(1))),
            State::Ready(precedence) => {
                self.ready.remove(&(precedence, number));
            }
            State::Exhausted => self.pending += u64::from(host.pending),
            State::Idle => {}
        }
        host.state = State::Busy;
        Ok(Claim::Yours(number))
    }
}
