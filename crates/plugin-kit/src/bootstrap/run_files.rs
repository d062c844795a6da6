//! Documents of a run in `.loopgate/bootstrap/<run>`, and the state of all runs in `.loopgate`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_bootstrap::{DecomposedRoster, ProjectAnalysis, critic_gates};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::BOOTSTRAP_VERSION;

/// Runs whose documents are kept.
const KEPT_RUNS: usize = 10;
const METADATA: &str = "bootstrap-metadata.json";
const CRITIC_GATES: &str = "settings/critic-gates.json";

/// Directory with the documents of one run.
#[derive(Debug)]
pub struct BootstrapRunFiles {
    state_dir: PathBuf,
    dir: PathBuf,
}

/// Content of `bootstrap-metadata.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BootstrapMetadata {
    pub bootstrap_version: String,
    pub last_run: String,
    pub agents: BTreeMap<String, AgentMetadata>,
    /// Hash of the critic gates that the last run wrote, to recognize a file that was changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic_gates_hash: Option<String>,
}

/// What is recorded of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentMetadata {
    /// Time at which its text was written.
    pub generated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specialization: Option<String>,
    /// Hash of what it was written from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation_hash: Option<String>,
    /// Hash of its file, to recognize one that was changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hash: Option<String>,
}

/// Returns the hash of a file's content.
pub fn content_hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl BootstrapMetadata {
    /// Reads the metadata of a repository; empty without a readable file.
    pub fn read(root: &Path) -> Self {
        untrusted::read_json(&root.join(STATE_DIR).join(METADATA)).unwrap_or_default()
    }
}

impl BootstrapRunFiles {
    /// Creates the directory of a run, and removes those of old runs.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn create(root: &Path, run_id: &str) -> Result<Self, String> {
        let state_dir = root.join(STATE_DIR);
        let runs = state_dir.join("bootstrap");
        let dir = runs.join(run_id);
        untrusted::create_directory(&dir)
            .map_err(|error| format!("Error: cannot create {}: {error}", dir.display()))?;
        remove_old_runs(&runs);
        Ok(Self { state_dir, dir })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a text of the run.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.dir.join(name);
        let written = path.parent().map_or(Ok(()), |parent| untrusted::create_directory(parent).map(drop));
        written
            .and_then(|()| untrusted::write(&path, text.as_bytes()))
            .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))
    }

    /// Writes a document of the run.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn write<T: Serialize>(&self, name: &str, document: &T) -> Result<(), String> {
        self.write_text(name, &pretty(document)?)
    }

    /// Writes what was found before any model is asked.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn write_analysis(&self, analysis: &ProjectAnalysis) -> Result<(), String> {
        let commands = analysis
            .commands
            .iter()
            .map(|command| format!("- {} ({})\n", command.description(), command.reason));
        let context = format!(
            "# Project context\n\n{}\n\n## Commands\n\n{}",
            analysis.overview.text(),
            commands.collect::<String>()
        );
        self.write_text("discovery/project-context.md", &context)?;
        self.write("discovery/languages.json", &analysis.languages)?;
        self.write("discovery/domains.json", &analysis.domain_report)?;
        self.write("synthesis/expert-agents.json", &analysis.experts)?;
        self.write("synthesis/decomposed-agents.json", &analysis.agents)
    }

    /// Writes the critic gates, unless a file exists that no run wrote or that was changed since: then they are written among
    /// the documents of the run. Returns the warning, and records the hash.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn write_gates(
        &self,
        roster: &DecomposedRoster,
        metadata: &mut BootstrapMetadata,
    ) -> Result<Option<String>, String> {
        let text = pretty(&critic_gates(roster))?;
        let path = self.state_dir.join(CRITIC_GATES);
        let existing = untrusted::read(&path, untrusted::MAX_DOCUMENT).ok();
        let is_own = |bytes: &Vec<u8>| {
            bytes == text.as_bytes() || metadata.critic_gates_hash.as_ref() == Some(&content_hash(bytes))
        };
        let is_kept = match &existing {
            Some(bytes) => !is_own(bytes),
            // Something that cannot be read, such as a link.
            None => untrusted::kind(&path).is_some(),
        };
        if is_kept {
            self.write_text(CRITIC_GATES, &text)?;
            return Ok(Some(format!(
                "{} exists and is not replaced; the new critic gates are in {}",
                path.display(),
                self.dir.join(CRITIC_GATES).display()
            )));
        }
        metadata.critic_gates_hash = Some(content_hash(text.as_bytes()));
        untrusted::create_directory(&self.state_dir.join("settings"))
            .and_then(|_| untrusted::write(&path, text.as_bytes()))
            .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))?;
        Ok(None)
    }

    /// Writes the metadata.
    ///
    /// # Errors
    /// Returns the message to print.
    pub fn write_metadata(&self, mut metadata: BootstrapMetadata, now: &str) -> Result<(), String> {
        BOOTSTRAP_VERSION.clone_into(&mut metadata.bootstrap_version);
        now.clone_into(&mut metadata.last_run);
        let path = self.state_dir.join(METADATA);
        untrusted::write(&path, pretty(&metadata)?.as_bytes())
            .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))
    }
}

fn pretty<T: Serialize>(document: &T) -> Result<String, String> {
    let value: Value = serde_json::to_value(document).map_err(|error| format!("Error: {error}"))?;
    Ok(format!("{value:#}\n"))
}

fn remove_old_runs(runs: &Path) {
    let is_run = |name: &OsStr| {
        name.to_str().is_some_and(|name| name.starts_with(|first: char| first.is_ascii_digit()))
    };
    let mut names: Vec<_> = untrusted::entries(runs).into_iter().map(|entry| entry.name).collect();
    names.retain(|name| is_run(name));
    // Names start with the time.
    names.sort();
    names.reverse();
    for name in names.iter().skip(KEPT_RUNS) {
        if let Err(error) = loopgate_home::remove_tree(&runs.join(name)) {
            tracing::warn!(%error, "failed to remove the documents of an old bootstrap");
        }
    }
}
