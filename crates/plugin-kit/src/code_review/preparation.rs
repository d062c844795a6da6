//! What a review needs before a model is asked. Everything that decides how a change is reviewed is read from its base: the
//! change must not review itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use loopgate_api::critic_gates::CriticGates;
use loopgate_code_review::diff::FileKind;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::finding::Finding;
use loopgate_code_review::hygiene::check_reviewed_change;
use loopgate_code_review::incremental::{IncrementalDecision, ReviewExtent};
use loopgate_code_review::intent::classify;
use loopgate_code_review::route::{ReviewIntent, ReviewRoute, route};

use super::cache::repository_cache;
use super::challenge;
use super::change::{self, PatchContext};
use super::incremental::{ChangeTip, ReviewHistory};
use super::reviewers::ReviewMaterial;
use super::scope::{IntentContext, RequestedChange, ResolvedScope, resolve};
use crate::project_git::BlockingGit;

/// File with the instructions of a directory.
const INSTRUCTIONS: &str = "CLAUDE.md";
/// Bytes of all instructions.
const MAX_INSTRUCTIONS: usize = 48 * 1024;
const CRITIC_GATES: &str = ".loopgate/settings/critic-gates.json";
/// Directory of the prompts of critics, and largest prompt in bytes.
const CRITICS: &str = ".claude/agents";
const MAX_CRITIC: usize = 24 * 1024;
/// Characters of the author's description.
const MAX_DESCRIPTION: usize = 8_000;

/// A change and what is known about it without a model.
#[derive(Debug)]
pub struct PreparedReview {
    pub root: PathBuf,
    pub scope: ResolvedScope,
    /// All changed files.
    pub data: DiffData,
    /// Those that reviewers read.
    pub reviewed: DiffData,
    pub hygiene: Vec<Finding>,
    pub intent: ReviewIntent,
    pub route: ReviewRoute,
    pub material: ReviewMaterial,
    pub warnings: Vec<String>,
    /// Directory of the repository's cache.
    pub cache_dir: PathBuf,
    pub history: ReviewHistory,
    pub extent: IncrementalDecision,
    /// The commit that is reviewed with all its changes; `None` if uncommitted or selected files are reviewed.
    pub reviewed_commit: Option<String>,
}

/// What to prepare.
#[derive(Debug)]
pub struct PreparationInput<'a> {
    /// Directory in the repository.
    pub dir: &'a Path,
    pub change: &'a RequestedChange,
    /// What the person who requested the review wants to be considered.
    pub considerations: Option<String>,
    pub extent: ReviewExtent,
    /// The user's home directory.
    pub home: &'a Path,
}

/// Reads a change and what the review needs. Blocks on git.
///
/// # Errors
/// Returns the reason for which the change cannot be reviewed.
pub fn prepare(request: PreparationInput<'_>) -> Result<PreparedReview, String> {
    let git = BlockingGit::new()?;
    let root = change::root(&git, request.dir)?;
    // Before the working tree is read, so that the files of the review are not part of it.
    crate::loop_run::exclude_state_dir(&root)
        .map_err(|error| format!("cannot prepare the directory: {error}"))?;
    let (mut scope, mut description) = resolve(&git, request.dir, request.change)?;
    let cache_dir = repository_cache(&git, &root, request.home);
    let history = ReviewHistory::new(&cache_dir, format!("{}:{}", scope.review_branch, scope.base_ref));
    let mut extent = IncrementalDecision::full("no commits");
    let mut reviewed_commit = None;
    if let Some(commit) = &scope.diff_tip {
        let tree = scope.to.as_deref().unwrap_or(commit);
        let tip = ChangeTip { commit, tree, base: scope.base_commit.as_deref() };
        extent = history.decide(&git, &root, request.extent, tip)?;
        if let Some(last) = extent.since() {
            // Not the commit of the base, from which instructions and critics are read.
            last.clone_into(&mut scope.from);
            description.commits = git.subjects(&root, last, commit).unwrap_or_default();
        }
        // Uncommitted files can hide lines of the commit from the reviewers.
        let is_committed = || git.changed_between(&root, commit, tree).is_some_and(|files| files.is_empty());
        if request.change.scope.always_whole().is_none() && is_committed() {
            reviewed_commit = Some(commit.clone());
        }
    }
    let change::ReadChange { data, ignored } =
        change::read_sides(&git, &root, &scope.sides(), PatchContext::Review)?;
    let hygiene = check_reviewed_change(&data, &ignored);
    description.body = description.body.chars().take(MAX_DESCRIPTION).collect();
    let intent = intent(&description, &data);
    let reviewed = source_files(&data);
    let base = BaseFiles { git: &git, root: &root, commit: scope.base_commit.as_deref() };
    let mut warnings = Vec::new();
    let gates = base.critic_gates(&mut warnings);
    let route = route(&reviewed, &gates, intent);
    let critics = base.critics(&route.domain_critics, &mut warnings);
    let material = ReviewMaterial {
        instructions: base.instructions(&reviewed),
        critics,
        intent: description,
        considerations: request.considerations,
        is_incremental: extent.since().is_some(),
    };
    Ok(PreparedReview {
        root,
        scope,
        data,
        reviewed,
        hygiene,
        intent,
        route,
        material,
        warnings,
        cache_dir,
        history,
        extent,
        reviewed_commit,
    })
}

fn intent(description: &IntentContext, data: &DiffData) -> ReviewIntent {
    let body = description.body.lines().next().unwrap_or_default();
    let texts = [description.title.as_str(), body].into_iter();
    classify(texts.chain(description.commits.iter().map(String::as_str)), data)
}

/// Returns the files that people write. The others are checked without a model only.
fn source_files(data: &DiffData) -> DiffData {
    let paths: BTreeSet<&String> =
        data.files_to_review.iter().filter(|path| data.kind(path) == FileKind::Source).collect();
    fn of<T: Clone>(map: &BTreeMap<String, T>, paths: &BTreeSet<&String>) -> BTreeMap<String, T> {
        map.iter()
            .filter(|(path, _)| paths.contains(path))
            .map(|(path, value)| (path.clone(), value.clone()))
            .collect()
    }
    let file_loc = of(&data.file_loc, &paths);
    DiffData {
        files_to_review: data.files_to_review.iter().filter(|path| paths.contains(path)).cloned().collect(),
        file_statuses: of(&data.file_statuses, &paths),
        total_loc: file_loc.values().map(|count| count.total()).sum(),
        file_loc,
        changed_ranges: of(&data.changed_ranges, &paths),
        patch_lines: of(&data.patch_lines, &paths),
        file_kinds: BTreeMap::new(),
    }
}

/// Files of the base of a change. A repository without commits has none.
struct BaseFiles<'a> {
    git: &'a BlockingGit,
    root: &'a Path,
    commit: Option<&'a str>,
}

impl BaseFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let bytes = self.git.content_of(self.root, self.commit?, path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn critic_gates(&self, warnings: &mut Vec<String>) -> CriticGates {
        let Some(text) = self.text(CRITIC_GATES) else { return CriticGates::default() };
        serde_json::from_str(&text).unwrap_or_else(|error| {
            warnings.push(format!("{CRITIC_GATES} of the base is not valid, so no critic is asked: {error}"));
            CriticGates::default()
        })
    }

    fn critics(&self, names: &[String], warnings: &mut Vec<String>) -> BTreeMap<String, String> {
        let mut critics = BTreeMap::new();
        for name in names {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            let prompt = if is_name { self.text(&format!("{CRITICS}/{name}.md")) } else { None };
            match prompt {
                Some(prompt) => {
                    critics.insert(name.clone(), prompt.chars().take(MAX_CRITIC).collect());
                }
                None => warnings
                    .push(format!("the critic {name} is not asked: {CRITICS}/{name}.md is not in the base")),
            }
        }
        critics
    }

    /// Returns the instructions of the directories with changed files, those of the root first.
    fn instructions(&self, data: &DiffData) -> Vec<(String, String)> {
        let mut directories = BTreeSet::from([String::new()]);
        for path in &data.files_to_review {
            let mut rest = path.as_str();
            while let Some((directory, _)) = rest.rsplit_once('/') {
                directories.insert(format!("{directory}/"));
                rest = directory;
            }
        }
        let mut remaining = MAX_INSTRUCTIONS;
        let mut instructions = Vec::new();
        for directory in directories {
            let path = format!("{directory}{INSTRUCTIONS}");
            let Some(text) = self.text(&path) else { continue };
            let text: String = text.chars().take(remaining).collect();
            remaining = remaining.saturating_sub(text.len());
            if !text.is_empty() {
                instructions.push((path, text));
            }
        }
        instructions
    }
}

/// Returns the excerpts of the files of claims, as they are after the change. Blocks on git.
pub fn excerpts(root: &Path, scope: &ResolvedScope, places: &[(String, u64)]) -> Vec<(String, String)> {
    let Ok(git) = BlockingGit::new() else { return Vec::new() };
    // The empty name is that of the index.
    let tree = scope.to.clone().unwrap_or_default();
    let excerpt = |(path, line): &(String, u64)| {
        let content = git.content_of(root, &tree, path)?;
        Some(challenge::excerpt(path, &String::from_utf8_lossy(&content), *line))
    };
    places.iter().filter_map(excerpt).collect()
}
