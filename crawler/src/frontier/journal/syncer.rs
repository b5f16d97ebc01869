//! Syncs the journal on a thread of its own: a disk may take long, and the thread that settles also fetches.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use super::super::files;
use crate::error::Error;

/// The handle on the thread, which starts with the first sync and ends with the handle.
#[derive(Default)]
pub(super) struct Syncer {
    wake: Option<mpsc::SyncSender<()>>,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Syncer {
    /// Lets the file be synced soon. An error of an earlier sync is given now.
    pub(super) fn sync(&mut self, file: &File, path: &Path) -> Result<(), Error> {
        #[cfg(test)]
        if super::super::simulated_disk::is_active() {
            return files::sync(file, path);
        }
        if let Some(error) = self.failure.lock().expect("nothing panics while it holds this").take() {
            return Err(files::io_error(path, "sync")(error));
        }
        let wake = match &self.wake {
            Some(wake) => wake,
            None => self.wake.insert(self.start(file).map_err(files::io_error(path, "sync"))?),
        };
        // A sync that is due already will do.
        let _ = wake.try_send(());
        Ok(())
    }

    fn start(&self, file: &File) -> io::Result<mpsc::SyncSender<()>> {
        let (file, failure) = (file.try_clone()?, self.failure.clone());
        let (wake, due) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            while due.recv().is_ok() {
                if let Err(error) = file.sync_data() {
                    *failure.lock().expect("nothing panics while it holds this") = Some(error);
                }
            }
        })?;
        Ok(wake)
    }
}
