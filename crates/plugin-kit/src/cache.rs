//! `loopgate cache …`: checks whether the result of an earlier step is still valid.
//!
//! A check prints a token on its first line, and `reason: …` on the second for a miss. Unreadable inputs
//! count as changed: repeating a step is safer than wrongly skipping it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use loopgate_api::names::PLAN_JSON;
use loopgate_home::untrusted;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::clock::now;
use crate::console::{print_error, print_line};
use crate::plan::evaluation;
use crate::project_git::BlockingGit;
use crate::repositories::{loop_repositories, peer_paths};

/// Capabilities that the plan needs from other repositories, written by the coordinator agent.
const NEEDS_FILE: &str = ".cross-repo-needs.json";

/// Step whose result is cached.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CachedStep {
    /// Build and tests passed for the current files
    Build,
    /// The critics reviewed the current plan
    Critic,
    /// The needs from other repositories are known
    CrossRepo,
    /// The current plan was evaluated
    Eval,
}

/// Checks and records results of steps.
#[derive(Debug, clap::Subcommand)]
pub enum CacheCommand {
    /// Print whether the result of a step is still valid
    Check(CacheArgs),
    /// Record that a step has completed
    Stamp(CacheArgs),
}

/// Step and work directory.
#[derive(Debug, clap::Args)]
pub struct CacheArgs {
    /// Step of the loop
    #[arg(value_enum)]
    step: CachedStep,
    /// Work directory of the loop
    #[arg(env = "LOOPGATE_WORKDIR")]
    workdir: PathBuf,
}

impl CacheCommand {
    /// Prints the token. Exits with 1 when a stamp cannot be written.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self {
            Self::Check(args) => {
                print_line(args.check());
                ExitCode::SUCCESS
            }
            Self::Stamp(args) => match args.stamp() {
                Ok(token) => {
                    print_line(token);
                    ExitCode::SUCCESS
                }
                Err(message) => {
                    print_line(format!("{}_CACHE_STAMP_FAILED", args.step.token()));
                    print_error(message);
                    ExitCode::FAILURE
                }
            },
        }
    }
}

impl CachedStep {
    const fn token(self) -> &'static str {
        match self {
            Self::Build => "BUILD",
            Self::Critic => "CRITIC",
            Self::CrossRepo => "CROSS_REPO",
            Self::Eval => "EVAL",
        }
    }

    /// Returns the name of the step's stamp file; the evaluation's result file serves as its stamp.
    const fn file(self) -> &'static str {
        match self {
            Self::Build => ".build-passed",
            Self::Critic => "reviews/.plan-hash",
            Self::CrossRepo => ".cross-repo-hash",
            Self::Eval => "plan-evaluation.json",
        }
    }
}

impl CacheArgs {
    pub fn new(step: CachedStep, workdir: &Path) -> Self {
        Self { step, workdir: workdir.to_owned() }
    }

    /// Returns whether the result of the step is still valid.
    pub fn is_hit(&self) -> bool {
        self.hit().is_ok()
    }

    fn check(&self) -> String {
        let token = self.step.token();
        match self.hit() {
            Ok(lines) if lines.is_empty() => format!("{token}_CACHE_HIT"),
            Ok(lines) => format!("{token}_CACHE_HIT\n{lines}"),
            Err(reason) => format!("{token}_CACHE_MISS\nreason: {reason}"),
        }
    }

    /// Returns the lines after the token of a hit, or the reason of a miss.
    fn hit(&self) -> Result<String, String> {
        // The evaluation stores the hash of its inputs in its own result file.
        if matches!(self.step, CachedStep::Eval) {
            return evaluation::cached(&self.workdir).map_err(str::to_owned);
        }
        let path = self.workdir.join(self.step.file());
        if untrusted::kind(&path).is_none() {
            return Err(format!("there is no {}", self.step.file()));
        }
        let stamp =
            untrusted::read_text(&path).map_err(|error| format!("the stamp cannot be read: {error}"))?;
        // A stamp is the key and a timestamp; the latter is informational.
        let stamped_key = stamp.split_whitespace().next().ok_or("the stamp is malformed")?;
        if self.key()? != stamped_key {
            return Err(format!("{} have changed", self.subject()));
        }
        match self.step {
            CachedStep::Critic if !has_review(&self.workdir) => Err("there is no review".to_owned()),
            CachedStep::CrossRepo => needs(&self.workdir),
            _ => Ok(String::new()),
        }
    }

    /// Records that the step has completed, and returns the token to print.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn stamp(&self) -> Result<String, String> {
        if matches!(self.step, CachedStep::Eval) {
            return Err("Error: the result of `eval` is recorded by `loopgate plan evaluate`".to_owned());
        }
        let text = format!("{} {}\n", self.key().map_err(|reason| format!("Error: {reason}"))?, now());
        untrusted::write(&self.workdir.join(self.step.file()), text.as_bytes())
            .map_err(|error| format!("Error: cannot write the stamp: {error}"))?;
        Ok(format!("{}_CACHE_STAMPED", self.step.token()))
    }

    /// Computes the hash of the step's inputs.
    fn key(&self) -> Result<String, String> {
        let mut hash = Sha256::new();
        match self.step {
            CachedStep::Build => {
                let git = BlockingGit::new()?;
                for repository in loop_repositories(&self.workdir)? {
                    // The files and not the commit: a build depends on uncommitted changes as well.
                    hash.update(git.snapshot(&repository.path).ok_or("git cannot read the files")?);
                }
            }
            CachedStep::Critic => {
                hash.update(read(&self.workdir.join(PLAN_JSON))?);
                if let Some(gates) = evaluation::gates_file(&self.workdir) {
                    hash.update(read(&gates)?);
                }
            }
            CachedStep::CrossRepo | CachedStep::Eval => {
                let git = BlockingGit::new()?;
                let peers = peer_paths();
                for peer in &peers {
                    // A new commit in a peer may add a capability that the plan needs.
                    let head = git.head(peer).unwrap_or_default();
                    hash.update(format!("{}:{head}\n", peer.display()));
                }
                // Without peers the needs file is the only input; with peers it is derived from their
                // commits.
                if peers.is_empty() {
                    hash.update(read(&self.workdir.join(NEEDS_FILE)).unwrap_or_default());
                }
            }
        }
        Ok(hex::encode(hash.finalize()))
    }

    const fn subject(&self) -> &'static str {
        match self.step {
            CachedStep::Build => "the files",
            CachedStep::Critic => "plan or critic gates",
            CachedStep::CrossRepo | CachedStep::Eval => "the other repositories",
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    untrusted::read_text(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

fn has_review(workdir: &Path) -> bool {
    let entries = untrusted::entries(&workdir.join("reviews")).into_iter();
    entries.filter_map(|entry| entry.name.into_string().ok()).any(|name| name.ends_with(".review.json"))
}

#[derive(Deserialize)]
struct Needs {
    #[serde(default)]
    needs: Vec<PeerNeeds>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PeerNeeds {
    peer_name: String,
    #[serde(default)]
    capabilities: Vec<Capability>,
}

#[derive(Deserialize)]
struct Capability {
    description: String,
}

/// Returns status and capabilities of the needs file. A missing file means that nothing is needed.
fn needs(workdir: &Path) -> Result<String, String> {
    let path = workdir.join(NEEDS_FILE);
    if untrusted::kind(&path).is_none() {
        return Ok("status: NO_CROSS_REPO_NEEDED".to_owned());
    }
    let needs: Needs = untrusted::read_json(&path).ok_or_else(|| format!("{NEEDS_FILE} is malformed"))?;
    let lines: Vec<String> = needs
        .needs
        .iter()
        .flat_map(|peer| {
            peer.capabilities.iter().map(|need| format!("  - {}: {}", peer.peer_name, need.description))
        })
        .collect();
    if lines.is_empty() {
        return Ok("status: NO_CROSS_REPO_NEEDED".to_owned());
    }
    Ok(format!("status: CAPABILITIES_IDENTIFIED\ncapabilities:\n{}", lines.join("\n")))
}
