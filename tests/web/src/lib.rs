//! A web served from memory on loopback: many hosts, realistic pages, traps and failures, all from a seed
//! number, with the truth about every page and a log of every request.
