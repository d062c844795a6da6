//! Reviews of only the commits since the last one, and `loopgate code-review auto-incremental`, `review-state-read` and
//! `review-state-write`.

use std::path::{Path, PathBuf};

use loopgate_code_review::diff::ReviewedChange;
use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::incremental::{
    CompletedReview, IncrementalDecision, IncrementalLimits, LastCommit, ReviewExtent, ReviewStates, decide,
};
use loopgate_home::{JsonFile, JsonFileError};

use crate::clock;
use crate::console::print_error;
use crate::project_git::{BlockingGit, ChangeSide};

const REVIEW_STATE: &str = "review_state.json";
/// Value of a variable that turns incremental reviews off.
const OFF: &str = "0";
/// Reviews that always read the whole change.
pub const STAGED: &str = "staged changes";
pub const SELECTED_FILES: &str = "selected files";
const PULL_REQUESTS: &str = "reviews of pull requests";
/// The verdict of a loop is stored as that of its branch, and findings of earlier commits may not have been corrected.
pub const LOOPS: &str = "reviews of loops";

/// Where a review is and whether it runs for a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum IncrementalMode {
    /// On a developer's machine.
    Local,
    /// In a job of the code host.
    Github,
}

/// Which part of a change is reviewed.
#[derive(Debug, clap::Args)]
pub struct ExtentArgs {
    /// Review the whole change
    #[arg(long)]
    full_review: bool,
    /// Review only what has changed since the last review of the branch, or fail
    #[arg(long, conflicts_with = "full_review")]
    since_last_review: bool,
    /// 0 reviews the whole change unless --since-last-review is there
    #[arg(long, env = "CR_AUTO_INCREMENTAL", default_value = "1", hide = true)]
    enabled: String,
    /// Changed files of an incremental review
    #[arg(long, env = "CR_INCREMENTAL_MAX_FILES", default_value_t = IncrementalLimits::default().files, hide = true)]
    max_files: u64,
    /// Changed lines of an incremental review
    #[arg(long, env = "CR_INCREMENTAL_MAX_LOC", default_value_t = IncrementalLimits::default().lines, hide = true)]
    max_loc: u64,
}

impl ExtentArgs {
    /// Returns what is required. `whole`: kind of a review that always reads the whole change.
    ///
    /// # Errors
    /// Returns the message for the user if such a review is required to be incremental.
    pub fn extent(&self, whole: Option<&'static str>) -> Result<ReviewExtent, String> {
        match whole {
            Some(kind) if self.since_last_review => {
                Err(format!("--since-last-review is not possible with {kind}"))
            }
            _ if self.full_review => Ok(ReviewExtent::Full("requested")),
            Some(kind) => Ok(ReviewExtent::Full(kind)),
            None if self.since_last_review => Ok(ReviewExtent::SinceLastReview),
            None if self.enabled == OFF => Ok(ReviewExtent::Full("CR_AUTO_INCREMENTAL is 0")),
            None => {
                let limits = IncrementalLimits { files: self.max_files, lines: self.max_loc };
                Ok(ReviewExtent::Automatic(limits))
            }
        }
    }
}

/// The last review of a branch, in the directory of the cache.
#[derive(Debug)]
pub struct ReviewHistory {
    file: JsonFile<ReviewStates>,
    /// Branch and base, `<branch>:<base>`.
    key: String,
}

/// The newer side of a change.
#[derive(Debug, Clone, Copy)]
pub struct ChangeTip<'a> {
    /// Its newest commit.
    pub commit: &'a str,
    /// The files that are reviewed: those of the commit, or of a working tree.
    pub tree: &'a str,
    /// Common ancestor with the base, if it is known.
    pub base: Option<&'a str>,
}

impl ReviewHistory {
    /// `key`: branch and base, `<branch>:<base>`.
    pub fn new(cache_dir: &Path, key: String) -> Self {
        Self { file: JsonFile::private(cache_dir.join(REVIEW_STATE)).moving_malformed_aside(), key }
    }

    /// Decides which part of a change is reviewed. `dir`: directory in the repository.
    ///
    /// # Errors
    /// Returns the message for the user if an incremental review is required and impossible.
    pub fn decide(
        &self,
        git: &BlockingGit,
        dir: &Path,
        extent: ReviewExtent,
        tip: ChangeTip<'_>,
    ) -> Result<IncrementalDecision, String> {
        let last = self.last_review();
        decide(extent, last.as_ref(), tip.commit, |last| last_commit(git, dir, last, tip))
    }

    /// Returns the last review. A file that cannot be read contains none.
    fn last_review(&self) -> Option<CompletedReview> {
        let states = self.file.read().unwrap_or_else(|error| {
            print_error(format!("Warning: the previous review is unknown: {error}"));
            None
        });
        states.and_then(|mut states| states.reviews.remove(&self.key))
    }

    /// Records a complete review of a commit.
    ///
    /// # Errors
    /// Returns the message for the user.
    pub fn record(&self, commit: String) -> Result<CompletedReview, String> {
        let review = CompletedReview { sha: commit, completed_at: clock::now(), success: true };
        let written = self.file.update(|document| {
            document.get_or_insert_default().reviews.insert(self.key.clone(), review.clone());
            Ok::<_, JsonFileError>(())
        });
        written.map_err(|error| format!("the review is not recorded: {error}"))?;
        Ok(review)
    }
}

/// The file with the last reviews, and the branch.
#[derive(Debug, clap::Args)]
struct StateArgs {
    /// Directory of the cache, as finalize-cache prints it
    #[arg(long, value_name = "DIRECTORY")]
    cache_dir: PathBuf,
    /// Branch and base
    #[arg(long, value_name = "BRANCH:BASE")]
    key: String,
}

/// Arguments of `code-review auto-incremental`.
#[derive(Debug, clap::Args)]
pub struct AutoIncrementalArgs {
    #[command(flatten)]
    state: StateArgs,
    /// Newest commit of the change
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    diff_tip: String,
    /// Scope of the full review; one of the index or of some files is never reduced
    #[arg(long, value_name = "SCOPE", default_value = "", allow_hyphen_values = true)]
    original_scope: String,
    #[command(flatten)]
    extent: ExtentArgs,
    /// Reviews for pull requests are never incremental
    #[arg(long, value_enum, default_value = "local")]
    mode: IncrementalMode,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    workdir: PathBuf,
}

/// Arguments of `code-review review-state-read`.
#[derive(Debug, clap::Args)]
pub struct ReviewStateReadArgs {
    #[command(flatten)]
    state: StateArgs,
}

/// Arguments of `code-review review-state-write`.
#[derive(Debug, clap::Args)]
pub struct ReviewStateWriteArgs {
    #[command(flatten)]
    state: StateArgs,
    /// The reviewed commit
    #[arg(long, value_name = "REF", visible_alias = "ref")]
    sha: String,
    /// Directory in the repository
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    workdir: PathBuf,
}

impl StateArgs {
    fn history(&self) -> Result<ReviewHistory, String> {
        Ok(ReviewHistory::new(&super::absolute(&self.cache_dir)?, self.key.clone()))
    }
}

impl AutoIncrementalArgs {
    pub(super) fn run(&self) -> Result<String, String> {
        super::json(&self.decide()?)
    }

    fn decide(&self) -> Result<IncrementalDecision, String> {
        let extent = self.extent.extent(self.excluded())?;
        let git = BlockingGit::new()?;
        let tip = git
            .commit_of(&self.workdir, &self.diff_tip)
            .ok_or_else(|| format!("{} is not a commit of this repository", self.diff_tip))?;
        let tip = ChangeTip { commit: &tip, tree: &tip, base: None };
        self.state.history()?.decide(&git, &self.workdir, extent, tip)
    }

    /// Returns the kind of review that is never incremental.
    fn excluded(&self) -> Option<&'static str> {
        let mut scope = self.original_scope.split_whitespace();
        match self.mode {
            IncrementalMode::Github => Some(PULL_REQUESTS),
            IncrementalMode::Local if scope.clone().any(|part| matches!(part, "--cached" | "staged")) => {
                Some(STAGED)
            }
            IncrementalMode::Local if scope.any(|part| part == "--") => Some(SELECTED_FILES),
            IncrementalMode::Local => None,
        }
    }
}

fn last_commit(git: &BlockingGit, dir: &Path, last: &str, tip: ChangeTip<'_>) -> LastCommit {
    if last == tip.commit {
        return LastCommit::Same;
    }
    // The state is a file: its commit could be an option of git.
    let is_commit = git.commit_of(dir, last).as_deref() == Some(last);
    if !is_commit || !git.contains(dir, tip.commit, last) {
        return LastCommit::Unrelated;
    }
    if tip.base.is_some_and(|base| !git.contains(dir, last, base)) {
        return LastCommit::BeforeMerge;
    }
    let output = git.change_output(dir, last, &ChangeSide::Tree(tip.tree.to_owned()), 0, &[]);
    let change = output.as_deref().and_then(|output| ReviewedChange::parse(output).ok());
    match change.map(|change| DiffData::from(&change)) {
        Some(data) => {
            LastCommit::Ancestor { files: data.files_to_review.len() as u64, lines: data.total_loc }
        }
        // Larger than git's output may be.
        None => LastCommit::Ancestor { files: u64::MAX, lines: u64::MAX },
    }
}

impl ReviewStateReadArgs {
    /// Prints the last review of the branch, or an empty object.
    pub(super) fn run(&self) -> Result<String, String> {
        match self.state.history()?.last_review() {
            Some(review) => super::json(&review),
            None => Ok("{}".to_owned()),
        }
    }
}

impl ReviewStateWriteArgs {
    /// Records a complete review, and prints it.
    pub(super) fn run(&self) -> Result<String, String> {
        let git = BlockingGit::new()?;
        let sha = git
            .commit_of(&self.workdir, &self.sha)
            .ok_or_else(|| format!("{} is not a commit of this repository", self.sha))?;
        super::json(&self.state.history()?.record(sha)?)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use loopgate_testkit::git::git;

    use super::*;

    #[derive(Debug, Parser)]
    enum IncrementalCli {
        Decide(AutoIncrementalArgs),
        Read(ReviewStateReadArgs),
        Write(ReviewStateWriteArgs),
    }

    struct IncrementalFixture(tempfile::TempDir);

    impl IncrementalFixture {
        fn new() -> Self {
            let fixture = Self(tempfile::tempdir().unwrap());
            fixture.git(&["init", "--quiet", "--initial-branch=main"]);
            fixture.commit("1\n");
            fixture
        }

        fn git(&self, args: &[&str]) -> String {
            git(self.0.path(), args).unwrap().trim().to_owned()
        }

        fn commit(&self, text: &str) -> String {
            std::fs::write(self.0.path().join("a.txt"), text).unwrap();
            self.git(&["add", "a.txt"]);
            self.git(&["commit", "--quiet", "-m", "Change"]);
            self.git(&["rev-parse", "HEAD"])
        }

        fn run(&self, command: &str, args: &[&str]) -> Result<String, String> {
            let (cache, dir) = (self.0.path().join("cache"), self.0.path().display().to_string());
            let mut all = vec!["x", command, "--cache-dir", cache.to_str().unwrap(), "--key", "main:main"];
            if command != "read" {
                all.extend(["--workdir", &dir]);
            }
            match IncrementalCli::try_parse_from(all.iter().chain(args)).map_err(|error| error.to_string())? {
                IncrementalCli::Decide(args) => args.decide().map(|decision| {
                    format!("{} {}", decision.diff_scope.unwrap_or_default(), decision.review_mode_line)
                }),
                IncrementalCli::Read(args) => args.run(),
                IncrementalCli::Write(args) => args.run(),
            }
        }
    }

    // PR-23
    #[test]
    fn commits_since_the_last_review_are_reviewed() {
        let fixture = IncrementalFixture::new();
        let full = |reason: &str| Ok(format!(" Review mode: full ({reason})"));
        assert_eq!(fixture.run("decide", &[]), full("no previous review"));
        assert!(fixture.run("decide", &["--since-last-review"]).unwrap_err().contains("no previous review"));
        assert_eq!(fixture.run("read", &[]), Ok("{}".to_owned()));
        let first = fixture.git(&["rev-parse", "HEAD"]);
        let written = fixture.run("write", &["--ref", "HEAD"]).unwrap();
        assert!(written.contains(&first) && fixture.run("read", &[]) == Ok(written));
        assert_eq!(fixture.run("decide", &[]), full("no new commits since the previous review"));
        let second = fixture.commit("1\n2\n");
        let incremental = Ok(format!("{first}...{second} Review mode: incremental (since {})", &first[..8]));
        assert_eq!(fixture.run("decide", &[]), incremental);
        assert_eq!(fixture.run("decide", &["--since-last-review"]), incremental);
        assert_eq!(fixture.run("decide", &["--full-review"]), full("requested"));
        assert_eq!(
            fixture.run("decide", &["--max-loc", "0"]),
            full("1 changed lines since the previous review, more than 0")
        );
        assert_eq!(fixture.run("decide", &["--enabled", "0"]), full("CR_AUTO_INCREMENTAL is 0"));
        assert_eq!(fixture.run("decide", &["--mode", "github"]), full("reviews of pull requests"));
        assert_eq!(fixture.run("decide", &["--original-scope=--cached"]), full("staged changes"));
        assert!(fixture.run("decide", &["--original-scope=--cached", "--since-last-review"]).is_err());
        assert!(fixture.run("decide", &["--since-last-review", "--full-review"]).is_err());
        // After a rebase, the reviewed commit is in another history.
        fixture.run("write", &["--sha", &second]).unwrap();
        fixture.git(&["commit", "--quiet", "--amend", "-m", "Other"]);
        assert_eq!(fixture.run("decide", &[]), full("rebase since the previous review"));
        assert!(fixture.run("decide", &["--since-last-review"]).unwrap_err().contains("rebase"));
        // A malformed state contains no review, and is replaced.
        let state = fixture.0.path().join("cache/review_state.json");
        std::fs::write(
            &state,
            r#"{"reviews": {"main:main": {"sha": "--output=x", "success": true, "completed_at": ""}}}"#,
        )
        .unwrap();
        assert_eq!(fixture.run("decide", &[]), full("rebase since the previous review"));
        std::fs::write(&state, "[]").unwrap();
        assert_eq!(fixture.run("decide", &[]), full("no previous review"));
        fixture.run("write", &["--sha", "HEAD"]).unwrap();
        assert!(fixture.run("write", &["--sha", "missing"]).is_err());
        assert_eq!(fixture.run("decide", &[]), full("no new commits since the previous review"));
    }
}
