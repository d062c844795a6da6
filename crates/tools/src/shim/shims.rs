//! The executable for shims, and the directory of their sockets and records.

use std::path::PathBuf;

use uuid::Uuid;

use super::{ShimError, ShimHandle, ShimState, Spec};

/// A factory for shims.
#[derive(Debug, Clone)]
pub struct Shims {
    /// This program's executable, of which shim and driver are sub-commands.
    pub exe: PathBuf,
    /// Directory of the sockets, accessible by its owner only.
    dir: PathBuf,
}

impl Shims {
    /// Creates a factory for this executable and socket directory.
    #[must_use]
    pub const fn new(exe: PathBuf, dir: PathBuf) -> Self {
        Self { exe, dir }
    }

    /// Starts a program under a new shim.
    ///
    /// # Errors
    /// Fails with [`ShimError`]; no process is running then.
    pub async fn spawn(&self, spec: &Spec) -> Result<(ShimHandle, ShimState), ShimError> {
        super::spawn(&self.exe, spec).await
    }

    /// Returns the path of a socket for a run. `name` distinguishes several sockets of one run.
    #[must_use]
    pub fn socket(&self, run: Uuid, name: &str) -> PathBuf {
        self.dir.join(format!("{}-{name}.sock", run.simple()))
    }

    /// Returns the directory for records of runs of this kind.
    #[must_use]
    pub fn records(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}
