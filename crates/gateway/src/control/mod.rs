//! The owner's socket: `control.sock` in the data directory, for the person at this machine alone.
//!
//! One JSON object a line. It decides approvals, hands out sign-in links, removes worktrees and tells
//! what a report about a loop needs, which no HTTP route and no link event can do.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::error::code_for;
use loopgate_home::WorktreeRetention;
use loopgate_runtime::Runtime;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::activity::ActivityLog;
use crate::app::App;
use crate::approval::{Approvals, Coverage, Effect, Remember};
use crate::config::SignIn;
use crate::connections::{Connections, share_of_descriptors};
use crate::idle::Pulse;

pub use support::SupportReport;

/// Name of the socket in the data directory.
pub const CONTROL_SOCKET: &str = "control.sock";
/// Connections that are open at once; nobody but the owner makes any.
const MOST_CONNECTIONS: usize = 64;
/// Bytes of a request.
const MAX_LINE: u64 = 64 * 1024;

#[derive(Deserialize)]
struct Ask {
    id: i64,
    verb: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params {
    approval_id: Option<String>,
    rule_id: Option<String>,
    policy_id: Option<String>,
    #[serde(flatten)]
    coverage: Option<Coverage>,
    effect: Option<Effect>,
    remember: Option<Remember>,
    older_than_days: Option<u32>,
    pretend: bool,
    loop_id: Option<String>,
}

/// What the socket gives access to.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) approvals: Approvals,
    pub(crate) activity: Arc<ActivityLog>,
    pub(crate) sign_in: Option<SignIn>,
    pub(crate) runtime: Option<Arc<Runtime>>,
    pub(crate) app: App,
}

/// The bound socket; its file goes with it.
pub(crate) struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Takes the place of a socket that a former process left. Without the socket the gateway
    /// works, and held requests expire, so a failure is a warning.
    pub(crate) fn bind(data_dir: &Path) -> Option<Self> {
        let path = data_dir.join(CONTROL_SOCKET);
        // The data directory's lock says that nobody listens there any more.
        let _ = std::fs::remove_file(&path);
        let bound = UnixListener::bind(&path).and_then(|listener| {
            for_owner_alone(&path)?;
            Ok(listener)
        });
        match bound {
            Ok(listener) => Some(Self { listener, path }),
            Err(error) => {
                tracing::warn!(%error, "the control socket could not be opened; held requests cannot be decided");
                None
            }
        }
    }

    /// Answers until `stop`.
    pub(crate) async fn serve(self, control: Control, stop: CancellationToken) {
        let connections = TaskTracker::new();
        let places = Connections::new(share_of_descriptors().min(MOST_CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let Some(place) = places.admit() else { continue };
                    let (control, stop) = (control.clone(), stop.clone());
                    connections.spawn(async move {
                        tokio::select! {
                            () = stop.cancelled() => {}
                            () = place.closed.cancelled() => {}
                            _ = converse(stream, &control, &place.pulse) => {}
                        }
                    });
                }
                Err(error) => places.recover(&error).await,
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

fn for_owner_alone(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

async fn converse(stream: UnixStream, control: &Control, pulse: &Arc<Pulse>) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = Vec::new();
        let length = (&mut read).take(MAX_LINE).read_until(b'\n', &mut line).await?;
        if length == 0 {
            return Ok(());
        }
        let _busy = pulse.busy();
        if let Some(id) = watched(&line) {
            return watch(id, control, &mut read, &mut write).await;
        }
        write.write_all(line_of(&reply(&line, control).await).as_bytes()).await?;
        if line.last() != Some(&b'\n') {
            return Ok(());
        }
    }
}

fn line_of(answer: &Value) -> String {
    format!("{answer}\n")
}

/// The id of a request to be told of every change.
fn watched(line: &[u8]) -> Option<i64> {
    let ask: Ask = serde_json::from_slice(line).ok()?;
    (ask.verb == "approvals.watch").then_some(ask.id)
}

/// Tells what waits, now and after every change, until the other side leaves.
async fn watch(
    id: i64,
    control: &Control,
    read: &mut (impl AsyncRead + Unpin),
    write: &mut (impl AsyncWrite + Unpin),
) -> std::io::Result<()> {
    let mut changes = control.approvals.subscribe();
    loop {
        changes.mark_unchanged();
        let pending = json!({"id": id, "ok": true, "data": control.approvals.pending()});
        write.write_all(line_of(&pending).as_bytes()).await?;
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return Ok(()) },
            // Nothing is expected from the other side any more, so it has left.
            _ = read.read_u8() => return Ok(()),
        }
    }
}

async fn reply(line: &[u8], control: &Control) -> Value {
    let ask: Ask = match serde_json::from_slice(line) {
        Ok(ask) => ask,
        Err(_) => return refusal(0, 400, "Invalid JSON body"),
    };
    let id = ask.id;
    let answered = match ask.verb.as_str() {
        "page.sign_in" => control.sign_in_link().await,
        "loops.status" => control.loops().await,
        "loops.support" => control.support(ask.params.loop_id.as_deref()).await,
        "worktrees.list" | "worktrees.tidy" => control.worktrees(&ask).await,
        _ => {
            let control = control.clone();
            // Rules are written to the disk.
            let answered = tokio::task::spawn_blocking(move || control.answer(&ask)).await;
            answered
                .map_err(|_| (500, "internal error".to_owned()))
                .and_then(|answer| answer.map_err(asked_wrongly))
        }
    };
    match answered {
        Ok(data) => json!({"id": id, "ok": true, "data": data}),
        Err((status, error)) => refusal(id, status, &error),
    }
}

fn refusal(id: i64, status: u16, error: &str) -> Value {
    json!({"id": id, "ok": false, "error": error, "code": code_for(status, error)})
}

impl Control {
    async fn sign_in_link(&self) -> Result<Value, (u16, String)> {
        let sign_in = self.sign_in.as_ref().ok_or((400, "no page is served here".to_owned()))?;
        sign_in().await.map(|url| json!({"signInUrl": url})).map_err(|error| (500, error))
    }

    /// The loops that run, and those that wait, in their order.
    async fn loops(&self) -> Result<Value, (u16, String)> {
        let runtime = self.runtime.as_ref().ok_or((400, "no loops run here".to_owned()))?;
        runtime.under_way().await.map(|loops| json!(loops)).map_err(|error| (500, error.to_string()))
    }

    async fn worktrees(&self, ask: &Ask) -> Result<Value, (u16, String)> {
        let runtime = self.runtime.as_ref().ok_or((400, "no loops run here".to_owned()))?;
        let answered = if ask.verb == "worktrees.list" {
            runtime.loop_worktrees().await.map(|worktrees| json!(worktrees))
        } else {
            let days = ask
                .params
                .older_than_days
                .map(|days| WorktreeRetention { completed: Some(days), other: Some(days) });
            let rule = days.unwrap_or_else(|| runtime.worktree_retention());
            runtime.tidy_worktrees(rule, ask.params.pretend).await.map(|tidied| json!(tidied))
        };
        answered.map_err(|error| (500, error.to_string()))
    }

    fn answer(&self, ask: &Ask) -> Result<Value, String> {
        let approvals = &self.approvals;
        let nothing = Ok(Value::Null);
        match ask.verb.as_str() {
            "approvals.list" => Ok(json!(approvals.pending())),
            "approvals.resolved" => Ok(json!(approvals.resolved())),
            "approvals.rules" => Ok(json!(approvals.rules())),
            "approvals.clear_resolved" => {
                approvals.clear_resolved();
                nothing
            }
            "approvals.approve" => Ok(json!(ask.approval()?.and_then(|id| approvals.approve(id)))),
            "approvals.deny" => Ok(json!(ask.approval()?.and_then(|id| approvals.deny(id)))),
            "approvals.always_allow" => Ok(json!(ask.approval()?.and_then(|id| approvals.always_allow(id)))),
            "approvals.remove_rule" => Ok(json!(ask.rule()?.is_some_and(|id| approvals.remove_rule(id)))),
            "approvals.policies" => Ok(json!(approvals.policies())),
            "approvals.set_policy" => {
                let effect = ask.params.effect.ok_or("effect is required")?;
                let coverage = ask.coverage(approvals)?;
                approvals.set_policy(coverage, effect).map(|policy| json!(policy)).map_err(unwritten)
            }
            "approvals.remove_policy" => match ask.policy()? {
                Some(id) => approvals.remove_policy(id).map(|removed| json!(removed)).map_err(unwritten),
                None => Ok(json!(false)),
            },
            "approvals.clear" => {
                approvals.clear_pending();
                nothing
            }
            "activity.list" => Ok(json!(self.activity.list())),
            "activity.clear" => {
                self.activity.clear();
                nothing
            }
            verb => Err(format!("unknown verb: {}", verb.chars().take(64).collect::<String>())),
        }
    }
}

impl Ask {
    fn approval(&self) -> Result<Option<Uuid>, String> {
        named(self.params.approval_id.as_deref(), "approvalId is required")
    }

    fn rule(&self) -> Result<Option<Uuid>, String> {
        named(self.params.rule_id.as_deref(), "ruleId is required")
    }

    fn policy(&self) -> Result<Option<Uuid>, String> {
        named(self.params.policy_id.as_deref(), "policyId is required")
    }

    /// What a policy is to cover: what is named, or the like of a waiting request.
    fn coverage(&self, approvals: &Approvals) -> Result<Coverage, String> {
        let Some(remember) = self.params.remember else {
            return self
                .params
                .coverage
                .clone()
                .ok_or_else(|| "a policy needs something to cover".to_owned());
        };
        let found = self.approval()?.and_then(|id| approvals.coverage_of(id, remember));
        found.ok_or_else(|| "the request does not wait any more, or names no directory".to_owned())
    }
}

const fn asked_wrongly(error: String) -> (u16, String) {
    (400, error)
}

fn unwritten(error: std::io::Error) -> String {
    format!("the policy could not be written: {error}")
}

/// An id that is none names nothing; a missing one is an error.
fn named(id: Option<&str>, otherwise: &str) -> Result<Option<Uuid>, String> {
    let id = id.map(str::trim).filter(|id| !id.is_empty()).ok_or(otherwise)?;
    Ok(id.parse().ok())
}
