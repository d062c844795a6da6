//! Compares the loop's repositories before and after each iteration, and finds work that was taken back or hidden: stashes,
//! commits that were removed from the branch, and settings of git that hide files.
//!
//! The hook of the plugin judges command lines. A program that the assistant wrote can do the same without one, so that
//! the facts decide. A finding is a change that is nowhere else: a stash that was applied, a rebase and an amended commit
//! are none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};

use super::driver::Driver;
use crate::hook::refusal_of_command;
use crate::project_git::{GitSetting, ProjectGit, StashEntry};

/// File of the recorded states, in the state directory of the work directory.
pub const WORK_RECORD: &str = "repository-states.json";
/// Files listed per finding.
const LISTED_FILES: usize = 5;
/// Settings whose change hides files, or replaces a part of the repository or a program of git.
const GUARDED_SETTINGS: [&str; 6] = [
    "core.bare",
    "core.excludesfile",
    "core.fsmonitor",
    "core.hookspath",
    "core.sshcommand",
    "core.worktree",
];

/// States of the loop's repositories with which the next comparison starts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WorkRecord {
    repositories: BTreeMap<PathBuf, RepositoryState>,
    /// Findings that were reported already.
    #[serde(skip)]
    reported: BTreeSet<String>,
}

/// State of one repository. Stashes, settings and rules are those at the start of the loop, so that a finding remains one
/// until the work is back.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RepositoryState {
    /// Whether the directory is the root of a repository or a worktree.
    is_root: bool,
    /// Whether the directory contains the repository. A worktree has only a file that names it, which can be restored.
    has_git_dir: bool,
    /// Full name of the branch that was checked out at the last comparison; `None` for a detached HEAD.
    branch: Option<String>,
    /// Commit that was checked out at the last comparison.
    head: Option<String>,
    /// Earlier commits that HEAD does not contain any more, with the branch that they were on.
    left: BTreeMap<String, Option<String>>,
    /// `None`, as for the settings, if git did not answer.
    stashes: Option<BTreeSet<String>>,
    settings: Option<Vec<GitSetting>>,
    /// Rules in `info/exclude` of the clone.
    exclude_rules: Option<BTreeSet<String>>,
}

impl WorkRecord {
    fn path(workdir: &Path) -> PathBuf {
        workdir.join(STATE_DIR).join(WORK_RECORD)
    }

    /// Reads the record of an interrupted loop.
    pub fn load(workdir: &Path) -> Option<Self> {
        untrusted::read_json(&Self::path(workdir))
    }

    fn save(&self, workdir: &Path) {
        // Best-effort: the record in memory is the one that counts until the loop is interrupted.
        if let Ok(bytes) = serde_json::to_vec(self) {
            let _ = untrusted::write(&Self::path(workdir), &bytes);
        }
    }
}

impl RepositoryState {
    async fn of(git: &ProjectGit<'_>, directory: &Path) -> Self {
        Self {
            is_root: directory.join(".git").symlink_metadata().is_ok(),
            has_git_dir: directory.join(".git").is_dir(),
            branch: git.branch_ref().await,
            head: git.head().await,
            left: BTreeMap::new(),
            stashes: git.stashes().await.map(|all| all.into_iter().map(|stash| stash.commit).collect()),
            settings: git.settings(&GUARDED_SETTINGS).await,
            exclude_rules: exclude_rules(git).await,
        }
    }
}

/// Comparison of one repository with its recorded state.
struct RepositoryComparison<'a> {
    git: ProjectGit<'a>,
    directory: &'a Path,
    findings: Vec<String>,
}

impl RepositoryComparison<'_> {
    async fn run(&mut self, state: &mut RepositoryState) {
        // Without it, git may find another repository further up.
        if state.is_root && self.directory.join(".git").symlink_metadata().is_err() {
            if state.has_git_dir {
                self.findings.push(format!("the git directory of {} was removed", self.directory.display()));
            }
            return;
        }
        let (branch, head) = (self.git.branch_ref().await, self.git.head().await);
        if let (Some(old), Some(new)) = (&state.head, &head)
            && old != new
            && !self.git.contains("HEAD", old).await
        {
            state.left.insert(old.clone(), state.branch.clone());
        }
        // A stash names the branch on which it was created, unless a program stored it with another message.
        let branches: Vec<&str> = [&state.branch, &branch]
            .into_iter()
            .map(|branch| {
                branch.as_deref().map_or("(no branch)", |name| name.trim_start_matches("refs/heads/"))
            })
            .collect();
        let is_own = |stash: &StashEntry| {
            let branch = ["WIP on ", "On "].iter().find_map(|kind| stash.subject.strip_prefix(kind));
            let is_of_loop = match branch.and_then(|rest| rest.split_once(':')) {
                Some((branch, _)) => branches.contains(&branch),
                None => [&state.head, &head].into_iter().flatten().any(|head| *head == stash.base),
            };
            is_of_loop && state.stashes.as_ref().is_some_and(|known| !known.contains(&stash.commit))
        };
        let stashes = self.git.stashes().await.unwrap_or_default().into_iter().enumerate();
        let stashes: Vec<(usize, StashEntry)> = stashes.filter(|(_, stash)| is_own(stash)).collect();
        if !stashes.is_empty() || !state.left.is_empty() {
            // Without a snapshot nothing is proven.
            if let Some(tree) = self.git.snapshot().await {
                self.stashes(&stashes, &tree).await;
                self.commits(&mut state.left, &tree).await;
            }
        }
        self.settings(state).await;
        self.exclude_rules(state).await;
        // Without an answer of git the last known commit remains the one to compare with.
        if head.is_some() {
            (state.branch, state.head) = (branch, head);
        }
    }

    /// Finds stashed changes of files that the working tree has as they were before the change.
    async fn stashes(&mut self, stashes: &[(usize, StashEntry)], tree: &str) {
        for (position, stash) in stashes {
            let base = &stash.base;
            let Some(mut files) = self.git.changed_names(base, &stash.commit).await else { continue };
            // The third parent, if any, contains the untracked files.
            files.extend(self.git.names(&format!("{}^3", stash.commit)).await.unwrap_or_default());
            let Some(changed) = self.git.changed_names(base, tree).await else { continue };
            let hidden: Vec<&String> = files.iter().filter(|file| !changed.contains(*file)).collect();
            if !hidden.is_empty() {
                self.findings.push(format!(
                    "stash@{{{position}}} of {} ({}) has changes that the working tree does not have: {}",
                    self.directory.display(),
                    stash.subject,
                    listed(hidden.into_iter())
                ));
            }
        }
    }

    /// Finds commits without a trace: no branch of the loop has them or an equal one, and each of their files is as it was
    /// before them. Forgets the earlier commits of which everything is still there.
    async fn commits(&mut self, left: &mut BTreeMap<String, Option<String>>, tree: &str) {
        let mut found = BTreeSet::new();
        for (old, branch) in std::mem::take(left) {
            let is_on_branch = match &branch {
                Some(branch) => self.git.contains(branch, &old).await,
                None => false,
            };
            if is_on_branch || self.git.contains("HEAD", &old).await {
                continue;
            }
            let mut is_lost = false;
            // Unknown counts as present: a finding must be proven.
            for commit in self.git.missing_commits(&old).await.unwrap_or_default() {
                let base = format!("{commit}^1");
                let Some(files) = self.git.changed_names(&base, &commit).await else { continue };
                let Some(changed) = self.git.changed_names(&base, tree).await else { continue };
                if files.is_empty() || files.iter().any(|file| changed.contains(file)) {
                    continue;
                }
                is_lost = true;
                if found.insert(commit.clone()) {
                    self.findings.push(format!(
                        "commit {} of {} is not on its branch any more, and the working tree does not have its changes: {}",
                        commit.get(..10).unwrap_or(&commit),
                        self.directory.display(),
                        listed(files.iter())
                    ));
                }
            }
            if is_lost {
                left.insert(old, branch);
            }
        }
    }

    async fn settings(&mut self, state: &RepositoryState) {
        let now = self.git.settings(&GUARDED_SETTINGS).await;
        let (Some(before), Some(now)) = (&state.settings, now) else { return };
        let added = now.iter().filter(|setting| !before.contains(setting));
        let added = added.filter(|setting| hides_or_runs(setting, self.directory));
        let texts: Vec<String> = added
            .map(|setting| {
                format!(
                    "the setting {} of git in {} was changed to `{}`",
                    setting.name,
                    self.directory.display(),
                    setting.value
                )
            })
            .collect();
        self.findings.extend(texts);
    }

    async fn exclude_rules(&mut self, state: &RepositoryState) {
        let now = exclude_rules(&self.git).await;
        let (Some(before), Some(now)) = (&state.exclude_rules, now) else { return };
        let added: Vec<&str> = now.difference(before).map(String::as_str).collect();
        let Some(files) = self.git.only_ignored_by(&added).await.filter(|files| !files.is_empty()) else {
            return;
        };
        self.findings.push(format!(
            "rules that were added to info/exclude of {} hide new files: {}",
            self.directory.display(),
            listed(files.iter())
        ));
    }
}

/// Returns whether a changed setting can hide files or run a program that the hook has not judged.
fn hides_or_runs(setting: &GitSetting, directory: &Path) -> bool {
    let value = setting.value.as_str();
    match setting.name.as_str() {
        "core.bare" => value != "false",
        "core.fsmonitor" => !["true", "false", ""].contains(&value),
        // Tools of a project set it to a directory of the project.
        "core.hookspath" => {
            let path = Path::new(value);
            path.is_absolute() && !path.starts_with(directory) || value.split('/').any(|part| part == "..")
        }
        name if name.starts_with("alias.") => {
            let command = value.strip_prefix('!').map_or_else(|| format!("git {value}"), str::to_owned);
            setting.is_of_repository && refusal_of_command(&command, directory).is_some()
        }
        _ => true,
    }
}

/// Returns the ignore rules of the clone. `None` if git did not answer.
async fn exclude_rules(git: &ProjectGit<'_>) -> Option<BTreeSet<String>> {
    // Some tools create clones without this file.
    let text = untrusted::read_text(&git.exclude_file().await?).unwrap_or_default();
    let lines = text.lines().map(str::trim_end);
    Some(lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '!'])).map(str::to_owned).collect())
}

fn listed<'a>(files: impl ExactSizeIterator<Item = &'a String>) -> String {
    let count = files.len();
    let mut names: Vec<String> = files.take(LISTED_FILES).cloned().collect();
    if count > LISTED_FILES {
        names.push(format!("{} more", count - LISTED_FILES));
    }
    names.join(", ")
}

impl Driver {
    /// Records the states before the first iteration.
    pub(super) async fn record_work(&mut self) {
        let repositories: Vec<PathBuf> = self.repositories().collect();
        for directory in repositories {
            // The states of an interrupted loop are those of its start.
            if !self.work.repositories.contains_key(&directory) {
                let git = ProjectGit::at(&directory, &self.context.env, &self.stop);
                let state = RepositoryState::of(&git, &directory).await;
                self.work.repositories.insert(directory, state);
            }
        }
        self.work.save(&self.state.workdir);
    }

    /// Compares the repositories with their recorded states. Returns the work that was taken back or hidden, and reports
    /// it in the progress log.
    pub(super) async fn check_work(&mut self) -> Vec<String> {
        let mut findings = Vec::new();
        // A driver that stops gets no answer from git.
        if self.stop.is_cancelled() {
            return findings;
        }
        for (directory, state) in &mut self.work.repositories {
            let git = ProjectGit::at(directory, &self.context.env, &self.stop);
            let mut comparison = RepositoryComparison { git, directory, findings: Vec::new() };
            comparison.run(state).await;
            findings.append(&mut comparison.findings);
        }
        // Set-up may add repositories to a loop.
        self.record_work().await;
        for finding in &findings {
            if !self.work.reported.contains(finding) {
                self.journal.progress(&format!("Work was taken back or hidden: {finding}"));
            }
        }
        findings
    }

    /// Returns the findings that no earlier call returned.
    pub(super) fn new_findings(&mut self, findings: &[String]) -> Vec<String> {
        let reported = &mut self.work.reported;
        findings.iter().filter(|finding| reported.insert((*finding).clone())).cloned().collect()
    }
}
