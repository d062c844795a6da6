//! What a person asks of git in a checkout: switching, committing, pushing, pulling, and how far
//! the branch is from others. Looking is `status`.

use std::path::Path;

use super::{CallerPresence, ChangedFiles, Git, GitError, checked, finish, time};

/// The branches of `origin` that a checkout is held against, the preferred one first.
const TRUNKS: [&str; 2] = ["refs/remotes/origin/main", "refs/remotes/origin/master"];

/// One of the things that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Where HEAD is and what changed.
    Status,
    /// Switch to a branch, made when it is new.
    Branch,
    /// Stage and commit everything below the directory.
    Commit,
    /// Send the branch to `origin`.
    Push,
    /// Get the branch from `origin`.
    Pull,
    /// What the branch changed since it left another one.
    BranchDiff,
    /// How far the branch is from the trunk.
    SyncStatus,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 7] = [
        Self::Status,
        Self::Branch,
        Self::Commit,
        Self::Push,
        Self::Pull,
        Self::BranchDiff,
        Self::SyncStatus,
    ];

    /// Its name as it travels.
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

    /// The action of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// Name of a branch to switch to, made of what a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchName(String);

impl SwitchName {
    /// Every character outside `[A-Za-z0-9_/-]` becomes `-`; `None` when the result is no name, or
    /// would be read as an option.
    #[must_use]
    pub fn of(typed: &str) -> Option<Self> {
        let kept = |c: char| if c.is_ascii_alphanumeric() || "_/-".contains(c) { c } else { '-' };
        let name: String = typed.chars().map(kept).collect();
        let valid =
            !name.is_empty() && !name.starts_with(['-', '/']) && !name.ends_with('/') && !name.contains("//");
        valid.then_some(Self(name))
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text names a branch of a remote: nothing that git would read as an option, as another
/// part of its command, or as two names.
#[must_use]
pub fn is_base_name(text: &str) -> bool {
    !text.starts_with('-') && !text.contains(|c: char| c == ':' || c.is_whitespace() || c.is_control())
}

/// What a branch changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchDiff {
    /// The branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The files; nothing counts as staged.
    pub files: ChangedFiles,
}

/// How far a branch is from the trunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncStatus {
    /// The branch; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The trunk as `origin/<name>`; `None` when the remote has none that is known.
    pub trunk: Option<String>,
    /// Commits that the trunk lacks.
    pub ahead: u64,
    /// Commits that the branch lacks.
    pub behind: u64,
}

/// Reads `git diff --name-status -z`.
#[must_use]
pub fn parse_name_status(printed: &[u8]) -> ChangedFiles {
    let mut fields = printed.split(|byte| *byte == 0);
    let mut files = ChangedFiles::default();
    while let Some(letter) = fields.next().and_then(|field| field.first()) {
        let moved = matches!(letter, b'R' | b'C');
        // The old name comes first.
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
    /// Switches to a branch; a new one begins at HEAD.
    ///
    /// # Errors
    /// [`GitError`], for example when local changes are in the way.
    pub async fn switch_to(&self, directory: &Path, name: &SwitchName) -> Result<(), GitError> {
        let name = name.as_str();
        let full = format!("refs/heads/{name}");
        let args = if self.says_yes(directory, &["show-ref", "--verify", "--quiet", &full]).await? {
            // The dashes say that it is no file.
            ["checkout", name, "--"]
        } else if self.current_branch(directory).await?.as_deref() == Some(name) {
            // Checked out before its first commit.
            return Ok(());
        } else {
            ["checkout", "-b", name]
        };
        // Hooks may run, and an interrupted switch would leave a broken working tree.
        self.change(directory, &args, time::ASKED_FOR).await.map(drop)
    }

    /// Stages and commits everything below the directory; answers the short hash.
    ///
    /// # Errors
    /// [`GitError`], also when there is nothing to commit; what was staged stays so.
    pub async fn commit_below(&self, directory: &Path, message: &str) -> Result<String, GitError> {
        let prefix = self.repository(directory).await?.prefix.clone();
        let below = if prefix.as_os_str().is_empty() { Path::new(".") } else { &prefix };
        let args = ["--literal-pathspecs", "add", "--"];
        let command = self.stager(directory).await?.session().args(args).arg(below);
        let done = checked(&args, finish(&command, &args, time::ASKED_FOR, CallerPresence::MayLeave).await?);
        self.with_hint(directory, done).await?;
        self.change(directory, &["commit", "-m", message], time::ASKED_FOR).await?;
        self.text(directory, &["rev-parse", "--short", "HEAD"], time::LOCAL).await
    }

    /// Sends the branch that is checked out to `origin` and makes it the upstream. Answers its
    /// name.
    ///
    /// # Errors
    /// [`GitError`], also when HEAD is detached.
    pub async fn push_here(&self, directory: &Path) -> Result<String, GitError> {
        let branch = self.branch_or_refusal(directory).await?;
        let full = format!("refs/heads/{branch}");
        let refspec = format!("{full}:{full}");
        self.change(directory, &["push", "origin", &refspec, "--set-upstream"], time::ASKED_FOR).await?;
        Ok(branch)
    }

    /// Gets the branch that is checked out from `origin`, as the user's configuration says. Answers
    /// its name.
    ///
    /// # Errors
    /// [`GitError`], also when HEAD is detached; conflicts stay in the working tree.
    pub async fn pull_here(&self, directory: &Path) -> Result<String, GitError> {
        let branch = self.branch_or_refusal(directory).await?;
        let full = format!("refs/heads/{branch}");
        self.change(directory, &["pull", "origin", &full], time::ASKED_FOR).await?;
        Ok(branch)
    }

    /// What changed since the branch left a branch of `origin`; nothing is fetched.
    ///
    /// # Errors
    /// [`GitError`], for example when the clone does not know that branch.
    pub async fn branch_diff(&self, directory: &Path, base: &str) -> Result<BranchDiff, GitError> {
        let range = format!("refs/remotes/origin/{base}...HEAD");
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

    /// Gets what is new, and counts how far the branch is from the trunk of `origin`.
    ///
    /// # Errors
    /// [`GitError`], for example without a network.
    pub async fn sync_status(&self, directory: &Path) -> Result<SyncStatus, GitError> {
        self.fetch(directory).await?;
        let [main, master] = TRUNKS;
        let args = ["for-each-ref", "--format=%(refname)", main, master];
        let known = async { self.text(directory, &args, time::LOCAL).await };
        let (branch, known) = tokio::try_join!(self.current_branch(directory), known)?;
        // A pattern also matches what is below it.
        let Some(trunk) = TRUNKS.into_iter().find(|trunk| known.lines().any(|line| line == *trunk)) else {
            return Ok(SyncStatus { branch, trunk: None, ahead: 0, behind: 0 });
        };
        let (ahead, behind) = match self.ahead_behind(directory, "HEAD", trunk).await {
            Err(GitError::Failed { .. }) if self.commit_of(directory, "HEAD").await?.is_none() => {
                (0, self.count(directory, trunk).await?)
            }
            counted => counted?,
        };
        let trunk = trunk.strip_prefix("refs/remotes/").map(str::to_owned);
        Ok(SyncStatus { branch, trunk, ahead, behind })
    }

    async fn branch_or_refusal(&self, directory: &Path) -> Result<String, GitError> {
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
            assert_eq!(Action::named(action.as_str()), Some(action));
        }
        assert_eq!(Action::named("explode"), None);
    }

    #[test]
    fn names_are_made_safe_or_refused() {
        let of = |typed: &str| SwitchName::of(typed).map(|name| name.0);
        assert_eq!(of("feature/AB 1.2").as_deref(), Some("feature/AB-1-2"));
        assert_eq!(of("größe").as_deref(), Some("gr--e"));
        for refused in ["", "-x", "--force", "/x", "x/", "a//b", " x", "..."] {
            assert_eq!(of(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn base_is_one_name() {
        assert!(is_base_name("main") && is_base_name("release/1.2") && is_base_name("größe#1"));
        for refused in ["-x", "a:b", "a b", "a\nb", "a\0b"] {
            assert!(!is_base_name(refused), "{refused:?}");
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
