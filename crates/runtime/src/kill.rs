//! Ending a loop because a person wants it: recorded first, then its shim is asked.
//!
//! No pid is ever signalled here. Who follows the loop does the rest; when nobody does, the loop is
//! taken up for that.

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::LoopId;
use loopgate_tools::shim;
use serde_json::Value;

use crate::error::LoopError;
use crate::finalize::Ended;
use crate::job::FinalizationSource;
use crate::lifecycle::JobEvent;
use crate::request;
use crate::reservations::Phase;
use crate::runtime::Runtime;
use crate::store::StoreError;
use crate::supervise::{self, Begin};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillOutcome {
    /// The loop ran here.
    Terminated,
    /// It was known from its record only.
    TerminatedAfterRestart,
}

impl KillOutcome {
    /// The text of the answer.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Terminated => "Loop process terminated",
            Self::TerminatedAfterRestart => "Loop process terminated (restart fallback)",
        }
    }
}

impl Runtime {
    /// Ends the loop that a body names.
    ///
    /// # Errors
    /// 400 for a bad body, 404 when nothing of this loop runs, 409 while it is being prepared.
    pub async fn kill_loop(self: &Arc<Self>, body: &[u8]) -> Result<KillOutcome, LoopError> {
        let members = request::members(body)?;
        let id = members.get("loopId").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| LoopError::bad_request("loopId is required"))?;
        let unknown = || LoopError::new(404, "No running process found for this loop");
        let id: LoopId = id.parse().map_err(|_| unknown())?;
        match self.reservations.phase(id) {
            Some(Phase::Preparing) => Err(LoopError::new(409, "Loop is still initializing, retry shortly")),
            Some(Phase::Running) => {
                self.end(id).await?.then_some(KillOutcome::Terminated).ok_or_else(unknown)
            }
            None => self.end_unfollowed(id).await?.ok_or_else(unknown),
        }
    }

    /// Records the wish and asks the shim; `false` when the loop had ended.
    pub(crate) async fn end(&self, id: LoopId) -> Result<bool, StoreError> {
        let mut active = false;
        let job = self
            .change(id, |now| {
                active = !now.job.status.is_terminal();
                if active {
                    now.apply(JobEvent::CancelRequested)?;
                }
                Ok(())
            })
            .await?;
        if !active {
            return Ok(false);
        }
        if let Some(process) = &job.facts.process {
            let (socket, exit) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
            if let Some(shim) = shim::attach(&socket, &exit).await
                && let Err(error) = shim.kill(self.pace.kill_grace).await
            {
                tracing::warn!(loop_id = %id, %error, "a loop's shim did not answer; its processes are ended");
                shim::sweep(id, self.pace.kill_grace).await;
            }
        }
        Ok(true)
    }

    /// Ends a loop that no task follows: recovery has not reached it, or gave it back.
    async fn end_unfollowed(self: &Arc<Self>, id: LoopId) -> Result<Option<KillOutcome>, LoopError> {
        let Some(job) = self.store.job(id).await? else { return Ok(None) };
        let Some(reservation) = self.reservations.reserve(id) else {
            return Err(LoopError::new(409, "Loop is still initializing, retry shortly"));
        };
        if job.status.is_terminal() || !self.end(id).await? {
            return Ok(None);
        }
        reservation.running();
        let begin = Begin::Gone(Ended::Lost);
        supervise::follow(self, id, begin, FinalizationSource::BootRecovery, reservation);
        Ok(Some(KillOutcome::TerminatedAfterRestart))
    }
}
