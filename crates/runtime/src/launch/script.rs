//! Writes the prompt or script of a loop.

use std::path::{Path, PathBuf};

use loopgate_api::command::Runner;
use loopgate_api::event::code;
use loopgate_api::mcp::McpRecord;
use loopgate_home::untrusted::write_private;

use super::Launcher;
use crate::commands::bootstrap::{self, BootstrapTarget};
use crate::commands::review;
use crate::error::LoopRequestError;
use crate::launch::prompt::Prompt;
use crate::launch::staging::StagedInputs;
use crate::refusal::Refusal;
use crate::request::LoopRequest;
use crate::workspace::Workspace;
use crate::workspace::repository::LoopRepository;

impl Launcher {
    /// Writes the prompt for the assistant or the script to run. Returns `None` for commands of the loop
    /// driver and for reviews, which read neither.
    pub(super) async fn script(
        &self,
        request: &LoopRequest,
        repository: Option<&LoopRepository>,
        workspace: &Workspace,
        staged: &StagedInputs,
        plugin: Option<&Path>,
        mcp: &McpRecord,
    ) -> Result<Option<PathBuf>, Refusal> {
        let command = request.command;
        if review::is_review(&command.spec()) {
            return Ok(None);
        }
        let (name, text) = match command.spec().runner {
            Runner::Driver(_) | Runner::Judges => return Ok(None),
            Runner::Prompt => {
                let text = prompt(request, repository, workspace, staged)?;
                (format!("{}-prompt.txt", command.lower().replace('_', "-")), text)
            }
            Runner::EachRepository => {
                let visited: Vec<&Path> =
                    // The script starts the assistant in each repository, so untrusted ones among them must
                    // be guarded.
                    staged.targets.iter().filter_map(BootstrapTarget::visited).collect();
                let guard = self.environment.guard(&visited).await;
                let options = request.bootstrap.as_ref();
                let text =
                    bootstrap::script(options, &staged.targets, &workspace.work_dir, plugin, mcp, &guard);
                (format!("{}.sh", command.lower()), text)
            }
        };
        let path = workspace.work_dir.join(name);
        let (file, is_script) = (path.clone(), command.spec().runner == Runner::EachRepository);
        let written = tokio::task::spawn_blocking(move || {
            write_private(&file, text.as_bytes())?;
            if is_script { make_executable(&file) } else { Ok(()) }
        });
        written.await.map_err(|_| LoopRequestError::internal())?.map_err(|error| {
            let error_response = LoopRequestError::new(500, "Failed to write artifacts to workdir");
            Refusal::with_event(error_response, code::ARTIFACT_WRITE_FAILED, error.kind().to_string())
        })?;
        Ok(Some(path))
    }
}

fn prompt(
    request: &LoopRequest,
    repository: Option<&LoopRepository>,
    workspace: &Workspace,
    staged: &StagedInputs,
) -> Result<String, Refusal> {
    let peers = workspace.mounted();
    let prompt = Prompt {
        command: request.command,
        directory: &workspace.dir,
        work_dir: &workspace.work_dir,
        repository: repository.map(|repository| repository.path.as_path()),
        inputs: &staged.inputs,
        request: request.prompt.as_deref(),
        peers: &peers,
    };
    prompt.text().map_err(|error| {
        tracing::error!(%error, "failed to render the prompt");
        LoopRequestError::internal().into()
    })
}

#[cfg(unix)]
fn make_executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
