//! Operations that the user requests in a checkout: switch, commit, push, pull, and the comparison with other
//! branches. `status` only reads.

use std::path::Path;

use super::outgoing::listing;
use super::saved::EMPTY_TREE;
use super::{ChangedFiles, DropPolicy, Git, GitError, LfsGap, checked, finish, time};

/// The branches of the base repository that [`Git::sync_status`] compares with, in order of preference.
const TRUNKS: [&str; 2] = ["main", "master"];

/// An operation that a client can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Report HEAD and the changed files.
    Status,
    /// Switch to a branch, and create it when it does not exist.
    Branch,
    /// Stage and commit all changes below the directory.
    Commit,
    /// Push the branch.
    Push,
    /// Pull the branch from where it is pushed to.
    Pull,
    /// List the changes of the branch since its merge base with another one.
    BranchDiff,
    /// Count the commits that the branch is ahead of and behind the trunk.
    SyncStatus,
}

impl Action {
    pub const ALL: [Self; 7] = [
        Self::Status,
        Self::Branch,
        Self::Commit,
        Self::Push,
        Self::Pull,
        Self::BranchDiff,
        Self::SyncStatus,
    ];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Branch => "branch",
            Self::Commit => "commit",
            Self::Push => "push",
            Self::Pull => "pull",
            Self::BranchDiff => "branch-diff",
            Self::SyncStatus => "sync-status",
        }
    }

    /// Parses the name in a request.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// A branch name derived from user input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchName(String);

impl SwitchName {
    /// Replaces every character outside `[A-Za-z0-9_/-]` by `-`. Returns `None` when the result is not a
    /// valid name or would be parsed as an option.
    #[must_use]
    pub fn of(typed: &str) -> Option<Self> {
        let replace = |c: char| if c.is_ascii_alphanumeric() || "_/-".contains(c) { c } else { '-' };
        let name: String = typed.chars().map(replace).collect();
        let valid =
            !name.is_empty() && !name.starts_with(['-', '/']) && !name.ends_with('/') && !name.contains("//");
        valid.then_some(Self(name))
    }

    /// Returns the branch name, without `refs/heads/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether a text is usable as the name of a remote branch: not an option, without a colon as in a
/// refspec, and without whitespace.
#[must_use]
pub fn is_base_name(text: &str) -> bool {
    !text.starts_with('-') && !text.contains(|c: char| c == ':' || c.is_whitespace() || c.is_control())
}

/// The changes of a branch since its merge base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchDiff {
    /// Name of the branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The changed files; `staged` is always empty.
    pub files: ChangedFiles,
}

/// The distance of a branch from the trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncStatus {
    /// Name of the branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The trunk as `<remote>/<name>`; `None` when the base repository has neither `main` nor `master`.
    pub trunk: Option<String>,
    /// Commits on the branch that are not on the trunk.
    pub ahead: u64,
    /// Commits on the trunk that are not on the branch.
    pub behind: u64,
}

/// Parses the output of `git diff --name-status -z`.
#[must_use]
pub fn parse_name_status(printed: &[u8]) -> ChangedFiles {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut files = ChangedFiles::default();
    while let Some(letter) = fields.next().and_then(|field| field.first()) {
        let moved = matches!(letter, b'R' | b'C');
        // A rename or copy has two paths, the old one first.
        let Some(path) = fields.nth(usize::from(moved)) else { break };
        let list = match letter {
            b'A' => &mut files.created,
            b'D' => &mut files.deleted,
            _ => &mut files.modified,
        };
        list.push(String::from_utf8_lossy(path).into_owned());
    }
    files
}

impl Git {
    /// Switches to a branch. Creates it at HEAD when it does not exist.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when local changes would be overwritten.
    pub async fn switch_to(&self, directory: &Path, name: &SwitchName) -> Result<(), GitError> {
        let name = name.as_str();
        let full = format!("refs/heads/{name}");
        let args = if self.run_predicate(directory, &["show-ref", "--verify", "--quiet", &full]).await? {
            // The dashes keep git from reading the name as that of a file.
            ["checkout", name, "--"]
        } else if self.current_branch(directory).await?.as_deref() == Some(name) {
            // An unborn branch: HEAD refers to it, but it has no commit and therefore no ref.
            return Ok(());
        } else {
            ["checkout", "-b", name]
        };
        // A writer, since `post-checkout` hooks may run and an interrupted switch would leave a mixed working
        // tree.
        self.change(directory, &args, time::USER_OPERATION).await.map(drop)
    }

    /// Stages and commits all changes below the directory. Returns the abbreviated hash of the commit.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when there is nothing to commit. Changes that were staged stay staged.
    pub async fn commit_below(&self, directory: &Path, message: &str) -> Result<String, GitError> {
        let prefix = self.repository(directory).await?.prefix.clone();
        // Git runs at the root of the working tree, so the directory is named relative to it.
        let below = if prefix.as_os_str().is_empty() { Path::new(".") } else { &prefix };
        let args = ["--literal-pathspecs", "add", "--"];
        let command = self.stager(directory).await?.session().args(args).arg(below);
        let staged = checked(
            &args,
            finish(&command, &args, self.idle_limit(time::USER_OPERATION), DropPolicy::Complete).await?,
        );
        self.with_hint(directory, staged).await?;
        self.change(directory, &["commit", "-m", message], time::USER_OPERATION).await?;
        self.text(directory, &["rev-parse", "--short", "HEAD"], time::LOCAL).await
    }

    /// Pushes the current branch and sets its upstream. Returns the name of the branch.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when HEAD is detached, or when others could not check the branch out because it refers
    /// to commits of submodules or to content of Git LFS that only this machine has.
    pub async fn push_here(&self, directory: &Path) -> Result<String, GitError> {
        let branch = self.require_branch(directory).await?;
        let known = self.pushed_commits(directory).await?;
        let base = known.first().map_or(EMPTY_TREE, String::as_str);
        self.ensure_submodules_published(directory, base).await?;
        // Before the push, as the hook of git-lfs does it.
        let gap = match branch.parse() {
            Ok(name) => self.upload_large_files(directory, &name, &known).await?,
            Err(_) => None,
        };
        if let Some(gap @ LfsGap::NotUploaded(_)) = gap {
            return Err(GitError::LargeFiles(gap));
        }
        let push = self.remotes(directory).await?.push;
        let full = format!("refs/heads/{branch}");
        let refspec = format!("{full}:{full}");
        self.change(directory, &["push", &push, &refspec, "--set-upstream"], time::USER_OPERATION).await?;
        Ok(branch)
    }

    /// Returns the commits on which those of HEAD that no remote is known to have are based; HEAD itself if a remote has it,
    /// and none if no remote has any.
    async fn pushed_commits(&self, directory: &Path) -> Result<Vec<String>, GitError> {
        let args = ["rev-list", "--boundary", "HEAD", "--not", "--remotes"];
        // Every commit, if no remote has any.
        let printed = listing(self.reader(directory).await?.args(args), "rev-list").await?;
        if printed.is_empty() {
            return Ok(vec![self.head(directory).await?]);
        }
        let printed = String::from_utf8_lossy(&printed);
        Ok(printed.lines().filter_map(|line| line.strip_prefix('-')).map(str::to_owned).collect())
    }

    /// Pulls the current branch from where it is pushed to, by merge or rebase as the user configured. Returns the name
    /// of the branch.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when HEAD is detached. Conflicts stay in the working tree.
    pub async fn pull_here(&self, directory: &Path) -> Result<String, GitError> {
        let branch = self.require_branch(directory).await?;
        let remotes = self.remotes(directory).await?;
        let full = format!("refs/heads/{branch}");
        self.change(directory, &["pull", remotes.push_source(), &full], time::USER_OPERATION).await?;
        Ok(branch)
    }

    /// Lists the changes since the merge base with a branch of the base repository, as of the last fetch.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the clone has no remote-tracking branch of this name.
    pub async fn branch_diff(&self, directory: &Path, base: &str) -> Result<BranchDiff, GitError> {
        let range = format!("{}...HEAD", self.remotes(directory).await?.base_ref(base));
        let args = [
            "diff",
            "--name-status",
            "-z",
            "--no-relative",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--end-of-options",
            &range,
            "--",
        ];
        let diff = async { checked(&args, self.output(directory, &args, time::LOCAL).await?) };
        let (branch, diff) = tokio::try_join!(self.current_branch(directory), diff)?;
        Ok(BranchDiff { branch, files: parse_name_status(&diff.stdout) })
    }

    /// Fetches, and counts the commits between the branch and the trunk of the base repository.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote cannot be reached.
    pub async fn sync_status(&self, directory: &Path) -> Result<SyncStatus, GitError> {
        self.fetch(directory).await?;
        let remotes = self.remotes(directory).await?;
        let trunks = TRUNKS.map(|name| remotes.base_ref(name));
        let [main, master] = &trunks;
        let args = ["for-each-ref", "--format=%(refname)", main, master];
        let refs = async { self.text(directory, &args, time::LOCAL).await };
        let (branch, refs) = tokio::try_join!(self.current_branch(directory), refs)?;
        // The pattern `origin/main` of `for-each-ref` also matches `origin/main/x`.
        let Some(trunk) = trunks.iter().find(|trunk| refs.lines().any(|line| line == *trunk)) else {
            return Ok(SyncStatus { branch, trunk: None, ahead: 0, behind: 0 });
        };
        let (ahead, behind) = match self.ahead_behind(directory, "HEAD", trunk).await {
            // On an unborn branch, HEAD does not resolve; the branch is then behind by the whole trunk.
            Err(GitError::Failed { .. }) if self.commit_of(directory, "HEAD").await?.is_none() => {
                (0, self.count(directory, trunk).await?)
            }
            counts => counts?,
        };
        let trunk = trunk.strip_prefix("refs/remotes/").map(str::to_owned);
        Ok(SyncStatus { branch, trunk, ahead, behind })
    }

    async fn require_branch(&self, directory: &Path) -> Result<String, GitError> {
        self.current_branch(directory).await?.ok_or(GitError::Detached)
    }

    async fn count(&self, directory: &Path, revision: &str) -> Result<u64, GitError> {
        let args = ["rev-list", "--count", "--end-of-options", revision];
        let text = self.text(directory, &args, time::LOCAL).await?;
        text.parse().map_err(|_| GitError::Unreadable("rev-list"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_action_is_found_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
        assert_eq!(Action::parse("explode"), None);
    }

    #[test]
    fn names_are_sanitized_or_rejected() {
        let of = |typed: &str| SwitchName::of(typed).map(|name| name.0);
        assert_eq!(of("feature/AB 1.2").as_deref(), Some("feature/AB-1-2"));
        assert_eq!(of("größe").as_deref(), Some("gr--e"));
        for rejected in ["", "-x", "--force", "/x", "x/", "a//b", " x", "..."] {
            assert_eq!(of(rejected), None, "{rejected:?}");
        }
    }

    #[test]
    fn base_is_a_single_name() {
        assert!(is_base_name("main") && is_base_name("release/1.2") && is_base_name("größe#1"));
        for rejected in ["-x", "a:b", "a b", "a\nb", "a\0b"] {
            assert!(!is_base_name(rejected), "{rejected:?}");
        }
    }

    proptest! {
        #[test]
        fn branch_name_is_never_parsed_as_an_option(typed in "(?s).{0,30}") {
            if let Some(name) = SwitchName::of(&typed) {
                prop_assert!(name.0.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
                prop_assert!(name.0.bytes().all(|b| b.is_ascii_alphanumeric() || b"_/-".contains(&b)));
            }
        }

        #[test]
        fn every_file_is_listed_once(
            files in proptest::collection::vec(("[AMDTRC]", "[^\0]{1,20}", "[^\0]{1,20}"), 0..10)
        ) {
            let mut printed = String::new();
            let mut expected = ChangedFiles::default();
            for (letter, path, old) in &files {
                printed += letter;
                if matches!(letter.as_str(), "R" | "C") {
                    printed += &format!("087\0{old}");
                }
                printed += &format!("\0{path}\0");
                let list = match letter.as_str() {
                    "A" => &mut expected.created,
                    "D" => &mut expected.deleted,
                    _ => &mut expected.modified,
                };
                list.push(path.clone());
            }
            prop_assert_eq!(parse_name_status(printed.as_bytes()), expected);
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(printed in proptest::collection::vec(any::<u8>(), 0..200)) {
            let fields = printed.split(|byte| *byte == 0).count();
            let ChangedFiles { modified, created, deleted, .. } = parse_name_status(&printed);
            prop_assert!(modified.len() + created.len() + deleted.len() <= fields);
        }
    }
}
