//! `loopgate learnings`: for users in a terminal, and called by the self-learning plugin.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::{Subcommand, ValueEnum};
use jiff::Timestamp;
use loopgate_api::names::{STATE_DIR, env};
use loopgate_home::files;
use loopgate_learnings::{
    AgreementError, Classification, LearningSource, ListedPattern, MergeResult, PatternStore,
    ReplacementError, Retention, UnclassifiedLearning, repository_key,
};
use loopgate_tools::process::{Command, Limits};

use crate::commands::block_on;

/// File that switches learnings on in sessions of the assistant; also named in the plugin's `hooks/run.sh`.
const IN_SESSIONS: &str = "in-sessions";

/// Timeout of a git command, which only reads the local repository.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Use and manage the learnings of loops, chats and sessions.
#[derive(Debug, Subcommand)]
pub enum LearningsCommand {
    /// Classify the pending learnings of a work directory, and merge them into
    /// ~/.loopgate/learnings/org-patterns.toon.
    Process {
        /// Work directory: `.loopgate/work` of a worktree.
        work_dir: PathBuf,
    },
    /// Learn from the commands that failed in this session of the assistant and passed later.
    Capture,
    /// Pass learnings to sessions of the assistant, or stop doing so.
    Sessions {
        /// Without it, print the state.
        switch: Option<SessionSwitch>,
    },
    /// List the learnings with their origin, agreement and effect.
    List,
    /// Agree that a learning applies to all repositories. Needs a terminal: programs cannot agree.
    Agree {
        /// Id of the learning, such as P-001.
        id: String,
        /// Take the agreement back.
        #[arg(long)]
        withdraw: bool,
    },
    /// Delete a learning for good: it is not learned again.
    Delete {
        /// Id of the learning, such as P-001.
        id: String,
    },
    /// Add a list of merged patterns, and delete its file.
    WriteMerged {
        /// File with the merged patterns.
        #[arg(long)]
        merge_result: PathBuf,
        /// Check the file only.
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove old records of loops from a work directory.
    Prune {
        /// Work directory: `.loopgate/work` of a worktree.
        work_dir: PathBuf,
        /// Run whose records are kept.
        run_id: Option<String>,
    },
}

/// State of learnings in sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SessionSwitch {
    /// Sessions receive learnings.
    On,
    /// Sessions receive none; the hooks do nothing.
    Off,
}

impl LearningsCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let home = etcetera::home_dir().context("cannot determine your home directory; set HOME")?;
        let directory = home.join(STATE_DIR).join("learnings");
        let store = PatternStore::new(directory.clone(), None);
        match self {
            Self::Process { work_dir } => process(&work_dir, &store)?,
            Self::Capture => {
                let text = loopgate_plugin_kit::learning_session::capture();
                anstream::println!("{}", text.map_err(|reason| anyhow!(reason))?);
            }
            Self::Sessions { switch } => switch_sessions(&directory.join(IN_SESSIONS), switch)?,
            Self::List => list(&store)?,
            Self::Agree { id, withdraw } => agree(&store, &id, withdraw)?,
            Self::Delete { id } => {
                let summary = find(&store, &id)?.pattern.summary;
                decided(&id, store.delete(&id, &summary, Timestamp::now()))?;
                anstream::println!("{id} is deleted, and will not be learned again.");
            }
            Self::WriteMerged { merge_result, dry_run } => write_merged(&store, &merge_result, dry_run)?,
            Self::Prune { work_dir, run_id } => {
                let removed =
                    loopgate_learnings::prune(&work_dir, Retention::load(&work_dir), run_id.as_deref())?;
                anstream::println!("{removed} old records removed");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn process(work_dir: &Path, store: &PatternStore) -> anyhow::Result<()> {
    let work_dir = std::path::absolute(work_dir)?;
    // `.loopgate/work` is two levels below the worktree.
    let root = work_dir.ancestors().nth(2).unwrap_or(&work_dir);
    let checkout = block_on(async { Ok(checkout(root).await) })?;
    let report = loopgate_learnings::process(&work_dir, store, &checkout, classify)
        .map_err(|reason| anyhow!(reason))
        .with_context(|| format!("cannot merge the learnings in {}", work_dir.display()))?;
    anstream::println!(
        "{} added ({} in conflict with older ones), {} merged, {} skipped, {} rejected",
        report.added,
        report.conflicts,
        report.merged,
        report.skipped,
        report.rejected
    );
    Ok(())
}

/// The file is empty: hooks test only whether it exists, so that sessions without learnings read nothing.
fn switch_sessions(file: &Path, switch: Option<SessionSwitch>) -> anyhow::Result<()> {
    match switch {
        Some(SessionSwitch::On) => {
            files::create_private_dir(file.parent().context("the file has a directory")?)?;
            files::write_private(file, b"")?;
        }
        Some(SessionSwitch::Off) => match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        },
        None => {}
    }
    let state =
        if file.exists() { "on: new sessions receive the learnings of their repository" } else { "off" };
    anstream::println!("Learnings in sessions are {state}.");
    Ok(())
}

fn list(store: &PatternStore) -> anyhow::Result<()> {
    let listed = store.list().context("cannot read the learnings")?;
    if listed.is_empty() {
        anstream::println!("No learnings.");
    }
    for ListedPattern { pattern, history, .. } in listed {
        let scope = match (pattern.repo.as_str(), &history.agreement) {
            (_, Some(agreement)) => format!("all repositories, agreed by {}", agreement.by),
            ("*" | "", None) if history.needs_agreement => "nowhere until you agree".to_owned(),
            ("*" | "", None) => "all repositories".to_owned(),
            (repo, None) if history.proposed => format!("{repo}; proposed for all repositories"),
            (repo, None) => repo.to_owned(),
        };
        anstream::println!(
            "{} [{}] {} ({scope}; shown {}, used {}, verified {})",
            pattern.id,
            pattern.confidence.as_str(),
            pattern.summary,
            history.shown,
            history.uses,
            history.verified
        );
    }
    Ok(())
}

fn find(store: &PatternStore, id: &str) -> anyhow::Result<ListedPattern> {
    let mut listed = store.list().context("cannot read the learnings")?.into_iter();
    listed.find(|listed| listed.pattern.id == id).with_context(|| format!("there is no learning {id}"))
}

fn agree(store: &PatternStore, id: &str, withdraw: bool) -> anyhow::Result<()> {
    let summary = find(store, id)?.pattern.summary;
    if withdraw {
        decided(id, store.withdraw(id, &summary, Timestamp::now()))?;
        anstream::println!("{id} applies to its own repository only.");
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        bail!("no terminal: a person has to agree; run the command in a terminal");
    }
    anstream::print!("{summary}\nUse it in all your repositories? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if !answer.trim().eq_ignore_ascii_case("y") {
        bail!("{id} stays as it is");
    }
    let by = std::env::var("USER").ok().filter(|name| !name.is_empty());
    let by = by.unwrap_or_else(|| "the user of this machine".to_owned());
    decided(id, store.agree(id, &summary, &by, Timestamp::now()))?;
    anstream::println!("{id} applies to all repositories.");
    Ok(())
}

fn decided(id: &str, decision: Result<(), AgreementError>) -> anyhow::Result<()> {
    decision.map_err(|error| match error {
        AgreementError::Unknown => anyhow!("there is no learning {id}"),
        AgreementError::Changed => anyhow!("{id} has changed; run the command again"),
        AgreementError::Io(error) => anyhow!("cannot write the learnings: {error}"),
    })
}

fn write_merged(store: &PatternStore, path: &Path, dry_run: bool) -> anyhow::Result<()> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let result: MergeResult =
        serde_json::from_slice(&text).with_context(|| format!("{} is invalid", path.display()))?;
    let replaced =
        if dry_run { result.check().map(|()| 0) } else { store.replace(&result, Timestamp::now()) };
    let dropped = replaced.map_err(|error| match error {
        ReplacementError::Invalid(faults) => anyhow!("nothing is written:\n{}", faults.join("\n")),
        ReplacementError::Io(error) => anyhow!("cannot write the patterns: {error}"),
    })?;
    if dropped > 0 {
        anstream::eprintln!("Warning: {dropped} patterns are dropped because of the limit");
    }
    if !dry_run && !result.is_empty() {
        std::fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))?;
    }
    anstream::println!("{} patterns", if dry_run { "Valid" } else { "Written" });
    Ok(())
}

/// Returns the repository and commit of a checkout. A commit that git does not report is empty.
async fn checkout(root: &Path) -> LearningSource {
    let head = Command::new("git").args(["rev-parse", "--verify", "--quiet", "HEAD"]).directory(root);
    let head = head.run(Limits::time(GIT_TIMEOUT)).await.ok().filter(|output| output.status.success());
    LearningSource {
        repo: repository_key(root),
        commit: head.map(|output| output.stdout_text().trim().to_owned()).unwrap_or_default(),
        ..LearningSource::default()
    }
}

/// Classifies learnings with the assistant.
fn classify(learnings: &[UnclassifiedLearning]) -> Result<Vec<Classification>, String> {
    let result = block_on(async {
        // In an empty directory, where no repository configures the assistant.
        let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
        let assistant = std::env::var_os(env::ASSISTANT_BIN).filter(|path| !path.is_empty());
        let assistant = Command::new(assistant.unwrap_or_else(|| OsString::from("claude")));
        Ok(loopgate_learnings::classify(assistant.directory(directory.path()), learnings).await)
    });
    result.map_err(|error| error.to_string())?
}
