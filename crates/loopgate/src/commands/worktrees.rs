//! `loopgate worktrees`: lists and removes the worktrees and the saved work of loops.
//!
//! Sends requests to the running Loopgate. If none is running, opens the desktop's database itself.

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

/// List the worktrees of loops with their disk usage, and clean them up.
///
/// Loopgate removes old worktrees once a day; `worktree_retention` in settings.toml sets their maximum age. A
/// worktree with a running loop, or with work that exists nowhere else, is never removed. Branches are kept
/// in the clone. Work that a removal or a new plan would have lost is saved in the repository, and listed
/// after the worktrees.
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
    /// Remove old worktrees, or delete saved work.
    Clean(CleanArgs),
    /// Restore saved work to a branch.
    Restore(Restore),
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct CleanArgs {
    #[command(flatten)]
    desktop: DesktopSelection,
    /// Remove worktrees that were not used for this many days, regardless of the settings.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Only print what would be removed.
    #[arg(long)]
    dry_run: bool,
    /// Delete saved work instead of worktrees: the given names, or all of it.
    #[arg(long, value_name = "NAME", num_args = 0.., conflicts_with = "older_than")]
    saved: Option<Vec<String>>,
    /// Delete saved work without confirmation.
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
        let worktrees: Vec<LoopWorktree> =
            self.desktop
                .call("worktrees.list", &json!({}), async |runtime| Ok(runtime.worktree_gc.list().await?))?;
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
            println!("No worktrees.");
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
        let state = worktree
            .status
            .map_or_else(|| "no loop record".to_owned(), |status| display_status(&json!(status)));
        let retained =
            worktree.retain_reason.map_or_else(String::new, |why| format!("  kept: {}", reason(why)));
        anstream::println!(
            "{:>8}  {:>8}  {:<14}  {}{}",
            size(worktree.size_bytes),
            age(worktree.last_used, now),
            state,
            worktree.path.display(),
            retained.yellow()
        );
    }
    let total: u64 = worktrees.iter().map(|worktree| worktree.size_bytes).sum();
    let removable = worktrees.iter().filter(|worktree| worktree.retain_reason.is_none());
    let (count, bytes) =
        removable.fold((0, 0), |(count, bytes), worktree| (count + 1, bytes + worktree.size_bytes));
    println!("\n{} in {}; {} in {count} can be removed.", size(total), counted(worktrees.len()), size(bytes));
}

impl CleanArgs {
    fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(names) = &self.saved {
            return saved::delete(&self.desktop, names, self.yes, self.dry_run, self.json);
        }
        let (days, dry_run) = (self.older_than, self.dry_run);
        let params = json!({"olderThanDays": days, "pretend": dry_run});
        let report: GcReport = self.desktop.call("worktrees.tidy", &params, async |runtime| {
            let retention = days.map(|days| WorktreeRetention { completed: Some(days), other: Some(days) });
            Ok(runtime
                .worktree_gc
                .collect(retention.unwrap_or_else(|| runtime.worktree_gc.retention()), dry_run)
                .await?)
        })?;
        if self.json {
            anstream::println!("{}", serde_json::to_string(&report)?);
        } else {
            for worktree in &report.removed {
                println!("{:>8}  {}", size(worktree.size_bytes), worktree.path.display());
            }
            for failure in &report.failed {
                anstream::eprintln!("{} {}: {}", "failed".red(), failure.path.display(), failure.error);
            }
            if report.removed.is_empty() && report.failed.is_empty() {
                println!("No worktree is old enough to be removed. List them with: loopgate worktrees");
                return Ok(ExitCode::SUCCESS);
            }
            let bytes = report.removed.iter().map(|worktree| worktree.size_bytes).sum();
            let result = if self.dry_run { "would be removed" } else { "removed" };
            println!("{} {result}, {}.", counted(report.removed.len()), size(bytes));
        }
        Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

const fn reason(reason: RetainReason) -> &'static str {
    match reason {
        RetainReason::InUse => "a loop is running",
        RetainReason::Uncommitted => "uncommitted changes",
        RetainReason::Unpushed => "unpushed commits",
        RetainReason::Unreadable => "not readable by git",
    }
}

/// Formats a status for display: lower case with spaces.
fn display_status(status: &serde_json::Value) -> String {
    status.as_str().unwrap_or_default().to_lowercase().replace('_', " ")
}

fn counted(worktrees: usize) -> String {
    if worktrees == 1 { "1 worktree".to_owned() } else { format!("{worktrees} worktrees") }
}

/// Formats the time since an instant, in its largest whole unit.
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
        let formatted = [0, 59, 60, 12 * 60, 3600, 47 * 3600, 49 * 3600]
            .map(|seconds| age(now - std::time::Duration::from_secs(seconds), now));
        assert_eq!(formatted, ["just now", "just now", "1 min", "12 min", "1 h", "47 h", "2 days"]);
    }
}
