//! `loopgate worktrees`: what loops left on the disk, and removing it.
//!
//! Asked is the Loopgate that runs; while none does, this process opens the records itself.

mod desktop;
mod saved;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use loopgate_home::WorktreeRetention;
use loopgate_runtime::{GcReport, LoopWorktree, RetainReason};
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::commands::size;

use self::desktop::DesktopSelection;
use self::saved::Restore;

/// List the worktrees that loops left, with what they take on the disk, and clean them up.
///
/// Loopgate removes old ones by itself once a day: `worktree_retention` in settings.toml says when.
/// One in which a loop works, or with work that is nowhere else, always stays. The branches stay in
/// the clone. Work that a new plan or a removal would have lost is saved in the repository, and listed
/// below the worktrees.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct WorktreesArgs {
    #[command(subcommand)]
    action: Option<WorktreesSubcommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum WorktreesSubcommand {
    /// Remove those that are old enough, or saved work.
    Clean(CleanArgs),
    /// Put saved work on a branch.
    Restore(Restore),
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// Print JSON, one value a line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct CleanArgs {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// Remove those that were not used for this many days, whatever the settings say.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Only say which would go.
    #[arg(long)]
    dry_run: bool,
    /// Delete saved work instead: what is named, else all of it.
    #[arg(long, value_name = "NAME", num_args = 0.., conflicts_with = "older_than")]
    saved: Option<Vec<String>>,
    /// Delete saved work without being asked.
    #[arg(long, requires = "saved")]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl WorktreesArgs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.action {
            None => self.list.run(),
            Some(WorktreesSubcommand::Clean(clean)) => clean.run(),
            Some(WorktreesSubcommand::Restore(restore)) => restore.run(),
        }
    }
}

impl ListArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        let worktrees: Vec<LoopWorktree> = self
            .desktop
            .ask("worktrees.list", &json!({}), async |here| Ok(here.worktree_gc.list().await?))?;
        let saved = saved::list(&self.desktop)?;
        if self.json {
            for worktree in &worktrees {
                anstream::println!("{}", serde_json::to_string(worktree)?);
            }
            for entry in &saved {
                anstream::println!("{}", serde_json::to_string(entry)?);
            }
            return Ok(ExitCode::SUCCESS);
        }
        if worktrees.is_empty() {
            println!("No loop has left a worktree.");
        } else {
            show(&worktrees);
        }
        saved::show(&saved);
        Ok(ExitCode::SUCCESS)
    }
}

fn show(worktrees: &[LoopWorktree]) {
    let now = Timestamp::now();
    for worktree in worktrees {
        let state =
            worktree.status.map_or_else(|| "loop forgotten".to_owned(), |status| words(&json!(status)));
        let stays =
            worktree.retain_reason.map_or_else(String::new, |held| format!("  stays: {}", reason(held)));
        anstream::println!(
            "{:>8}  {:>8}  {:<14}  {}{}",
            size(worktree.size_bytes),
            age(worktree.last_used, now),
            state,
            worktree.path.display(),
            stays.yellow()
        );
    }
    let all: u64 = worktrees.iter().map(|worktree| worktree.size_bytes).sum();
    let free = worktrees.iter().filter(|worktree| worktree.retain_reason.is_none());
    let (count, bytes) = free.fold((0, 0), |(count, bytes), one| (count + 1, bytes + one.size_bytes));
    println!("\n{} in {}; {} in {count} could go.", size(all), counted(worktrees.len()), size(bytes));
}

impl CleanArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(names) = &self.saved {
            return saved::delete(&self.desktop, names, self.yes, self.dry_run, self.json);
        }
        let (days, pretend) = (self.older_than, self.dry_run);
        let wish = json!({"olderThanDays": days, "pretend": pretend});
        let tidied: GcReport = self.desktop.ask("worktrees.tidy", &wish, async |here| {
            let rule = days.map(|days| WorktreeRetention { completed: Some(days), other: Some(days) });
            Ok(here
                .worktree_gc
                .collect(rule.unwrap_or_else(|| here.worktree_gc.retention()), pretend)
                .await?)
        })?;
        if self.json {
            anstream::println!("{}", serde_json::to_string(&tidied)?);
        } else {
            for worktree in &tidied.removed {
                println!("{:>8}  {}", size(worktree.size_bytes), worktree.path.display());
            }
            for stuck in &tidied.failed {
                anstream::eprintln!("{} {}: {}", "kept".red(), stuck.path.display(), stuck.error);
            }
            if tidied.removed.is_empty() && tidied.failed.is_empty() {
                println!("No worktree is old enough to go; loopgate worktrees lists them.");
                return Ok(ExitCode::SUCCESS);
            }
            let bytes = tidied.removed.iter().map(|worktree| worktree.size_bytes).sum();
            let done = if self.dry_run { "would go" } else { "removed" };
            println!("{} {done}, {}.", counted(tidied.removed.len()), size(bytes));
        }
        Ok(if tidied.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

const fn reason(held: RetainReason) -> &'static str {
    match held {
        RetainReason::InUse => "a loop works there",
        RetainReason::Uncommitted => "changes that are not committed",
        RetainReason::Unpushed => "commits that no remote has",
        RetainReason::Unreadable => "git cannot read it",
    }
}

/// A status as a person says it.
fn words(status: &serde_json::Value) -> String {
    status.as_str().unwrap_or_default().to_lowercase().replace('_', " ")
}

fn counted(worktrees: usize) -> String {
    if worktrees == 1 { "1 worktree".to_owned() } else { format!("{worktrees} worktrees") }
}

/// How long ago something was, in its largest whole unit.
fn age(then: Timestamp, now: Timestamp) -> String {
    const HOUR: i64 = 60;
    const DAY: i64 = 24 * HOUR;
    const TWO_DAYS: i64 = 2 * DAY;
    let minutes = now.duration_since(then).as_mins();
    match minutes {
        ..1 => "just now".to_owned(),
        1..HOUR => format!("{minutes} min"),
        HOUR..TWO_DAYS => format!("{} h", minutes / HOUR),
        _ => format!("{} days", minutes / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_formatted_in_its_largest_unit() {
        let now = Timestamp::UNIX_EPOCH;
        let said = [0, 59, 60, 12 * 60, 3600, 47 * 3600, 49 * 3600]
            .map(|seconds| age(now - std::time::Duration::from_secs(seconds), now));
        assert_eq!(said, ["just now", "just now", "1 min", "12 min", "1 h", "47 h", "2 days"]);
    }
}
