//! Page shards, from the outside: what others wrote is read, what we write others read, and damage costs what it must.

#[path = "warc/damage.rs"]
mod damage;
#[path = "warc/hostile.rs"]
mod hostile;
#[path = "warc/linear.rs"]
mod linear;
#[path = "warc/peers.rs"]
mod peers;
#[path = "warc/samples.rs"]
mod samples;
#[path = "warc/shards.rs"]
mod shards;
