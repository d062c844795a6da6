//! `loopgate worktrees`: what loops left on the disk, and removing it.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use loopgate_runtime::{Held, LoopWorktree, Tidied};
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::cli::Home;
use crate::commands::size;
use crate::control_client::ControlClient;

/// Time to measure and to remove: both walk whole trees.
const WALK_LIMIT: Duration = Duration::from_secs(600);

/// List the worktrees that loops left, with what they take on the disk, and clean them up.
///
/// Loopgate removes old ones by itself once a day: `worktree_retention` in settings.toml says when.
/// One in which a loop works, or with work that is nowhere else, always stays. The branches stay in
/// the clone.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Worktrees {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Remove those that are old enough.
    Clean(Clean),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    home: Home,
    /// Print JSON, one value a line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Clean {
    #[command(flatten)]
    home: Home,
    /// Remove those that were not used for this many days, whatever the settings say.
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Only say which would go.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Worktrees {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.action {
            None => self.list.run(),
            Some(Action::Clean(clean)) => clean.run(),
        }
    }
}

impl List {
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let worktrees: Vec<LoopWorktree> = client.ask_slowly("worktrees.list", &json!({}), WALK_LIMIT)?;
        if self.json {
            for worktree in &worktrees {
                anstream::println!("{}", serde_json::to_string(worktree)?);
            }
            return Ok(ExitCode::SUCCESS);
        }
        if worktrees.is_empty() {
            println!("No loop has left a worktree.");
            return Ok(ExitCode::SUCCESS);
        }
        let now = Timestamp::now();
        for worktree in &worktrees {
            let state =
                worktree.status.map_or_else(|| "loop forgotten".to_owned(), |status| words(&json!(status)));
            let stays = worktree.held.map_or_else(String::new, |held| format!("  stays: {}", reason(held)));
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
        let free = worktrees.iter().filter(|worktree| worktree.held.is_none());
        let (count, bytes) = free.fold((0, 0), |(count, bytes), one| (count + 1, bytes + one.size_bytes));
        println!("\n{} in {}; {} in {count} could go.", size(all), counted(worktrees.len()), size(bytes));
        Ok(ExitCode::SUCCESS)
    }
}

impl Clean {
    fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = ControlClient::connect(&self.home.data_dir()?)?;
        let wish = json!({"olderThanDays": self.older_than, "pretend": self.dry_run});
        let tidied: Tidied = client.ask_slowly("worktrees.tidy", &wish, WALK_LIMIT)?;
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

const fn reason(held: Held) -> &'static str {
    match held {
        Held::InUse => "a loop works there",
        Held::Uncommitted => "changes that are not committed",
        Held::Unpushed => "commits that no remote has",
        Held::Unreadable => "git cannot read it",
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
    fn an_age_is_said_in_its_largest_whole_unit() {
        let now = Timestamp::UNIX_EPOCH;
        let said = [0, 59, 60, 12 * 60, 3600, 47 * 3600, 49 * 3600]
            .map(|seconds| age(now - std::time::Duration::from_secs(seconds), now));
        assert_eq!(said, ["just now", "just now", "1 min", "12 min", "1 h", "47 h", "2 days"]);
    }
}
