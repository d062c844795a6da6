//! The change that a review is about: which sides it has, and how its author describes it.

use std::path::{Component, Path};
use std::time::Duration;

use loopgate_api::redact;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{self, ChangeSides};
use super::incremental::{SELECTED_FILES, STAGED};
use crate::project_git::{BlockingGit, ChangeSide};

/// Program of the code host.
const CODE_HOST: &str = "gh";
/// Time limit for a pull request that the user names, and for the detection of one.
const LOOKUP_LIMIT: Duration = Duration::from_secs(30);
const DETECTION_LIMIT: Duration = Duration::from_secs(10);
/// Characters of an error of the code host that are shown.
const REASON_CHARS: usize = 300;

/// The requested change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedChange {
    pub scope: RequestedChangeScope,
    /// Branch or commit to compare with, in place of the default one.
    pub base: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedChangeScope {
    /// The working tree against the base of its pull request, else against the default branch.
    Branch,
    /// The index against the last commit.
    Staged,
    PullRequest(u64),
    /// The working tree, only these files and directories.
    Paths(Vec<String>),
}

impl RequestedChange {
    /// Parses the words of a command line.
    ///
    /// # Errors
    /// Fails for options that exclude each other.
    pub fn parse(words: &[String], base: Option<String>) -> Result<Self, String> {
        let scope = match words {
            [] => RequestedChangeScope::Branch,
            [word] if word == "branch" => RequestedChangeScope::Branch,
            [word] if word == "staged" => RequestedChangeScope::Staged,
            [word] if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number =
                    word.parse().map_err(|_| format!("{word} is not the number of a pull request"))?;
                RequestedChangeScope::PullRequest(number)
            }
            paths => RequestedChangeScope::Paths(paths.to_vec()),
        };
        if scope == RequestedChangeScope::Staged && base.is_some() {
            return Err("--base cannot be used with staged, which compares with the last commit".to_owned());
        }
        Ok(Self { scope, base })
    }
}

impl RequestedChangeScope {
    /// Returns the kind of a change that is always reviewed as a whole, because no commit is the end of it.
    pub const fn always_whole(&self) -> Option<&'static str> {
        match self {
            Self::Staged => Some(STAGED),
            Self::Paths(_) => Some(SELECTED_FILES),
            Self::Branch | Self::PullRequest(_) => None,
        }
    }
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    Pr,
    Branch,
    Staged,
    FilePaths,
}

/// Content of `scope.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedScope {
    pub scope_kind: ScopeKind,
    /// Branch, commit or tree that the change is compared with.
    pub base_ref: String,
    /// Commit from which instructions and settings of the review are read.
    pub base_commit: Option<String>,
    /// Commit or tree before the change.
    pub from: String,
    /// Tree after the change; `None` for the index.
    pub to: Option<String>,
    /// Commit of the change without uncommitted files.
    pub diff_tip: Option<String>,
    pub review_branch: String,
    pub pr_number: Option<u64>,
    pub pr_auto_detected: bool,
    /// Files and directories, relative to the root of the repository; all if empty.
    pub path_filter: Vec<String>,
}

/// Content of `intent_context.json`: how the author describes the change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentContext {
    pub title: String,
    pub body: String,
    pub commits: Vec<String>,
}

impl ResolvedScope {
    pub fn sides(&self) -> ChangeSides {
        let to = self.to.clone().map_or(ChangeSide::Index, ChangeSide::Tree);
        ChangeSides { from: self.from.clone(), to, paths: self.path_filter.clone() }
    }
}

/// What the code host says about a pull request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PullRequestView {
    number: u64,
    base_ref_name: String,
    head_ref_name: String,
    head_ref_oid: String,
    title: String,
    body: String,
}

/// Looks up the sides of a change. `dir`: directory in the repository, to which paths are relative.
///
/// # Errors
/// Returns the reason for which a side is unknown. A pull request that cannot be looked up is never replaced by another
/// change.
pub fn resolve(
    git: &BlockingGit,
    dir: &Path,
    requested: &RequestedChange,
) -> Result<(ResolvedScope, IntentContext), String> {
    let root = change::root(git, dir)?;
    let place = ScopeLookup { git, root: &root };
    match &requested.scope {
        RequestedChangeScope::Staged => place.staged(),
        RequestedChangeScope::PullRequest(number) => place.pull_request(*number, requested.base.as_deref()),
        RequestedChangeScope::Branch => place.working_tree(requested.base.as_deref(), Vec::new()),
        RequestedChangeScope::Paths(paths) => {
            let (_, prefix) = git.position(dir).ok_or("git cannot find the directory")?;
            let paths: Result<_, _> = paths.iter().map(|path| root_relative(&root, &prefix, path)).collect();
            place.working_tree(requested.base.as_deref(), paths?)
        }
    }
}

/// Returns a path relative to the root of the repository, with `/` between its parts.
fn root_relative(root: &Path, prefix: &Path, path: &str) -> Result<String, String> {
    let outside = || format!("{path} is outside of the repository");
    let path = Path::new(path);
    let joined = if path.is_absolute() {
        path.strip_prefix(root).map_err(|_| outside())?.to_owned()
    } else {
        prefix.join(path)
    };
    let mut parts: Vec<&str> = Vec::new();
    for component in joined.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop().ok_or_else(outside)?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(parts.join("/"))
}

struct ScopeLookup<'a> {
    git: &'a BlockingGit,
    root: &'a Path,
}

impl ScopeLookup<'_> {
    fn staged(&self) -> Result<(ResolvedScope, IntentContext), String> {
        let from = self.git.head_tree(self.root).ok_or("git cannot read the last commit")?;
        let head = self.git.head(self.root);
        let scope = ResolvedScope {
            scope_kind: ScopeKind::Staged,
            base_ref: "HEAD".to_owned(),
            base_commit: head.clone(),
            from,
            to: None,
            diff_tip: head,
            review_branch: self.branch(),
            pr_number: None,
            pr_auto_detected: false,
            path_filter: Vec::new(),
        };
        Ok((scope, IntentContext::default()))
    }

    /// The working tree with untracked files. Without a base, that of the branch's open pull request, else the default
    /// branch of the remote.
    fn working_tree(
        &self,
        base: Option<&str>,
        paths: Vec<String>,
    ) -> Result<(ResolvedScope, IntentContext), String> {
        let (git, root) = (self.git, self.root);
        let detected = match base {
            Some(_) => None,
            None => self.view(None, DETECTION_LIMIT).ok().filter(|view| !view.base_ref_name.is_empty()),
        };
        let of_request = detected.as_ref().map(|view| format!("origin/{}", view.base_ref_name));
        // The base of the pull request may not be fetched.
        let of_request = of_request.filter(|base| git.commit_of(root, base).is_some());
        let detected = detected.filter(|_| of_request.is_some());
        let base = match base.map(str::to_owned).or(of_request) {
            Some(base) => base,
            None => git.default_base(root).ok_or(
                "the remote has no default branch, and there is neither main nor master; name the base with --base",
            )?,
        };
        let from = change::base_commit(git, root, &base)?;
        let ChangeSide::Tree(to) = change::working_tree(git, root)? else {
            return Err("git cannot read the working tree".to_owned());
        };
        let tip = git.head(root);
        let commits = tip.as_deref().and_then(|tip| git.subjects(root, &from, tip)).unwrap_or_default();
        let scope = ResolvedScope {
            scope_kind: match (&detected, paths.is_empty()) {
                (_, false) => ScopeKind::FilePaths,
                (Some(_), true) => ScopeKind::Pr,
                (None, true) => ScopeKind::Branch,
            },
            base_ref: base,
            base_commit: Some(from.clone()),
            from,
            to: Some(to),
            diff_tip: tip,
            review_branch: self.branch(),
            pr_number: detected.as_ref().map(|view| view.number),
            pr_auto_detected: detected.is_some(),
            path_filter: paths,
        };
        let PullRequestView { title, body, .. } = detected.unwrap_or_default();
        Ok((scope, IntentContext { title, body, commits }))
    }

    fn pull_request(
        &self,
        number: u64,
        base: Option<&str>,
    ) -> Result<(ResolvedScope, IntentContext), String> {
        let (git, root) = (self.git, self.root);
        let view = self.view(Some(number), LOOKUP_LIMIT)?;
        let is_commit =
            view.head_ref_oid.len() >= 40 && view.head_ref_oid.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_commit || view.base_ref_name.is_empty() {
            return Err(format!("{CODE_HOST} does not say which commits pull request {number} has"));
        }
        // Best-effort: the base may be fetched already, and the review says which commit it used.
        let _ = git.fetch(root, &format!("refs/heads/{}", view.base_ref_name));
        if git.commit_of(root, &view.head_ref_oid).is_none() {
            let _ = git.fetch(root, &format!("refs/pull/{number}/head"));
        }
        let tip = git.commit_of(root, &view.head_ref_oid);
        let tip =
            tip.ok_or_else(|| format!("the head of pull request {number} cannot be fetched from origin"))?;
        let base_ref = base.map_or_else(|| format!("origin/{}", view.base_ref_name), str::to_owned);
        let base_commit =
            git.commit_of(root, &base_ref).or_else(|| git.commit_of(root, &format!("origin/{base_ref}")));
        let base_commit =
            base_commit.ok_or_else(|| format!("the base {base_ref} cannot be fetched from origin"))?;
        let from = git.merge_base(root, &base_commit, &tip).unwrap_or(base_commit);
        let commits = git.subjects(root, &from, &tip).unwrap_or_default();
        let scope = ResolvedScope {
            scope_kind: ScopeKind::Pr,
            base_ref,
            base_commit: Some(from.clone()),
            from,
            to: Some(tip.clone()),
            diff_tip: Some(tip),
            review_branch: view.head_ref_name,
            pr_number: Some(number),
            pr_auto_detected: false,
            path_filter: Vec::new(),
        };
        Ok((scope, IntentContext { title: view.title, body: view.body, commits }))
    }

    fn branch(&self) -> String {
        self.git.branch(self.root).unwrap_or_else(|| "HEAD".to_owned())
    }

    /// Asks the code host about a pull request; without a number, that of the branch.
    fn view(&self, number: Option<u64>, limit: Duration) -> Result<PullRequestView, String> {
        let number = number.map(|number| number.to_string());
        let mut args = vec!["pr", "view"];
        args.extend(number.as_deref());
        args.extend(["--json", "number,baseRefName,headRefName,headRefOid,title,body"]);
        let name = number.as_deref().unwrap_or("of the branch");
        let output = self.git.program_output(self.root, CODE_HOST, &args, limit).ok_or_else(|| {
            format!("pull request {name} cannot be looked up: {CODE_HOST} cannot be run, or took longer than {} seconds", limit.as_secs())
        })?;
        if output.status.code() != Some(0) {
            let reason = String::from_utf8_lossy(&output.stderr);
            let reason = redact::shorten(&redact::message(reason.trim()), REASON_CHARS);
            return Err(format!("pull request {name} cannot be looked up: {reason}"));
        }
        let view: Value = serde_json::from_str(output.stdout_text().trim()).map_err(|error| {
            format!("the answer of {CODE_HOST} about pull request {name} is no JSON: {error}")
        })?;
        serde_json::from_value(view).map_err(|error| {
            format!("the answer of {CODE_HOST} about pull request {name} is unexpected: {error}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_a_scope() {
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            RequestedChange::parse(&words, None).unwrap().scope
        };
        assert_eq!(parse(&[]), RequestedChangeScope::Branch);
        assert_eq!(parse(&["branch"]), RequestedChangeScope::Branch);
        assert_eq!(parse(&["staged"]), RequestedChangeScope::Staged);
        assert_eq!(parse(&["17"]), RequestedChangeScope::PullRequest(17));
        let paths = RequestedChangeScope::Paths(vec!["src/a b.rs".to_owned(), "staged".to_owned()]);
        assert_eq!(parse(&["src/a b.rs", "staged"]), paths);
        assert!(RequestedChange::parse(&["staged".to_owned()], Some("main".to_owned())).is_err());
        assert!(RequestedChange::parse(&["99999999999999999999".to_owned()], None).is_err());
    }

    #[test]
    fn paths_are_relative_to_the_root() {
        let of = |path: &str| root_relative(Path::new("/r"), Path::new("sub/"), path);
        assert_eq!(of("a b.rs").as_deref(), Ok("sub/a b.rs"));
        assert_eq!(of("../src/./x").as_deref(), Ok("src/x"));
        assert_eq!(of("/r/src/x").as_deref(), Ok("src/x"));
        for outside in ["../../x", "/etc/passwd"] {
            assert!(of(outside).is_err(), "{outside}");
        }
    }
}
