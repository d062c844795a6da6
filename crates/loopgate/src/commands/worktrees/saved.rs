//! Lists, restores and deletes saved work: commits of loops that no remote has.

use std::process::ExitCode;

use clap::Args;
use loopgate_runtime::{RestoredWork, SavedEntry};
use serde_json::json;

use super::desktop::DesktopSelection;
use crate::{commands, terminal};

/// Restore saved work to a branch `saved/NAME` of its repository. The saved work is kept as well.
#[derive(Debug, Args)]
pub(super) struct Restore {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// Name of the saved work, as `loopgate worktrees` lists it.
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let name = self.name.clone();
        let restored: RestoredWork =
            self.desktop.call("worktrees.restore", &json!({"name": self.name}), async move |runtime| {
                Ok(runtime.saved_work.restore(&name).await?)
            })?;
        if self.json {
            anstream::println!("{}", serde_json::to_string(&restored)?);
            return Ok(ExitCode::SUCCESS);
        }
        let (branch, repository) = (&restored.branch, restored.entry.repository.display());
        println!("The work is on branch {branch} of {repository}. Inspect it with:\n");
        println!("    git -C {repository} log --stat HEAD..{branch}");
        println!("    git -C {repository} switch {branch}");
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn list(desktop: &DesktopSelection) -> anyhow::Result<Vec<SavedEntry>> {
    desktop.call("worktrees.saved", &json!({}), async |runtime| Ok(runtime.saved_work.list().await?))
}

pub(super) fn show(saved: &[SavedEntry]) {
    if saved.is_empty() {
        return;
    }
    println!("\nSaved work that no remote has. Restore it with: loopgate worktrees restore NAME\n");
    for entry in saved {
        println!("{}  {}", entry.work.name, terminal::escape_control(&entry.work.subject));
    }
}

/// Deletes saved work after confirmation: the given names, or all of it.
pub(super) fn delete(
    desktop: &DesktopSelection,
    names: &[String],
    is_confirmed: bool,
    dry_run: bool,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut saved = list(desktop)?;
    if let Some(unknown) = names.iter().find(|name| !saved.iter().any(|entry| entry.work.name == **name)) {
        anyhow::bail!("no saved work named {unknown}; list it with: loopgate worktrees");
    }
    saved.retain(|entry| names.is_empty() || names.contains(&entry.work.name));
    if !as_json {
        show(&saved);
    }
    let deletes = !dry_run && !saved.is_empty();
    if deletes && !is_confirmed && !commands::is_confirmed("Delete it permanently?")? {
        println!("Nothing was deleted.");
        return Ok(ExitCode::FAILURE);
    }
    if deletes {
        let names: Vec<String> = saved.iter().map(|entry| entry.work.name.clone()).collect();
        let params = json!({"names": names});
        saved = desktop.call("worktrees.delete_saved", &params, async move |runtime| {
            Ok(runtime.saved_work.delete(&names).await?)
        })?;
    }
    if as_json {
        anstream::println!("{}", json!({"deleted": saved}));
    } else {
        let result = if dry_run { "would be deleted" } else { "deleted" };
        println!("{} {result}.", saved.len());
    }
    Ok(ExitCode::SUCCESS)
}
