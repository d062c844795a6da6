//! The project that judges evaluate: the change that judges of code read, and the commit before it. Settings that decide
//! how judges judge are read from that commit, because a change must not choose its own judges.

use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use serde::Deserialize;

use super::Category;
use crate::config_env::ConfigEnv;
use crate::project_git::BlockingGit;
use crate::repositories::project_root;
use crate::variables::{REPO_MAP, START_SHA};

/// Where the runtime describes the code that `EVALUATE_CODE` is about, relative to the work directory.
const CODE_CONTEXT: &str = ".loopgate/context/code-context.json";
/// Start of a change whose start is not known.
const BEFORE_LAST: &str = "HEAD~1";

/// A project and its change.
pub struct JudgedProject {
    root: PathBuf,
    git: BlockingGit,
    change: JudgedChange,
    /// Commit from which settings are read; `None` outside of a repository with commits.
    base: Option<String>,
}

/// The change that judges of code read.
struct JudgedChange {
    /// Commit, or an expression that git resolves to one.
    start: String,
    /// Commit; `None` for the current files.
    end: Option<String>,
    warnings: Vec<String>,
}

/// The members of [`CODE_CONTEXT`] that locate the change.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CodeLocation {
    parent_branch_name: Option<String>,
    repo: BranchLocation,
    pull_request: PullRequestLocation,
    detected: DetectedLocation,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BranchLocation {
    branch: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PullRequestLocation {
    head_branch: Option<String>,
    base_branch: Option<String>,
    head_sha: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DetectedLocation {
    head_sha: Option<String>,
}

impl JudgedProject {
    /// Finds the project of a work directory. `root`: the project, if it is known. Waits for git with an async runtime of
    /// its own, so it must not be called from within one.
    ///
    /// # Errors
    /// Returns the reason for which the settings of the loop or git cannot be used.
    pub fn find(workdir: &Path, root: Option<&Path>, category: Category) -> Result<Self, String> {
        let current =
            std::env::current_dir().map_err(|error| format!("there is no current directory: {error}"))?;
        let root = root.map_or_else(|| project_root(&current, workdir), Path::to_owned);
        let git = BlockingGit::new()?;
        let settings =
            ConfigEnv::load(workdir).map_err(|error| format!("the settings cannot be read: {error}"))?;
        let change = JudgedChange::find(&git, &root, workdir, &settings);
        // Before the change; a plan or requirements are no change, so that the last commit decides about them.
        let has_change = category == Category::Code || settings.get(START_SHA).is_some();
        let base = has_change.then(|| git.known_commit(&root, &change.start)).flatten();
        let base = base.or_else(|| git.head(&root));
        Ok(Self { root, git, change, base })
    }

    /// Returns the change as a patch, with files that are not committed if it has no last commit. Adds warnings about
    /// what it does not contain.
    ///
    /// # Errors
    /// Returns the reason for which there is no patch.
    pub fn patch(&self, warnings: &mut Vec<String>) -> Result<String, String> {
        let JudgedChange { start, end, warnings: of_change } = &self.change;
        // The settings are in the working tree: an option of git in them must not reach git.
        if start.starts_with('-') {
            return Err(format!("the start of the loop is not a commit: {start}"));
        }
        let end = end.clone().or_else(|| self.git.snapshot(&self.root));
        let patch = end.and_then(|end| self.git.patch_between(&self.root, start, &end));
        let patch =
            patch.ok_or_else(|| format!("git cannot compare {} with {start}", self.root.display()))?;
        warnings.extend(of_change.iter().cloned());
        Ok(if patch.is_empty() { format!("There are no changes since {start}.") } else { patch })
    }

    /// Reads a file with settings of the project, below its directory of Loopgate. In a repository, the file of the commit
    /// before the change counts, and a file that is only in the working tree adds a warning.
    ///
    /// # Errors
    /// Returns the reason for which a file that exists cannot be read.
    pub fn setting(&self, path: &str, warnings: &mut Vec<String>) -> Result<Option<String>, String> {
        let path = format!("{STATE_DIR}/{path}");
        let file = self.root.join(&path);
        match &self.base {
            Some(base) => {
                let text = self.git.file_at(&self.root, base, &path);
                if text.is_none() && untrusted::is_file(&file) {
                    warnings.push(uncommitted(&path, base));
                }
                Ok(text)
            }
            None => match untrusted::read_text(&file) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(format!("the file cannot be read: {error}")),
            },
        }
    }

    /// Lists the Markdown files directly in a directory of settings, by name, as [`Self::setting`] reads them. `others`:
    /// names of files that are no settings.
    pub fn setting_names(&self, directory: &str, others: &[&str], warnings: &mut Vec<String>) -> Vec<String> {
        let path = format!("{STATE_DIR}/{directory}");
        let entries = untrusted::entries(&self.root.join(&path)).into_iter();
        let in_files = entries.filter_map(|entry| entry.name.into_string().ok());
        let is_setting = |name: &String| is_markdown(name) && !others.contains(&name.as_str());
        let in_files: Vec<String> = in_files.filter(is_setting).collect();
        let mut names = match &self.base {
            Some(base) => {
                let names = self.git.names_at(&self.root, base, &path).unwrap_or_default();
                for name in in_files.iter().filter(|name| !names.contains(name)) {
                    warnings.push(uncommitted(&format!("{path}/{name}"), base));
                }
                names
            }
            None => in_files,
        };
        names.retain(is_setting);
        names.sort();
        names
    }

    /// Returns whether a directory is in the working tree, where the author of a change can write to it.
    pub fn has_in_working_tree(&self, directory: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let (Some(root), Some(directory)) = (real(&self.root), real(directory)) else { return false };
        self.base.is_some() && directory.starts_with(root)
    }

    /// Returns the directory of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl JudgedChange {
    fn find(git: &BlockingGit, root: &Path, workdir: &Path, settings: &ConfigEnv) -> Self {
        let mut warnings = Vec::new();
        if settings.get(REPO_MAP).is_some() {
            warnings.push("git_diff has no changes of the other repositories of the loop".to_owned());
        }
        if let Some(start) = settings.get(START_SHA) {
            return Self { start: start.to_owned(), end: None, warnings };
        }
        let location: Option<CodeLocation> = untrusted::read_json(&workdir.join(CODE_CONTEXT));
        let located = location.and_then(|location| location.commits(git, root));
        match located {
            Some((start, end)) if start != end => Self { start, end: Some(end), warnings },
            // The branch has no commits of its own.
            Some((_, end)) => {
                let start = format!("{end}~1");
                warnings.push(format!("git_diff has the last commit only, because {end} is on its base"));
                Self { start, end: Some(end), warnings }
            }
            None => {
                warnings.push(format!(
                    "git_diff has the changes since {BEFORE_LAST}, because the start of the loop is not known"
                ));
                Self { start: BEFORE_LAST.to_owned(), end: None, warnings }
            }
        }
    }
}

impl CodeLocation {
    /// Returns the commit at which the change left its base, and its last commit. The working tree of a user's clone is no
    /// part of a loop's change.
    fn commits(self, git: &BlockingGit, root: &Path) -> Option<(String, String)> {
        let Self { parent_branch_name, repo, pull_request, detected } = self;
        let first = |names: Vec<Option<String>>| {
            names.into_iter().flatten().find_map(|name| git.known_commit(root, &name))
        };
        let PullRequestLocation { head_branch, base_branch, head_sha } = pull_request;
        let end = first(vec![head_sha, head_branch, parent_branch_name, detected.head_sha])?;
        let at_origin = |name: &Option<String>| name.as_ref().map(|name| format!("origin/{name}"));
        let base = first(vec![at_origin(&base_branch), base_branch, at_origin(&repo.branch), repo.branch])?;
        Some((git.merge_base(root, &base, &end)?, end))
    }
}

fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "md")
}

fn uncommitted(path: &str, base: &str) -> String {
    let commit: String = base.chars().take(12).collect();
    format!(
        "{path} is ignored, because commit {commit}, which was before the change, does not contain it; commit it with \
         git add --force"
    )
}

#[cfg(test)]
mod tests {
    use loopgate_testkit::git::git;

    use super::*;

    struct Fixture {
        directory: tempfile::TempDir,
        workdir: PathBuf,
    }

    impl Fixture {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            git(directory.path(), &["init", "--quiet", "--initial-branch=main"]).unwrap();
            let workdir = directory.path().join(".loopgate/work");
            let fixture = Self { workdir, directory };
            fixture.write(".gitignore", ".loopgate\n");
            fixture
        }

        fn root(&self) -> &Path {
            self.directory.path()
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        /// Commits `a.txt` with this text, and returns the commit.
        fn commit(&self, text: &str) -> String {
            self.write("a.txt", text);
            git(self.root(), &["add", "-A"]).unwrap();
            let args = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"];
            git(self.root(), &args).unwrap();
            git(self.root(), &["rev-parse", "HEAD"]).unwrap().trim().to_owned()
        }

        fn start(&self, value: &str) {
            let mut settings = ConfigEnv::default();
            settings.set(START_SHA, value);
            settings.save(&self.workdir).unwrap();
        }

        fn project(&self, category: Category) -> JudgedProject {
            JudgedProject::find(&self.workdir, Some(self.root()), category).unwrap()
        }

        fn patch(&self) -> Result<(String, Vec<String>), String> {
            let mut warnings = Vec::new();
            let patch = self.project(Category::Code).patch(&mut warnings)?;
            Ok((patch, warnings))
        }
    }

    #[test]
    fn patch_has_all_changes_since_the_start_of_the_loop() {
        let fixture = Fixture::new();
        fixture.start(&fixture.commit("one\n"));
        fixture.commit("two\n");
        fixture.commit("three\n");
        fixture.write("new.txt", "not committed\n");
        let (patch, warnings) = fixture.patch().unwrap();
        for line in ["\n-one", "\n+three", "\n+not committed"] {
            assert!(patch.contains(line), "{patch}");
        }
        assert!(warnings.is_empty(), "{warnings:?}");
        fixture.start("");
        let (patch, warnings) = fixture.patch().unwrap();
        assert!(patch.contains("\n-two") && patch.contains("\n+not committed"), "{patch}");
        assert!(
            warnings[0].contains("since HEAD~1, because the start of the loop is not known"),
            "{warnings:?}"
        );
        fixture.start("--output=x");
        assert!(fixture.patch().unwrap_err().contains("is not a commit: --output=x"));
        fixture.start("0000000000000000000000000000000000000000");
        assert!(fixture.patch().unwrap_err().contains("git cannot compare"));
    }

    #[test]
    fn patch_of_a_branch_begins_at_its_base_and_has_no_files_of_the_clone() {
        let fixture = Fixture::new();
        fixture.commit("one\n");
        git(fixture.root(), &["switch", "--quiet", "--create", "feature"]).unwrap();
        fixture.commit("two\n");
        let head = fixture.commit("three\n");
        git(fixture.root(), &["switch", "--quiet", "main"]).unwrap();
        fixture.write("notes.txt", "of the user\n");
        for located in [
            format!(
                r#"{{"schemaVersion": 1, "repo": {{"branch": "main"}}, "pullRequest": {{"headSha": "{head}"}}}}"#
            ),
            r#"{"parentBranchName": "feature", "repo": {"fullName": "acme/shop", "branch": "main"}}"#
                .to_owned(),
        ] {
            fixture.write(".loopgate/work/.loopgate/context/code-context.json", &located);
            let (patch, warnings) = fixture.patch().unwrap();
            assert!(patch.contains("\n-one") && patch.contains("\n+three"), "{patch}");
            assert!(!patch.contains("of the user") && warnings.is_empty(), "{patch} {warnings:?}");
        }
        // A branch without commits of its own.
        let located = r#"{"parentBranchName": "feature", "repo": {"branch": "feature"}}"#;
        fixture.write(".loopgate/work/.loopgate/context/code-context.json", located);
        let (patch, warnings) = fixture.patch().unwrap();
        assert!(patch.contains("\n-two") && warnings[0].contains("the last commit only"), "{patch}");
    }

    #[test]
    fn settings_are_those_before_the_change() {
        let fixture = Fixture::new();
        fixture.write(".gitignore", "");
        fixture.write(".loopgate/settings/x.json", "before");
        fixture.write(".loopgate/judges/a.md", "a");
        fixture.start(&fixture.commit("one\n"));
        fixture.write(".loopgate/settings/x.json", "changed");
        fixture.write(".loopgate/judges/b.md", "b");
        fixture.commit("two\n");
        for category in [Category::Code, Category::Plan] {
            let (project, mut warnings) = (fixture.project(category), Vec::new());
            assert_eq!(project.setting("settings/x.json", &mut warnings), Ok(Some("before".to_owned())));
            assert_eq!(project.setting("settings/y.json", &mut warnings), Ok(None));
            assert!(warnings.is_empty(), "{warnings:?}");
            assert_eq!(project.setting_names("judges", &["prd.md"], &mut warnings), ["a.md"]);
            assert!(
                warnings[0].starts_with(".loopgate/judges/b.md is ignored, because commit "),
                "{warnings:?}"
            );
            assert!(project.has_in_working_tree(&fixture.workdir));
        }
        // Without a start, the last commit decides about a plan, and the one before it about code.
        std::fs::remove_dir_all(fixture.workdir.join(".loopgate")).unwrap();
        let setting = |category| fixture.project(category).setting("settings/x.json", &mut Vec::new());
        assert_eq!(setting(Category::Plan), Ok(Some("changed".to_owned())));
        assert_eq!(setting(Category::Code), Ok(Some("before".to_owned())));
    }

    #[test]
    fn settings_of_a_directory_without_repository_are_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let workdir = directory.path().join(".loopgate/judges");
        std::fs::create_dir_all(&workdir).unwrap();
        std::fs::write(workdir.join("a.md"), "text").unwrap();
        std::fs::write(workdir.join("b.txt"), "text").unwrap();
        std::fs::write(workdir.join("prd.md"), "text").unwrap();
        let project = JudgedProject::find(&workdir, Some(directory.path()), Category::Prd).unwrap();
        assert_eq!(project.setting_names("judges", &["prd.md"], &mut Vec::new()), ["a.md"]);
        assert_eq!(project.setting("judges/a.md", &mut Vec::new()), Ok(Some("text".to_owned())));
        assert!(!project.has_in_working_tree(&workdir));
    }
}
