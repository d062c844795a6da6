//! The launch requests of loops whose process does not run yet, on disk: what a loop is begun from when its turn
//! comes, or when Loopgate died while it was being started.
//!
//! One sealed file a loop: an order holds the runner token.

use std::io;
use std::path::PathBuf;

use loopgate_api::ids::LoopId;
use loopgate_home::Credentials;
use loopgate_home::files::{create_private_dir, write_private};
use serde::{Deserialize, Serialize};

use crate::request::LoopHeaders;

/// An order as it came.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LaunchRequest {
    /// The body.
    pub body: String,
    /// Its headers.
    pub headers: LoopHeaders,
}

/// The launch requests of this desktop.
#[derive(Debug, Clone)]
pub(crate) struct LaunchRequests {
    dir: PathBuf,
}

impl LaunchRequests {
    /// Those in a directory, which is made. Blocks on the disk.
    pub fn open(dir: PathBuf) -> io::Result<Self> {
        create_private_dir(&dir)?;
        Ok(Self { dir })
    }

    /// Keeps an order. Blocks on the disk.
    pub fn keep(&self, id: LoopId, order: &LaunchRequest, credentials: &Credentials) -> io::Result<()> {
        let sealed = credentials.seal(&serde_json::to_vec(order)?);
        let sealed = sealed.ok_or_else(|| io::Error::other("the order could not be encrypted"))?;
        write_private(&self.file(id), &sealed)
    }

    /// Whether the order of a loop is kept. Blocks on the disk.
    pub fn has(&self, id: LoopId) -> bool {
        self.file(id).is_file()
    }

    /// Reads an order. Blocks on the disk.
    pub fn read(&self, id: LoopId, credentials: &Credentials) -> Option<LaunchRequest> {
        let sealed = std::fs::read(self.file(id)).ok()?;
        serde_json::from_slice(&credentials.open_sealed(&sealed)?).ok()
    }

    /// Forgets an order. Blocks on the disk.
    pub fn forget(&self, id: LoopId) {
        if let Err(error) = std::fs::remove_file(self.file(id))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(loop_id = %id, %error, "the order of a loop was not removed");
        }
    }

    /// Forgets the launch requests of all other loops. Blocks on the disk.
    pub fn retain(&self, loops: &[LoopId]) -> io::Result<()> {
        let kept: Vec<PathBuf> = loops.iter().map(|id| self.file(*id)).collect();
        for entry in std::fs::read_dir(&self.dir)?.filter_map(Result::ok) {
            if !kept.contains(&entry.path()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn file(&self, id: LoopId) -> PathBuf {
        self.dir.join(id.to_string())
    }
}
