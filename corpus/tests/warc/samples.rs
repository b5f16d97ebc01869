//! Files that others made.
