//! Shims: where they are started from, and where their sockets and records lie.

use std::path::PathBuf;

use uuid::Uuid;

use super::{ShimError, ShimHandle, ShimState, Spec};

/// Starts shims.
#[derive(Debug, Clone)]
pub struct Shims {
    /// This program: what shims and loop drivers are started from.
    pub exe: PathBuf,
    /// Private directory of the sockets.
    dir: PathBuf,
}

impl Shims {
    /// Shims that are started from this program, with their sockets in a private directory.
    #[must_use]
    pub const fn new(exe: PathBuf, dir: PathBuf) -> Self {
        Self { exe, dir }
    }

    /// Starts a program under a shim of its own.
    ///
    /// # Errors
    /// [`ShimError`].
    pub async fn spawn(&self, spec: &Spec) -> Result<(ShimHandle, ShimState), ShimError> {
        super::spawn(&self.exe, spec).await
    }

    /// The socket of a run.
    #[must_use]
    pub fn socket(&self, run: Uuid, name: &str) -> PathBuf {
        self.dir.join(format!("{}-{name}.sock", run.simple()))
    }

    /// A directory for records of runs.
    #[must_use]
    pub fn records(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}
