//! The control socket: `control.sock` in the data directory, accessible to its owner only.
//!
//! One JSON object per line. It decides approvals, creates sign-in links, removes worktrees and collects
//! support reports, none of which is possible through HTTP or the link.

mod error;
pub(crate) mod request;
mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::WorktreeRetention;
use loopgate_runtime::Runtime;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::ActivityLog;
use crate::app::App;
use crate::approval::{Approvals, Coverage, Effect};
use crate::config::SignIn;
use crate::server::connections::{Connections, share_of_descriptors};
use crate::server::in_flight::InFlight;

use self::error::ControlError;
use self::request::{CleanUpParams, ControlRequest, PolicyTarget, RequestError, SetPolicyParams};

pub use support::SupportReport;

/// Name of the socket in the data directory.
pub const CONTROL_SOCKET: &str = "control.sock";
/// Limit of open connections. Only the owner's own programs connect, so few are needed.
const MAX_CONNECTIONS: usize = 64;
const NOT_REMEMBERED: &str = "this decision cannot be remembered: the request is no longer pending, requires \
     approval each time, or does not concern exactly one repository; name one with `loopgate approvals set`";
/// Size limit of a request in bytes.
const MAX_LINE: u64 = 64 * 1024;

/// Services behind the socket.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) approvals: Approvals,
    pub(crate) activity: Arc<ActivityLog>,
    pub(crate) sign_in: Option<SignIn>,
    pub(crate) runtime: Option<Arc<Runtime>>,
    pub(crate) app: App,
}

/// The bound socket. Dropping it removes its file.
pub(crate) struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Binds the socket and replaces a stale one. Failure is logged only: the gateway works without the
    /// socket, but pending requests cannot be decided and expire.
    pub(crate) fn bind(data_dir: &Path) -> Option<Self> {
        let path = data_dir.join(CONTROL_SOCKET);
        // This process holds the lock of the data directory, so an existing socket is stale.
        let _ = std::fs::remove_file(&path);
        // The data directory has mode 0700, so no other user can connect before the socket's mode is set.
        let bound = UnixListener::bind(&path).and_then(|listener| {
            restrict_to_owner(&path)?;
            Ok(listener)
        });
        match bound {
            Ok(listener) => Some(Self { listener, path }),
            Err(error) => {
                tracing::warn!(%error, "failed to open the control socket; pending requests cannot be decided");
                None
            }
        }
    }

    /// Serves connections until `stop` is cancelled.
    pub(crate) async fn serve(self, control: Control, stop: CancellationToken) {
        let connections = TaskTracker::new();
        let permits = Connections::new(share_of_descriptors().min(MAX_CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let Some(permit) = permits.admit(None).await else { continue };
                    let (control, stop) = (control.clone(), stop.clone());
                    connections.spawn(async move {
                        tokio::select! {
                            () = stop.cancelled() => {}
                            () = permit.closed.cancelled() => {}
                            _ = serve_connection(stream, &control, &permit.in_flight) => {}
                        }
                    });
                }
                Err(error) => permits.recover(&error).await,
            }
        }
        connections.close();
        connections.wait().await;
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn restrict_to_owner(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

async fn serve_connection(
    stream: UnixStream,
    control: &Control,
    in_flight: &InFlight,
) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        let length = (&mut read).take(MAX_LINE).read_until(b'\n', &mut line).await?;
        if length == 0 {
            return Ok(());
        }
        // Keeps the connection from being closed in favor of a new one.
        let _guard = in_flight.start();
        let answer = match ControlRequest::read(&line) {
            Ok((id, ControlRequest::Watch(_))) => return watch(id, control, &mut read, &mut write).await,
            Ok((id, request)) => reply(id, request, control).await,
            Err(RequestError { id, error }) => refusal(id, &error),
        };
        write.write_all(line_of(&answer).as_bytes()).await?;
        // The line was cut off by the limit, or the peer closed its side: the next line cannot be located.
        if line.last() != Some(&b'\n') {
            return Ok(());
        }
    }
}

fn line_of(answer: &Value) -> String {
    format!("{answer}\n")
}

/// Sends the pending requests, initially and after every change, until the peer disconnects.
async fn watch(
    id: i64,
    control: &Control,
    read: &mut (impl AsyncRead + Unpin),
    write: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut changes = control.approvals.subscribe();
    loop {
        // Before the read, so that a change between the two is sent again instead of being missed.
        changes.mark_unchanged();
        let pending = json!({"id": id, "ok": true, "data": control.approvals.pending()});
        write.write_all(line_of(&pending).as_bytes()).await?;
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return Ok(()) },
            // A watching peer sends nothing more, so a completed read means that it disconnected.
            _ = read.read_u8() => return Ok(()),
        }
    }
}

async fn reply(id: i64, request: ControlRequest, control: &Control) -> Value {
    let result = match request {
        ControlRequest::SignIn(_) => control.sign_in_link().await,
        ControlRequest::Loops(_) => control.loops().await,
        ControlRequest::Inbox(_) => control.inbox().await,
        ControlRequest::Support(params) => control.support(params.loop_id.as_deref()).await,
        ControlRequest::Worktrees(_) => control.worktrees().await,
        ControlRequest::TidyWorktrees(params) => control.collect_garbage(&params).await,
        ControlRequest::SavedWork(_) => control.saved_work().await,
        ControlRequest::RestoreSaved(params) => control.restore_saved(&params.name).await,
        ControlRequest::DeleteSaved(params) => control.delete_saved(&params.names).await,
        request => {
            let control = control.clone();
            // Rules and policies are written to the disk.
            let result = tokio::task::spawn_blocking(move || control.answer(&request)).await;
            result.unwrap_or_else(|_| Err(ControlError::internal()))
        }
    };
    match result {
        Ok(data) => json!({"id": id, "ok": true, "data": data}),
        Err(error) => refusal(id, &error),
    }
}

fn refusal(id: i64, error: &ControlError) -> Value {
    json!({"id": id, "ok": false, "error": error.message, "code": error.code})
}

impl Control {
    async fn sign_in_link(&self) -> Result<Value, ControlError> {
        let sign_in = self.sign_in.as_ref().ok_or_else(|| {
            ControlError::invalid("this process does not serve the web app; start it with `loopgate up`")
        })?;
        sign_in().await.map(|url| json!({"signInUrl": url})).map_err(ControlError::failed)
    }

    fn runtime(&self) -> Result<&Arc<Runtime>, ControlError> {
        self.runtime
            .as_ref()
            .ok_or_else(|| ControlError::invalid("this gateway runs without a runtime and has no loops"))
    }

    /// Returns running and queued loops, in the order of the queue.
    async fn loops(&self) -> Result<Value, ControlError> {
        let runtime = self.runtime()?;
        runtime
            .snapshots
            .active()
            .await
            .map(|loops| json!(loops))
            .map_err(|error| ControlError::failed(error.to_string()))
    }

    /// Returns the change requests that need the owner of this machine.
    async fn inbox(&self) -> Result<Value, ControlError> {
        let listed = self.runtime()?.control_plane.needs_owner().await;
        listed.map(|rows| json!(rows)).map_err(|error| {
            ControlError::failed(format!("cannot read your change requests from the control plane: {error}"))
        })
    }

    async fn worktrees(&self) -> Result<Value, ControlError> {
        let runtime = self.runtime()?;
        let listed = runtime.worktree_gc.list().await;
        listed.map(|worktrees| json!(worktrees)).map_err(|error| ControlError::failed(error.to_string()))
    }

    async fn collect_garbage(&self, params: &CleanUpParams) -> Result<Value, ControlError> {
        let runtime = self.runtime()?;
        let days = params.older_than_days;
        let days = days.map(|days| WorktreeRetention { completed: Some(days), other: Some(days) });
        let rule = days.unwrap_or_else(|| runtime.worktree_gc.retention());
        let collected = runtime.worktree_gc.collect(rule, params.pretend).await;
        collected.map(|report| json!(report)).map_err(|error| ControlError::failed(error.to_string()))
    }

    async fn saved_work(&self) -> Result<Value, ControlError> {
        let listed = self.runtime()?.saved_work.list().await;
        listed.map(|saved| json!(saved)).map_err(|error| ControlError::failed(error.to_string()))
    }

    async fn restore_saved(&self, name: &str) -> Result<Value, ControlError> {
        let restored = self.runtime()?.saved_work.restore(name).await;
        restored.map(|restored| json!(restored)).map_err(|error| ControlError::invalid(error.to_string()))
    }

    async fn delete_saved(&self, names: &[String]) -> Result<Value, ControlError> {
        let deleted = self.runtime()?.saved_work.delete(names).await;
        deleted.map(|deleted| json!(deleted)).map_err(|error| ControlError::invalid(error.to_string()))
    }

    /// Handles the verbs that need no asynchronous call. Blocks on the disk.
    fn answer(&self, request: &ControlRequest) -> Result<Value, ControlError> {
        let approvals = &self.approvals;
        Ok(match request {
            ControlRequest::Pending(_) => json!(approvals.pending()),
            ControlRequest::Problems(_) => json!(approvals.problems()),
            ControlRequest::Resolved(_) => json!(approvals.resolved()),
            ControlRequest::Rules(_) => json!(approvals.rules()),
            ControlRequest::Policies(_) => json!(approvals.policies()),
            ControlRequest::ClearResolved(_) => {
                approvals.clear_resolved();
                Value::Null
            }
            ControlRequest::ClearPending(_) => {
                approvals.clear_pending();
                Value::Null
            }
            ControlRequest::Approve(params) => json!(params.id()?.and_then(|id| approvals.approve(id))),
            ControlRequest::Deny(params) => json!(params.id()?.and_then(|id| approvals.deny(id))),
            ControlRequest::AlwaysAllow(params) => match params.id()? {
                Some(id) => json!(
                    approvals.always_allow(id).map_err(|error| ControlError::invalid(error.to_string()))?
                ),
                None => Value::Null,
            },
            ControlRequest::RemoveRule(params) => {
                json!(params.id()?.is_some_and(|id| approvals.remove_rule(id)))
            }
            ControlRequest::SetPolicy(params) => {
                let effect = params.effect()?;
                json!(approvals.set_policy(self.coverage(params, effect)?, effect).map_err(write_failed)?)
            }
            ControlRequest::RemovePolicy(params) => match params.id()? {
                Some(id) => json!(approvals.remove_policy(id).map_err(write_failed)?),
                None => json!(false),
            },
            ControlRequest::RequestRecord(_) => json!(self.activity.list()),
            ControlRequest::ClearActivity(_) => {
                self.activity.clear();
                Value::Null
            }
            ControlRequest::Watch(_)
            | ControlRequest::SignIn(_)
            | ControlRequest::Loops(_)
            | ControlRequest::Inbox(_)
            | ControlRequest::Support(_)
            | ControlRequest::Worktrees(_)
            | ControlRequest::TidyWorktrees(_)
            | ControlRequest::SavedWork(_)
            | ControlRequest::RestoreSaved(_)
            | ControlRequest::DeleteSaved(_) => return Err(ControlError::internal()),
        })
    }

    /// Returns the coverage of a policy: the named members, or that of a pending request.
    fn coverage(&self, params: &SetPolicyParams, effect: Effect) -> Result<Coverage, ControlError> {
        match params.target()? {
            PolicyTarget::Coverage(coverage) => Ok(coverage),
            PolicyTarget::LikeRequest(id, remember) => id
                .and_then(|id| self.approvals.coverage_of(id, remember, effect))
                .ok_or_else(|| ControlError::invalid(NOT_REMEMBERED)),
        }
    }
}

fn write_failed(error: std::io::Error) -> ControlError {
    ControlError::invalid(format!("failed to write the policy: {error}"))
}
