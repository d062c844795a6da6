//! Which processes beside the loops' this Loopgate started and may therefore end.
//!
//! A process is only ever ended through its shim, which tells it from any other that has the same
//! pid, and takes everything with it that it started. Loops stand in their records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_tools::process::{ProcessStart, alive, identity};
use loopgate_tools::shim::{ShimError, ShimHandle};
use thiserror::Error;
use uuid::Uuid;

use crate::job::Job;
use crate::runtime::Runtime;
use crate::store::StoreError;

/// What a process gets that a person wants to end.
const GRACE: Duration = Duration::from_millis(500);

/// The living ones, by the id of their run.
#[derive(Debug, Default)]
pub(crate) struct Processes(Mutex<HashMap<Uuid, (u32, ShimHandle)>>);

impl Processes {
    pub(crate) fn add(&self, run: Uuid, pid: u32, shim: ShimHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(run, (pid, shim));
    }

    pub(crate) fn remove(&self, run: Uuid) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }

    fn by_pid(&self, pid: u32) -> Option<ShimHandle> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().find(|(own, _)| *own == pid).map(|(_, shim)| shim.clone())
    }
}

/// Who has a pid.
#[derive(Debug)]
pub enum Owner {
    /// A process of ours.
    Ours(Ours),
    /// Nobody.
    Nobody,
    /// Somebody whom Loopgate did not start.
    Stranger,
}

/// A process of ours that may be ended.
#[derive(Debug)]
pub struct Ours(Kind);

#[derive(Debug)]
enum Kind {
    Run(ShimHandle),
    Loop(LoopId),
}

/// Why a process could not be ended.
#[derive(Debug, Error)]
pub enum StopError {
    /// Its shim does not do what it should.
    #[error(transparent)]
    Shim(#[from] ShimError),
    /// The record of its loop.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runtime {
    /// Who has a pid. What is no pid of a living process of ours is never ours.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub async fn owner_of(&self, pid: u32) -> Result<Owner, StoreError> {
        if let Some(shim) = self.processes.by_pid(pid) {
            return Ok(Owner::Ours(Ours(Kind::Run(shim))));
        }
        let is_it = |job: &&Job| {
            let started = job.facts.pid_started_at.map(ProcessStart);
            job.facts.pid == Some(pid) && started.is_some_and(|started| alive(pid, started))
        };
        if let Some(job) = self.store.jobs().await?.iter().find(is_it) {
            return Ok(Owner::Ours(Ours(Kind::Loop(job.id))));
        }
        Ok(if identity(pid).is_some() { Owner::Stranger } else { Owner::Nobody })
    }

    /// Ends a process and everything that it started; `false` when it had ended meanwhile.
    ///
    /// # Errors
    /// [`StopError`].
    pub async fn stop(self: &Arc<Self>, Ours(kind): Ours) -> Result<bool, StopError> {
        match kind {
            Kind::Run(shim) => match shim.kill(GRACE).await {
                Ok(_) => Ok(true),
                Err(ShimError::Lost) => Ok(false),
                Err(error) => Err(error.into()),
            },
            Kind::Loop(id) => Ok(self.end(id).await?),
        }
    }
}
