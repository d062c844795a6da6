//! Work that loops left and no remote has: listing, restoring and deleting what git saved of it.

use std::process::ExitCode;

use clap::Args;
use loopgate_runtime::{RestoredWork, SavedEntry};
use serde_json::json;

use super::desktop::DesktopSelection;
use crate::{commands, terminal};

/// Puts saved work on a branch `saved/NAME` of its repository. It stays saved.
#[derive(Debug, Args)]
pub(super) struct Restore {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// What is restored, as `loopgate worktrees` lists it.
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let name = self.name.clone();
        let restored: RestoredWork =
            self.desktop.ask("worktrees.restore", &json!({"name": self.name}), async move |here| {
                Ok(here.saved_work.restore(&name).await?)
            })?;
        if self.json {
            anstream::println!("{}", serde_json::to_string(&restored)?);
            return Ok(ExitCode::SUCCESS);
        }
        let (branch, repository) = (&restored.branch, restored.entry.repository.display());
        println!("The work is on branch {branch} of {repository}. Look at it with:\n");
        println!("    git -C {repository} log --stat HEAD..{branch}");
        println!("    git -C {repository} switch {branch}");
        Ok(ExitCode::SUCCESS)
    }
}

/// The work that is saved.
pub(super) fn list(desktop: &DesktopSelection) -> anyhow::Result<Vec<SavedEntry>> {
    desktop.ask("worktrees.saved", &json!({}), async |here| Ok(here.saved_work.list().await?))
}

pub(super) fn show(saved: &[SavedEntry]) {
    if saved.is_empty() {
        return;
    }
    println!("\nSaved work that no remote has; loopgate worktrees restore NAME brings it back:\n");
    for entry in saved {
        println!("{}  {}", entry.work.name, terminal::escape_control(&entry.work.subject));
    }
}

/// Deletes saved work after the person agreed: what is named, else all of it.
pub(super) fn delete(
    desktop: &DesktopSelection,
    names: &[String],
    agreed: bool,
    pretend: bool,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut saved = list(desktop)?;
    if let Some(unknown) = names.iter().find(|name| !saved.iter().any(|entry| entry.work.name == **name)) {
        anyhow::bail!("no saved work is called {unknown}; list it with: loopgate worktrees");
    }
    saved.retain(|entry| names.is_empty() || names.contains(&entry.work.name));
    if !as_json {
        show(&saved);
    }
    let wanted = !pretend && !saved.is_empty();
    if wanted && !agreed && !commands::agrees("Delete it for ever?")? {
        println!("Nothing is deleted.");
        return Ok(ExitCode::FAILURE);
    }
    if wanted {
        let names: Vec<String> = saved.iter().map(|entry| entry.work.name.clone()).collect();
        let params = json!({"names": names});
        saved = desktop.ask("worktrees.delete_saved", &params, async move |here| {
            Ok(here.saved_work.delete(&names).await?)
        })?;
    }
    if as_json {
        anstream::println!("{}", json!({"deleted": saved}));
    } else {
        let done = if pretend { "would be deleted" } else { "deleted" };
        println!("{} {done}.", saved.len());
    }
    Ok(ExitCode::SUCCESS)
}
