//! The script of a launch: located in the plugin, started under a shim, and recovered by the next process.
//!
//! A record of each script is stored in a private directory until the script has ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::LoopId;
use loopgate_api::names::{EXIT_FILE, LAUNCH_LOG, PROCESS_PID, PROCESS_START, WORK_DIR, env};
use loopgate_home::files::{create_private_dir, write_private};
use loopgate_home::{Program, SandboxedPath};
use loopgate_tools::process::{ProcessStart, alive, identity};
use loopgate_tools::shim::{self, ShimHandle, Spec};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::files::{get, put};
use super::{TicketLaunchError, TicketLauncher, blocking, failed};
use crate::commands::plugins;
use crate::process::spawn::prepend_exe_to_path;
use crate::stop::ProcessOwner;
use loopgate_tools::shim::RegisteredProcess;

/// Plugin that provides the script, and the script's path in it.
const PLUGIN: &str = "code";
const SCRIPT: &str = "scripts/run-loop.sh";

/// Record by which the next process finds a script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScriptRecord {
    socket: PathBuf,
    exit_file: PathBuf,
    worktree: PathBuf,
}

impl TicketLauncher {
    /// Returns the pid of the process that works in a worktree: a registered script, or the live process that
    /// the pid files there name.
    pub(super) async fn script_at(&self, worktree: &SandboxedPath) -> Result<Option<u32>, TicketLaunchError> {
        let own = self.processes.by_worktree(worktree.as_path());
        if let Some(run) = own.filter(|run| identity(run.pid).is_some()) {
            return Ok(Some(run.pid));
        }
        let worktree = worktree.clone();
        let recorded = blocking(move || {
            let number = |name| get(&worktree, name).and_then(|text| text.trim().parse::<u64>().ok());
            let pid = number(PROCESS_PID).and_then(|pid| u32::try_from(pid).ok());
            Ok(pid.map(|pid| (pid, number(PROCESS_START))))
        });
        Ok(match recorded.await? {
            None => None,
            // The start time detects a reused pid. Without one, only a process of Loopgate counts.
            Some((pid, Some(started))) => alive(pid, ProcessStart(started)).then_some(pid),
            Some((pid, None)) => {
                let owner = self.stopper.owner_of(pid).await.map_err(failed)?;
                matches!(owner, ProcessOwner::Loopgate(_)).then_some(pid)
            }
        })
    }

    /// Starts the script of the newest installed version of the plugin; returns `None` when the plugin is not
    /// installed.
    pub(super) async fn start_script(
        self: &Arc<Self>,
        worktree: &SandboxedPath,
    ) -> Result<Option<u32>, TicketLaunchError> {
        let lookup = blocking(|| Ok(plugins::installed_file(PLUGIN, SCRIPT)));
        let Some(script) = lookup.await? else { return Ok(None) };
        let id = Uuid::new_v4();
        let work_dir = worktree.as_path().join(WORK_DIR);
        let (mut environment, _) = self.environment.guarded(&[worktree.as_path()]).await;
        let assistant = self.programs.resolve(Program::Assistant).await.path;
        environment.insert(env::WORKDIR.into(), work_dir.clone().into());
        environment.insert(env::ASSISTANT_BIN.into(), assistant.into());
        // The script calls the driver by the name of this program.
        prepend_exe_to_path(&mut environment, &self.shims.exe);
        let log = work_dir.join(LAUNCH_LOG);
        let spec = Spec {
            program: script,
            args: vec![work_dir.clone().into()],
            cwd: worktree.as_path().to_owned(),
            env: environment,
            stdin_file: None,
            stdout: log.clone(),
            stderr: log,
            jsonl: None,
            exit_file: work_dir.join(EXIT_FILE),
            socket: self.shims.socket(id, "launch"),
            // Identifies every process of the script.
            loop_id: LoopId(id),
        };
        // Written before the start, so that the script is found again after a crash at any later point.
        let record = ScriptRecord {
            socket: spec.socket.clone(),
            exit_file: spec.exit_file.clone(),
            worktree: worktree.as_path().to_owned(),
        };
        let directory = self.launches_dir();
        let record_path = record_of(&directory, id);
        let write = blocking({
            let record_path = record_path.clone();
            move || {
                create_private_dir(&directory).map_err(failed)?;
                let text = serde_json::to_vec(&record).map_err(failed)?;
                write_private(&record_path, &text).map_err(failed)
            }
        });
        write.await?;
        let (shim, state) = self.shims.spawn(&spec).await.map_err(|error| {
            tracing::warn!(%error, "cannot start the loop script");
            // Best-effort: the next start removes records without a shim.
            let _ = std::fs::remove_file(&record_path);
            TicketLaunchError::NotStarted
        })?;
        // Registered before the pid files are written, so that the script can be stopped even if that fails.
        self.register_script(id, state.pid, shim, worktree.as_path().to_owned());
        let place = worktree.clone();
        let write = blocking(move || {
            // The pid comes last: a reader that finds it also finds the start time.
            if let Some(started) = state.started {
                put(&place, PROCESS_START, started.to_string().as_bytes()).map_err(failed)?;
            }
            put(&place, PROCESS_PID, state.pid.to_string().as_bytes()).map_err(failed)
        });
        write.await?;
        Ok(Some(state.pid))
    }

    /// Recovers the scripts that an earlier process launched. A script whose shim no longer runs is not
    /// touched.
    pub(crate) async fn recover(self: &Arc<Self>) {
        let Ok(entries) = std::fs::read_dir(self.launches_dir()) else { return };
        for file in entries.flatten().map(|entry| entry.path()) {
            let id = file.file_stem().and_then(|name| name.to_str()?.parse::<Uuid>().ok());
            let text = std::fs::read(&file).ok();
            let record = text.and_then(|text| serde_json::from_slice::<ScriptRecord>(&text).ok());
            let shim = match &record {
                Some(record) => shim::attach(&record.socket, &record.exit_file).await,
                None => None,
            };
            match (id, record, shim) {
                (Some(id), Some(record), Some(shim)) => match shim.state().await {
                    Ok(state) => self.register_script(id, state.pid, shim, record.worktree),
                    // The shim is alive but too busy to respond; the next start tries again.
                    Err(error) => tracing::warn!(%error, "cannot read the state of a loop script"),
                },
                _ => drop(std::fs::remove_file(&file)),
            }
        }
    }

    fn launches_dir(&self) -> PathBuf {
        self.shims.records("launches")
    }

    /// Registers a script until it has ended.
    fn register_script(self: &Arc<Self>, id: Uuid, pid: u32, shim: ShimHandle, worktree: PathBuf) {
        let directories = vec![worktree.clone()];
        self.processes
            .add(id, RegisteredProcess { pid, shim: shim.clone(), worktree: Some(worktree), directories });
        let launcher = self.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = launcher.tasks.stop.cancelled() => {}
                _ = shim.wait() => {
                    launcher.processes.remove(id);
                    let _ = std::fs::remove_file(record_of(&launcher.launches_dir(), id));
                }
            }
        });
    }
}

fn record_of(directory: &Path, id: Uuid) -> PathBuf {
    directory.join(format!("{id}.json"))
}
