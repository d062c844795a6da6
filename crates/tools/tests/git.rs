//! Tests with the real git, on real repositories.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod machine;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loopgate_api::ids::BranchName;
use loopgate_api::launch::Committer;
use loopgate_home::{Program, RepositoryError};
use loopgate_tools::git::{Git, GitError, RemoveWorktreeError, time};
use loopgate_tools::process::{Limits, alive, identity};
use machine::{Machine, write_script};

/// A clone with one commit on `main`, and the bare repository that is its `origin`.
struct Code {
    machine: Machine,
    git: Git,
    clone: PathBuf,
}

impl Code {
    async fn new() -> Self {
        let machine = Machine::new(&[]);
        let git = Git::new(machine.programs.clone(), machine.sandbox.clone());
        let (home, clone) = (machine.at("home"), machine.at("widget"));
        fs::write(
            home.join(".gitconfig"),
            format!(
                "[user]\n name = Ada\n email = ada@example.org\n[init]\n defaultBranch = main\n[url \"file://{}/\"]\n insteadOf = https://github.com/\n",
                machine.at("remotes").display()
            ),
        )
        .unwrap();
        let code = Self { machine, git, clone };
        let bare = code.machine.at("remotes/acme/widget.git");
        fs::create_dir_all(&bare).unwrap();
        code.run(&bare, &["init", "--bare", "-q"]).await;
        let clone = code.clone.to_str().unwrap();
        code.run(&home, &["clone", "-q", "https://github.com/acme/widget.git", clone]).await;
        fs::write(code.clone.join("one"), "1").unwrap();
        code.git.commit_all(&code.clone, "First", None).await.unwrap().unwrap();
        code.git.push(&code.clone, &branch("main"), time::PUSH).await.unwrap();
        code
    }

    async fn run(&self, directory: &Path, args: &[&str]) -> String {
        let command = self.machine.programs.command(Program::Git).await.directory(directory).args(args);
        // The same content has the same hash in every run.
        let date = "2031-04-02T10:11:12Z";
        let command = command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
        let output = command.run(Limits::time(time::USER_OPERATION)).await.unwrap();
        assert!(output.status.success(), "git {args:?}: {}", output.stderr_text());
        output.stdout_text().trim().to_owned()
    }

    /// Adds lines to the user's own configuration.
    fn configure(&self, lines: &str) {
        let path = self.machine.at("home/.gitconfig");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text + lines).unwrap();
    }

    /// Adds the repository `acme/lib` as a submodule to `main`, in the clone and at `origin`.
    async fn add_submodule(&self) {
        let (bare, library) = (self.machine.at("remotes/acme/lib.git"), self.machine.at("library"));
        fs::create_dir_all(&bare).unwrap();
        self.run(&bare, &["init", "--bare", "-q"]).await;
        let url = "https://github.com/acme/lib.git";
        self.run(&self.machine.at("home"), &["clone", "-q", url, library.to_str().unwrap()]).await;
        fs::write(library.join("l"), "1").unwrap();
        self.run(&library, &["add", "l"]).await;
        self.run(&library, &["commit", "-q", "-m", "Library"]).await;
        self.run(&library, &["push", "-q", "origin", "main"]).await;
        let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "lib"];
        self.run(&self.clone, &add).await;
        self.run(&self.clone, &["commit", "-q", "-m", "Add the library"]).await;
        self.run(&self.clone, &["push", "-q", "origin", "main"]).await;
    }

    async fn worktree(&self, name: &str, on: &str) -> PathBuf {
        let place = self.machine.at(name);
        let added = self.git.worktree_add(&self.clone, &place, &branch(on), "refs/remotes/origin/main").await;
        added.unwrap();
        place
    }
}

fn branch(name: &str) -> BranchName {
    name.parse().unwrap()
}

#[tokio::test]
async fn worktree_is_added_while_another_one_is_incomplete() {
    let code = Code::new().await;
    // Simulates a worktree that another git process has not completed: `commondir` is still empty. Git reads
    // the files of all worktrees and fails.
    let half = code.clone.join(".git/worktrees/half");
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("gitdir"), format!("{}/.git\n", code.machine.at("half").display())).unwrap();
    fs::write(half.join("HEAD"), "ref: refs/heads/half\n").unwrap();
    fs::write(half.join("locked"), "initializing").unwrap();
    fs::write(half.join("commondir"), "").unwrap();
    let real = code.run(&code.clone, &["--exec-path"]).await;
    let (commondir, tries) = (half.join("commondir"), code.machine.at("tries"));
    // The wrapper completes the worktree after the first failure, so that the retry succeeds.
    let wrapped = format!(
        "'{real}/git' \"$@\"; code=$?\n[ \"$1 $2\" = 'worktree add' ] || exit $code\n\
         echo $code >> '{}'; echo ../.. > '{}'; exit $code",
        tries.display(),
        commondir.display()
    );
    write_script(&code.machine.at("bin/git"), &wrapped);
    code.machine.programs.clear_cache();
    let place = code.worktree("new", "new").await;
    assert!(place.join("one").is_file());
    assert_eq!(fs::read_to_string(tries).unwrap(), "128\n0\n");
}

#[tokio::test]
async fn status_of_a_clone_is_reported() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    assert_eq!(git.current_branch(clone).await.unwrap().as_deref(), Some("main"));
    assert_eq!(git.full_name(clone).await.unwrap().unwrap().as_str(), "acme/widget");
    assert_eq!(git.base_ref(clone, &branch("main")).await.unwrap().unwrap(), "refs/remotes/origin/main");
    code.run(clone, &["tag", "v1"]).await;
    code.run(clone, &["branch", "local"]).await;
    assert_eq!(git.base_ref(clone, &branch("v1")).await.unwrap(), None, "tags are not resolved");
    assert_eq!(git.base_ref(clone, &branch("local")).await.unwrap().unwrap(), "refs/heads/local");
    assert_eq!(git.default_branch(clone).await.unwrap(), None);
    assert_eq!(git.fetch_default_branch(clone).await.unwrap().as_deref(), Some("main"));
    assert_eq!(git.default_branch(clone).await.unwrap().as_deref(), Some("main"));
    let head = git.head(clone).await.unwrap();
    code.run(clone, &["checkout", "-q", "--detach"]).await;
    assert_eq!(git.current_branch(clone).await.unwrap(), None);
    assert_eq!(git.commit_of(clone, "v1").await.unwrap().unwrap(), head);
    assert_eq!(git.commit_of(clone, "--help").await.unwrap(), None);
    let outside = code.machine.at("home");
    assert!(matches!(git.current_branch(&outside).await, Err(GitError::Repository(RepositoryError::None))));
}

#[tokio::test]
async fn state_directories_are_neither_reported_nor_staged() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    fs::write(clone.join("gone"), "x").unwrap();
    git.commit_all(clone, "To be deleted", None).await.unwrap().unwrap();
    for directory in [".loopgate/work", ".claude", "deep/.claude"] {
        fs::create_dir_all(clone.join(directory)).unwrap();
        fs::write(clone.join(directory).join("state"), "x").unwrap();
    }
    fs::write(clone.join(".gitignore"), ".loopgate\n").unwrap();
    git.commit_all(clone, "Ignore", None).await.unwrap().unwrap();
    assert_eq!(git.changes(clone).await.unwrap(), []);
    assert_eq!(git.commit_all(clone, "Nothing", None).await.unwrap(), None);

    fs::write(clone.join("*"), "a name that is a pattern").unwrap();
    fs::write(clone.join("ünder line"), "y").unwrap();
    fs::remove_file(clone.join("gone")).unwrap();
    code.run(clone, &["rm", "-q", "one"]).await;
    fs::write(clone.join(".claude/state"), "changed").unwrap();
    let commit = git.commit_all(clone, "Work", None).await.unwrap().unwrap();
    // The state directories at the root are excluded; one with the same name further down is ordinary
    // content.
    assert_eq!(git.head(clone).await.unwrap(), commit);
    let files = code.run(clone, &["-c", "core.quotePath=off", "ls-files"]).await;
    assert_eq!(files.lines().collect::<Vec<_>>(), ["*", ".gitignore", "deep/.claude/state", "ünder line"]);
    assert!(git.tracks(clone, "*").await.unwrap() && !git.tracks(clone, "one").await.unwrap());
}

#[tokio::test]
async fn commit_has_its_committer_and_hooks_can_reject_it() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    let committer = Committer { name: "Grace".to_owned(), email: "grace@example.org".to_owned() };
    fs::write(clone.join("two"), "2").unwrap();
    git.commit_all(clone, "-m is not an option\n\nBody", Some(&committer)).await.unwrap().unwrap();
    let log = code.run(clone, &["log", "-1", "--format=%an %ae %cn %ce %s"]).await;
    assert_eq!(log, "Grace grace@example.org Grace grace@example.org -m is not an option");
    let hook = clone.join(".git/hooks/pre-commit");
    write_script(&hook, "echo 'lint failed: token=abcdef123456' >&2; exit 1");
    fs::write(clone.join("three"), "3").unwrap();
    // An untrusted hook is skipped rather than an error.
    git.commit_all(clone, "Untrusted hook", None).await.unwrap().unwrap();
    code.machine.trust(git, clone).await;
    fs::write(clone.join("four"), "4").unwrap();
    let error = git.commit_all(clone, "Refused", None).await.unwrap_err();
    assert!(error.printed().unwrap().contains("lint failed"));
    assert_eq!(error.to_string(), "lint failed: token=[REDACTED]");
}

#[tokio::test]
async fn hook_that_works_longer_than_the_idle_limit_is_not_killed() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    // Prints for longer than the limit.
    write_script(
        &clone.join(".git/hooks/pre-commit"),
        "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.5; done",
    );
    code.machine.trust(git, clone).await;
    fs::write(clone.join("one"), "2").unwrap();
    git.change(clone, &["commit", "-a", "-m", "Slow"], Duration::from_secs(2)).await.unwrap();
}

#[tokio::test]
async fn hanging_hook_is_killed_with_its_descendants() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    let pid_file = code.machine.at("pid");
    let hook = format!("sleep 600 & echo $! > '{}'; echo waiting >&2; wait", pid_file.display());
    write_script(&clone.join(".git/hooks/pre-commit"), &hook);
    code.machine.trust(git, clone).await;
    fs::write(clone.join("one"), "2").unwrap();
    // Long enough for the hook to start on a loaded machine.
    let args = ["commit", "-a", "-m", "Never"];
    let ended = git.change(clone, &args, Duration::from_secs(4)).await.unwrap_err();
    assert_eq!(
        ended.to_string(),
        "git commit showed no activity for 4 seconds, last in `sleep`, and was terminated. If it needs more time, raise \
         `git_idle_limit_seconds` in the settings"
    );
    assert!(matches!(ended, GitError::TimedOut { printed, .. } if printed == "waiting"));
    let child: u32 = fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    assert!(identity(child).is_none_or(|started| !alive(child, started)));
    assert!(!clone.join(".git/index.lock").exists(), "no stale lock blocks the next commit");
    fs::remove_file(clone.join(".git/hooks/pre-commit")).unwrap();
    git.commit_all(clone, "Now", None).await.unwrap().unwrap();
}

#[tokio::test]
async fn work_is_counted_against_the_base_and_pushed() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/loop-1").await;
    assert_eq!(git.ahead_of(&place, "refs/remotes/origin/main").await.unwrap(), 0);
    assert!(git.head_is_kept_elsewhere(&place).await.unwrap());
    fs::write(place.join("new"), "x").unwrap();
    git.commit_all(&place, "Work", None).await.unwrap().unwrap();
    assert_eq!(git.ahead_of(&place, "refs/remotes/origin/main").await.unwrap(), 1);
    assert_eq!(git.ahead_behind(&place, "HEAD", "refs/remotes/origin/main").await.unwrap(), (1, 0));
    let base = git.merge_base(&place, "HEAD", "refs/remotes/origin/main").await.unwrap();
    assert_eq!(base, git.commit_of(&place, "refs/remotes/origin/main").await.unwrap());
    let upstream = ["for-each-ref", "--format=%(upstream)", "refs/heads/orchestrator/loop-1"];
    assert_eq!(code.run(&place, &upstream).await, "", "a plain push must not reach the base branch");
    git.push(&place, &branch("orchestrator/loop-1"), time::PUSH).await.unwrap();
    assert_eq!(code.run(&place, &upstream).await, "refs/remotes/origin/orchestrator/loop-1");
    assert!(!git.head_is_kept_elsewhere(&place).await.unwrap(), "reachable only from a loop's branch");
    // With the remote renamed, the network operation fails while all local ones still work.
    fs::rename(code.machine.at("remotes"), code.machine.at("elsewhere")).unwrap();
    assert!(git.fetch(&place).await.is_err());
}

#[tokio::test]
async fn pushed_branch_is_fetched_by_its_name() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    let remote = code.machine.at("remotes/acme/widget.git");
    for name in ["orchestrator/one", "other"] {
        code.run(&remote, &["branch", name, "main"]).await;
    }
    assert!(git.fetch_pushed(clone, &branch("orchestrator/one")).await.unwrap());
    assert!(!git.fetch_pushed(clone, &branch("orchestrator/two")).await.unwrap(), "not at the remote");
    let tracked = code.run(clone, &["for-each-ref", "--format=%(refname)", "refs/remotes"]).await;
    assert_eq!(tracked, "refs/remotes/origin/main\nrefs/remotes/origin/orchestrator/one");
    // A branch that the remote no longer has stays in the clone, as after `git fetch` without pruning.
    code.run(&remote, &["branch", "-D", "orchestrator/one"]).await;
    assert!(!git.fetch_pushed(clone, &branch("orchestrator/one")).await.unwrap());
    assert!(git.commit_of(clone, "refs/remotes/origin/orchestrator/one").await.unwrap().is_some());
    fs::rename(code.machine.at("remotes"), code.machine.at("elsewhere")).unwrap();
    assert!(git.fetch_pushed(clone, &branch("orchestrator/one")).await.is_err(), "no answer");
}

#[tokio::test]
async fn worktree_is_found_by_its_full_branch_name() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    assert_eq!(git.worktree_on(&code.clone, &branch("orchestrator/a")).await.unwrap().unwrap(), place);
    assert_eq!(git.worktree_on(&code.clone, &branch("a")).await.unwrap(), None);
    assert_eq!(git.worktree_on(&code.clone, &branch("main")).await.unwrap(), None, "the clone itself");
    let detached = code.machine.at("review");
    git.worktree_add_detached(&code.clone, &detached, "refs/remotes/origin/main").await.unwrap();
    assert_eq!(git.current_branch(&detached).await.unwrap(), None);
    fs::remove_dir_all(&place).unwrap();
    assert_eq!(git.worktree_on(&code.clone, &branch("orchestrator/a")).await.unwrap(), None);
    let again = code.worktree("widget-loop", "orchestrator/a").await;
    assert_eq!(git.worktree_on(&code.clone, &branch("orchestrator/a")).await.unwrap().unwrap(), again);
}

#[tokio::test]
async fn commits_that_only_a_branch_has_survive_its_reset() {
    let code = Code::new().await;
    let git = &code.git;
    let name = branch("orchestrator/a");
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    fs::write(place.join("work"), "x").unwrap();
    let commit = git.commit_all(&place, "Unpushed", None).await.unwrap().unwrap();
    git.worktree_remove(&code.clone, &place).await.unwrap();
    let base = "refs/remotes/origin/main";
    let saved = git.worktree_add(&code.clone, &place, &name, base).await.unwrap().unwrap();
    let listed = git.saved_work(&code.clone).await.unwrap();
    assert_eq!((listed.len(), &listed[0].name, &listed[0].commit), (1, &saved, &commit));
    assert_ne!(git.head(&place).await.unwrap(), commit);

    fs::write(place.join("work"), "pushed").unwrap();
    // After the push, the reset loses no commit, so nothing is saved.
    git.commit_all(&place, "Pushed", None).await.unwrap().unwrap();
    git.push(&place, &name, time::PUSH).await.unwrap();
    git.worktree_remove(&code.clone, &place).await.unwrap();
    let saved = git.worktree_add(&code.clone, &place, &name, base).await.unwrap();
    assert_eq!(saved, None, "the commit is on the remote");
}

#[tokio::test]
async fn work_in_a_removed_worktree_is_saved_and_restored() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    assert_eq!(git.worktree_remove(&code.clone, &place).await.unwrap(), [] as [String; 0], "nothing to save");
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    fs::create_dir_all(place.join(".loopgate/work")).unwrap();
    fs::create_dir_all(place.join("deep")).unwrap();
    for (name, text) in [(".loopgate/work/plan.json", "{}"), ("one", "staged"), ("deep/new", "untracked")] {
        fs::write(place.join(name), text).unwrap();
    }
    code.run(&place, &["checkout", "-q", "--detach"]).await;
    code.run(&place, &["add", "one"]).await;
    fs::write(place.join("one"), "changed").unwrap();
    let name = git.worktree_remove(&code.clone, &place).await.unwrap().remove(0);
    assert!(name.starts_with("widget-loop/") && !place.exists(), "{name}");

    let [saved] = &git.saved_work(&code.clone).await.unwrap()[..] else { panic!("one is saved") };
    assert_eq!((&saved.name, saved.subject.as_str()), (&name, "Uncommitted work on a detached HEAD"));
    let branch = git.restore_saved(&code.clone, saved).await.unwrap();
    assert_eq!(git.restore_saved(&code.clone, saved).await.unwrap(), branch, "restoring is idempotent");
    let files = code.run(&code.clone, &["ls-tree", "-r", "--name-only", branch.as_str()]).await;
    assert_eq!(files, "deep/new\none", "the state directory is excluded");
    // The first parent is HEAD, the second one the index as it was staged, whose parent is HEAD as well.
    for (revision, text) in [("", "changed"), ("^2", "staged"), ("^1", "1"), ("^2^", "1")] {
        let object = format!("{branch}{revision}:one");
        assert_eq!(code.run(&code.clone, &["show", &object]).await, text, "{object}");
    }
    git.delete_saved(&code.clone, saved).await.unwrap();
    assert!(git.saved_work(&code.clone).await.unwrap().is_empty());
}

#[tokio::test]
async fn change_in_the_second_of_the_index_is_saved_in_a_later_second() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    let second = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_900_000_000);
    let write = |text: &str| {
        let file = fs::File::create(place.join("one")).unwrap();
        (&file).write_all(text.as_bytes()).unwrap();
        file.set_modified(second).unwrap();
    };
    // The time of the last change of the inode cannot be set, and would show the change.
    code.run(&place, &["config", "core.trustctime", "false"]).await;
    write("2");
    code.run(&place, &["add", "one"]).await;
    let index = code.run(&place, &["rev-parse", "--path-format=absolute", "--git-path", "index"]).await;
    fs::File::open(index).unwrap().set_modified(second).unwrap();
    write("3");
    git.worktree_remove(&code.clone, &place).await.unwrap();
    let [saved] = &git.saved_work(&code.clone).await.unwrap()[..] else { panic!("one is saved") };
    let branch = git.restore_saved(&code.clone, saved).await.unwrap();
    assert_eq!(code.run(&code.clone, &["show", &format!("{branch}:one")]).await, "3");
}

#[tokio::test]
async fn detached_commits_and_a_corrupt_index_are_saved() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    code.run(&place, &["checkout", "-q", "--detach"]).await;
    fs::write(place.join("two"), "2").unwrap();
    let commit = git.commit_all(&place, "On no branch", None).await.unwrap().unwrap();
    let index = code.run(&place, &["rev-parse", "--git-path", "index"]).await;
    fs::write(place.join(index), "broken").unwrap();
    fs::write(place.join("three"), "3").unwrap();
    git.worktree_remove(&code.clone, &place).await.unwrap();
    let [saved] = &git.saved_work(&code.clone).await.unwrap()[..] else { panic!("one is saved") };
    assert_eq!(code.run(&code.clone, &["show", &format!("{}:three", saved.commit)]).await, "3");
    assert_eq!(code.run(&code.clone, &["rev-parse", &format!("{}^", saved.commit)]).await, commit);
}

#[tokio::test]
async fn worktree_with_uncommittable_work_is_kept() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    let inner = place.join("inner");
    fs::create_dir(&inner).unwrap();
    code.run(&inner, &["init", "-q"]).await;
    fs::write(inner.join("work"), "x").unwrap();
    code.run(&inner, &["add", "."]).await;
    code.run(&inner, &["commit", "-qm", "Inside"]).await;
    // In addition, HEAD gets a commit that is on no branch. It is saved although the files cannot be.
    code.run(&place, &["checkout", "-q", "--detach"]).await;
    let commit = code.run(&place, &["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "On no branch"]).await;
    code.run(&place, &["reset", "-q", "--soft", &commit]).await;
    let refused = git.worktree_remove(&code.clone, &place).await;
    assert!(matches!(refused, Err(RemoveWorktreeError::Unsaved(_))), "{refused:?}");
    assert_eq!(fs::read_to_string(inner.join("work")).unwrap(), "x");
    let [saved] = &git.saved_work(&code.clone).await.unwrap()[..] else { panic!("its commits are saved") };
    assert_eq!(saved.commit, commit);
}

#[tokio::test]
async fn worktree_is_removed_with_its_files_and_a_clone_never_is() {
    let code = Code::new().await;
    let git = &code.git;
    let place = code.worktree("widget-loop", "orchestrator/a").await;
    fs::write(place.join("untracked"), "x").unwrap();
    // A locked worktree is removed as well, since Loopgate decided that it is not in use.
    code.run(&code.clone, &["worktree", "lock", place.to_str().unwrap()]).await;
    git.worktree_remove(&code.clone, &place).await.unwrap();
    assert!(!place.exists());
    assert_eq!(git.worktrees(&code.clone).await.unwrap().len(), 1);

    let broken = code.worktree("widget-loop", "orchestrator/a").await;
    fs::remove_file(broken.join(".git")).unwrap();
    let refused = git.worktree_remove(&code.clone, &broken).await;
    // Without its `.git`, the directory cannot be inspected for uncommitted work.
    assert!(matches!(refused, Err(RemoveWorktreeError::Unsaved(_))), "its content cannot be inspected");
    fs::remove_dir_all(&broken).unwrap();
    git.worktree_remove(&code.clone, &broken).await.unwrap();

    let bare = code.machine.at("remotes/acme/widget.git");
    for repository in [&code.clone, &code.machine.at(""), &bare] {
        let refused = git.worktree_remove(&code.clone, repository).await;
        assert!(matches!(refused, Err(RemoveWorktreeError::NotAWorktree)), "{}", repository.display());
        assert!(repository.exists());
    }
}

#[tokio::test]
async fn inherited_git_variables_are_ignored() {
    let code = Code::new().await;
    let machine = Machine::new(&[("GIT_DIR", "/nowhere"), ("GIT_INDEX_FILE", "/nowhere/index")]);
    let git = Git::new(machine.programs.clone(), code.machine.sandbox.clone());
    assert_eq!(git.current_branch(&code.clone).await.unwrap().as_deref(), Some("main"));
}

#[tokio::test]
async fn remote_that_requires_a_password_fails_without_a_prompt() {
    let code = Code::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let url = format!("http://127.0.0.1:{port}/acme/widget.git");
    code.run(&code.clone, &["remote", "set-url", "origin", &url]).await;
    let failed = tokio::time::timeout(Duration::from_secs(20), code.git.fetch(&code.clone)).await.unwrap();
    assert!(matches!(failed, Err(GitError::Failed { .. })), "{failed:?}");
    server.abort();
}

/// Executable content runs after the user trusted it, and trust ends when the content changes.
#[tokio::test]
async fn hooks_and_filters_run_only_when_trusted() {
    let code = Code::new().await;
    let (git, clone, ran) = (&code.git, &code.clone, code.machine.at("ran"));
    let record = |what: &str| format!("echo {what} >> '{}'; cat", ran.display());
    write_script(&clone.join(".hooks/pre-commit"), &record("hook"));
    write_script(&code.machine.at("filter"), &record("filter"));
    let filter = code.machine.at("filter");
    code.run(clone, &["config", "core.hooksPath", ".hooks"]).await;
    code.run(clone, &["config", "filter.f.clean", filter.to_str().unwrap()]).await;
    fs::write(clone.join(".gitattributes"), "*.f filter=f\n").unwrap();
    fs::write(clone.join(".mcp.json"), "{}").unwrap();
    let content = git.executable_content(clone).await.unwrap();
    assert_eq!(
        content.names(),
        "file .mcp.json, hook pre-commit, setting core.hookspath, setting filter.f.clean"
    );

    fs::write(clone.join("plain"), "1").unwrap();
    git.commit_all(clone, "Without the hook", None).await.unwrap().unwrap();
    let nothing = git.commit_below(clone, "Nothing to do").await.unwrap_err();
    assert!(nothing.printed().unwrap().ends_with("working tree clean"), "{nothing}");
    fs::write(clone.join("content.f"), "1").unwrap();
    let all = git.commit_all(clone, "Past the filter", None).await.unwrap_err();
    for error in [all, git.commit_below(clone, "Past it again").await.unwrap_err()] {
        let printed = error.printed().unwrap();
        assert!(printed.contains("Not run, because you have not trusted this repository: "), "{printed}");
        assert!(printed.contains(&format!("loopgate trust {}", clone.display())), "{printed}");
    }
    assert!(!ran.exists() && !git.trusts(clone).await);

    code.machine.trust(git, clone).await;
    git.commit_all(clone, "With both", None).await.unwrap().unwrap();
    let lines = fs::read_to_string(&ran).unwrap();
    assert!(git.trusts(clone).await && lines.contains("hook") && lines.contains("filter"), "{lines}");

    fs::remove_file(&ran).unwrap();
    write_script(&clone.join(".hooks/pre-commit"), &record("another"));
    fs::write(clone.join("plain"), "2").unwrap();
    // Fails when git runs the disabled filter on the file again, which depends on the file's timestamps.
    let _ = git.commit_all(clone, "The hook has changed", None).await;
    assert!(!ran.exists() && !git.trusts(clone).await);

    // A link could change its target after the user's review, so a repository with one is never trusted.
    for planted in [".mcp.json", ".hooks/post-commit"] {
        code.machine.trust(git, clone).await;
        let _ = fs::remove_file(clone.join(planted));
        std::os::unix::fs::symlink("/etc/passwd", clone.join(planted)).unwrap();
        assert!(!git.trusts(clone).await, "{planted} cannot be inspected");
        fs::remove_file(clone.join(planted)).unwrap();
    }
}

/// A server that closes each connection, and the number of connections.
async fn closing_server() -> (u16, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    (port, count)
}

/// A repository cannot redirect connections, and so the user's credentials, until the user trusts it.
#[tokio::test]
async fn untrusted_repository_redirects_no_connection() {
    let (port, connections) = closing_server().await;
    let server = format!("127.0.0.1:{port}");
    for (key, value, url) in [
        (
            "http.curloptResolve",
            format!("code.invalid:{port}:127.0.0.1"),
            format!("http://code.invalid:{port}/a/b"),
        ),
        ("http.proxy", format!("http://{server}"), "http://code.invalid/a/b".to_owned()),
        ("http.http://code.invalid/.proxy", format!("http://{server}"), "http://code.invalid/a/b".to_owned()),
        ("remote.origin.proxy", format!("http://{server}"), "http://code.invalid/a/b".to_owned()),
        (
            &format!("url.http://{server}/.insteadOf"),
            "http://code.invalid/".to_owned(),
            "http://code.invalid/a/b".to_owned(),
        ),
    ] {
        let code = Code::new().await;
        code.run(&code.clone, &["config", key, &value]).await;
        code.run(&code.clone, &["remote", "set-url", "origin", &url]).await;
        let before = connections.load(Ordering::SeqCst);
        code.git.fetch(&code.clone).await.unwrap_err();
        assert_eq!(connections.load(Ordering::SeqCst), before, "{key}");
        code.machine.trust(&code.git, &code.clone).await;
        code.git.fetch(&code.clone).await.unwrap_err();
        assert!(connections.load(Ordering::SeqCst) > before, "{key}: the server is reachable");
    }
}

/// Git uses the first proxy command, so that a later one is no override.
#[tokio::test]
async fn proxy_command_of_an_untrusted_repository_does_not_run() {
    let code = Code::new().await;
    let (proxy, ran) = (code.machine.at("proxy"), code.machine.at("ran"));
    write_script(&proxy, &format!("echo x >> '{}'; exit 1", ran.display()));
    code.run(&code.clone, &["config", "core.gitProxy", proxy.to_str().unwrap()]).await;
    code.run(&code.clone, &["remote", "set-url", "origin", "git://code.invalid/a/b"]).await;
    let error = code.git.fetch(&code.clone).await.unwrap_err().to_string();
    assert!(error.contains("setting core.gitproxy") && !ran.exists(), "{error}");
    code.machine.trust(&code.git, &code.clone).await;
    code.git.fetch(&code.clone).await.unwrap_err();
    assert!(ran.exists());
}

/// Records the commands of git, and returns the file with one line per command.
fn record_git(code: &Code) -> PathBuf {
    let (log, path) = (code.machine.at("commands"), std::env::var_os("PATH").unwrap());
    let git = std::env::split_paths(&path).map(|directory| directory.join("git")).find(|git| git.is_file());
    let line = format!("echo \"$1\" >> '{}'; exec '{}' \"$@\"", log.display(), git.unwrap().display());
    write_script(&code.machine.at("bin/git"), &line);
    log
}

/// Requests the status, and returns the commands of git that it took.
async fn commands_of_status(code: &Code, log: &Path) -> Vec<String> {
    let _ = fs::remove_file(log);
    code.git.status(&code.clone).await.unwrap();
    fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

/// Requests the status until it takes a single command: files that changed just now are not compared by metadata.
async fn wait_until_known(code: &Code, log: &Path) {
    while commands_of_status(code, log).await != ["status"] {}
}

/// Replaces a text in a file by one of the same length, in place, and restores the time of its last modification.
fn replace_unnoticed(path: &Path, from: &str, to: &str) {
    let (text, modified) =
        (fs::read_to_string(path).unwrap(), fs::metadata(path).unwrap().modified().unwrap());
    assert!(from.len() == to.len() && text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).unwrap();
    fs::File::options().append(true).open(path).unwrap().set_modified(modified).unwrap();
}

/// The configuration of an untrusted repository decides which overrides git gets.
#[tokio::test]
async fn changed_configuration_applies_to_the_next_command() {
    let code = Code::new().await;
    let (git, clone, ran) = (&code.git, &code.clone, code.machine.at("ran"));
    let log = record_git(&code);
    let (own, clean) = (code.machine.at("home/.gitconfig"), code.machine.at("clean-1"));
    for name in ["clean-1", "clean-2", "clean-3", "evil-10"] {
        write_script(&code.machine.at(name), &format!("echo {name} >> '{}'; cat", ran.display()));
    }
    let last_run = async || {
        let _ = fs::remove_file(&ran);
        // Git runs the filter on a file whose timestamps differ from those in the index.
        fs::write(clone.join("one"), "2").unwrap();
        git.status(clone).await.unwrap();
        fs::read_to_string(&ran).unwrap_or_default().lines().last().map(str::to_owned)
    };
    let evil = code.machine.at("evil-10");
    // Overridden by the user's own value, so that the configuration of the user is listed for each command.
    code.run(clone, &["config", "filter.f.clean", evil.to_str().unwrap()]).await;
    fs::write(clone.join(".git/info/attributes"), "one filter=f\n").unwrap();
    code.configure(&format!("[filter \"f\"]\n clean = {}\n", clean.display()));
    assert_eq!(last_run().await.as_deref(), Some("clean-1"));

    wait_until_known(&code, &log).await;
    replace_unnoticed(&own, "clean-1", "clean-2");
    assert_eq!(last_run().await.as_deref(), Some("clean-2"), "the user's file");

    wait_until_known(&code, &log).await;
    let more = code.machine.at("more");
    fs::write(&more, format!("[filter \"f\"]\n clean = {}\n", code.machine.at("clean-3").display())).unwrap();
    code.configure(&format!("[include]\n path = {}\n", more.display()));
    assert_eq!(last_run().await.as_deref(), Some("clean-3"), "a new include");

    wait_until_known(&code, &log).await;
    replace_unnoticed(&more, "clean-3", "clean-1");
    assert_eq!(last_run().await.as_deref(), Some("clean-1"), "an included file");

    wait_until_known(&code, &log).await;
    fs::create_dir_all(code.machine.at("home/.config/git")).unwrap();
    fs::write(code.machine.at("home/.config/git/config"), "[core]\n abbrev = 8\n").unwrap();
    assert_eq!(commands_of_status(&code, &log).await[0], "config", "a file that did not exist");

    wait_until_known(&code, &log).await;
    fs::write(clone.join(".git/info/attributes"), "one filter=g\n").unwrap();
    let config = clone.join(".git/config");
    replace_unnoticed(&config, "\"f\"", "\"g\"");
    assert_eq!(last_run().await, None, "another filter of the repository is overridden");

    wait_until_known(&code, &log).await;
    code.run(clone, &["config", "extensions.worktreeConfig", "true"]).await;
    fs::write(clone.join(".git/info/attributes"), "one filter=h\n").unwrap();
    fs::write(clone.join(".git/config.worktree"), format!("[filter \"h\"]\n clean = {}\n", evil.display()))
        .unwrap();
    assert_eq!(last_run().await, None, "the configuration of a worktree");

    wait_until_known(&code, &log).await;
    code.machine.trust(git, clone).await;
    assert_eq!(last_run().await.as_deref(), Some("evil-10"), "trust applies at once");
    replace_unnoticed(&clone.join(".git/config.worktree"), "evil-10", "clean-1");
    assert_eq!(last_run().await, None, "a change ends the trust");
}

/// An included file may change without a change of the files that were read for the command.
#[tokio::test]
async fn configuration_with_includes_is_listed_for_each_command() {
    let code = Code::new().await;
    let log = record_git(&code);
    fs::write(code.clone.join(".git/more"), "[core]\n pager = less\n").unwrap();
    code.run(&code.clone, &["config", "include.path", "more"]).await;
    for _ in 0..3 {
        assert_eq!(commands_of_status(&code, &log).await, ["config", "status"]);
    }
    // Not read without the extension: what git lists is not what was read for the command.
    code.run(&code.clone, &["config", "--unset", "include.path"]).await;
    fs::write(code.clone.join(".git/config.worktree"), "[core]\n pager = less\n").unwrap();
    for _ in 0..3 {
        assert_eq!(commands_of_status(&code, &log).await, ["config", "status"]);
    }
}

/// Git starts in a submodule, where its configuration applies.
#[tokio::test]
async fn submodule_is_found_in_every_index() {
    let code = Code::new().await;
    let (clone, ran) = (&code.clone, code.machine.at("ran"));
    let log = record_git(&code);
    // The size of this file has the bytes of a submodule's mode, so that git is needed to list the index.
    fs::write(clone.join("large"), vec![b'x'; 0xe000]).unwrap();
    code.run(clone, &["add", "large"]).await;
    assert_eq!(commands_of_status(&code, &log).await, ["ls-files", "status"]);
    assert_eq!(commands_of_status(&code, &log).await, ["status"], "an index with the same content");

    code.add_submodule().await;
    write_script(&code.machine.at("evil"), &format!("echo x >> '{}'", ran.display()));
    let (submodule, evil) = (clone.join("lib"), code.machine.at("evil"));
    assert!(submodule.join(".git").exists());
    code.run(&submodule, &["config", "core.fsmonitor", evil.to_str().unwrap()]).await;
    code.run(&submodule, &["config", "filter.f.clean", evil.to_str().unwrap()]).await;
    fs::write(submodule.join(".gitattributes"), "* filter=f\n").unwrap();
    fs::write(submodule.join("l"), "2").unwrap();
    code.git.status(clone).await.unwrap();
    assert!(!ran.exists());

    // Git accepts other permission bits than those that it writes.
    let index = clone.join(".git/index");
    let mut bytes = fs::read(&index).unwrap();
    let at = bytes.windows(4).position(|mode| mode == [0, 0, 0xe0, 0]).unwrap();
    for (at, _) in bytes.clone().windows(4).enumerate().skip(at).filter(|(_, mode)| *mode == [0, 0, 0xe0, 0])
    {
        bytes[at..at + 4].copy_from_slice(&[0, 0, 0xe1, 0xa4]);
    }
    fs::write(&index, &bytes).unwrap();
    code.git.status(clone).await.unwrap();
    assert!(!ran.exists());
}

/// The conditions of an include may apply only to the handles that a reading command gets, or to a new worktree.
#[tokio::test]
async fn included_configuration_of_an_untrusted_repository_is_refused() {
    let code = Code::new().await;
    let (git, clone, ran) = (&code.git, &code.clone, code.machine.at("ran"));
    write_script(&code.machine.at("filter"), &format!("echo filter >> '{}'; cat", ran.display()));
    let filter = code.machine.at("filter");
    fs::write(clone.join(".gitattributes"), "* filter=f\n").unwrap();
    git.commit_all(clone, "Attributes", None).await.unwrap();
    git.push(clone, &branch("main"), time::PUSH).await.unwrap();
    let filters = format!("[filter \"f\"]\nclean = {0}\nsmudge = {0}\n", filter.display());
    fs::write(clone.join(".git/more"), filters).unwrap();
    let config = fs::read_to_string(clone.join(".git/config")).unwrap();
    let includes = |section: &str| {
        fs::write(clone.join(".git/config"), format!("{config}[{section}]\npath = more\n")).unwrap();
        fs::write(clone.join("one"), section).unwrap();
    };
    let at = code.machine.at("tree");
    for section in ["includeIf \"gitdir:/proc/**\"", "includeIf \"gitdir:**/worktrees/**\"", "include"] {
        includes(section);
        let added = git.worktree_add(clone, &at, &branch("work"), "refs/remotes/origin/main").await;
        let error = added.unwrap_err().to_string();
        assert!(
            error.contains("configuration includes files") && error.contains("loopgate trust"),
            "{error}"
        );
        let _ = git.status(clone).await;
        assert!(!ran.exists(), "{section}");
    }
    code.machine.trust(git, clone).await;
    git.worktree_add(clone, &at, &branch("work"), "refs/remotes/origin/main").await.unwrap();
    assert!(ran.exists());
}

#[tokio::test]
async fn replaced_and_grafted_objects_are_shown_as_they_are_pushed() {
    let code = Code::new().await;
    let (git, clone) = (&code.git, &code.clone);
    fs::write(clone.join("one"), "2").unwrap();
    let head = git.commit_all(clone, "Second", None).await.unwrap().unwrap();
    let subjects = async || git.text(clone, &["log", "--format=%s"], time::LOCAL).await.unwrap();
    let tree = code.run(clone, &["write-tree"]).await;
    let harmless = code.run(clone, &["commit-tree", "-m", "Harmless", &tree]).await;
    code.run(clone, &["replace", "HEAD", &harmless]).await;
    assert_eq!(subjects().await, "Second\nFirst");
    code.run(clone, &["replace", "--delete", "HEAD"]).await;
    fs::write(clone.join(".git/info/grafts"), format!("{}\n", code.run(clone, &["rev-parse", "HEAD"]).await))
        .unwrap();
    assert_eq!(subjects().await, "Second\nFirst", "{head}");
    let printed = git.output(clone, &["log", "-1"], time::LOCAL).await.unwrap();
    assert_eq!(printed.stderr_text(), "", "no advice about grafts");
    fs::remove_file(clone.join(".git/info/grafts")).unwrap();
    code.run(clone, &["commit-graph", "write", "--reachable"]).await;
    let file = clone.join(".git/objects/info/commit-graph");
    let hidden = without_parents(fs::read(&file).unwrap());
    fs::remove_file(&file).unwrap();
    fs::write(&file, hidden).unwrap();
    assert_eq!(code.run(clone, &["log", "--format=%s"]).await, "Second", "as git displays it");
    assert_eq!(subjects().await, "Second\nFirst");
}

/// Removes the parents of all commits from a commit-graph file.
fn without_parents(mut graph: Vec<u8>) -> Vec<u8> {
    const NONE: [u8; 4] = [0x70, 0, 0, 0];
    // A table of chunks, each with a name and an offset, follows the header of eight bytes.
    let offset = |graph: &[u8], entry: &[u8]| {
        let at = graph.windows(4).position(|name| name == entry).unwrap() + 4;
        usize::try_from(u64::from_be_bytes(graph[at..at + 8].try_into().unwrap())).unwrap()
    };
    let (data, next) = (offset(&graph, b"CDAT"), offset(&graph, b"GDA2"));
    // A record consists of the hash of the tree, two parents, and eight bytes of dates.
    for record in graph[data..next].chunks_exact_mut(20 + 4 + 4 + 8) {
        record[20..24].copy_from_slice(&NONE);
    }
    graph
}

#[tokio::test]
async fn paths_are_passed_to_git_in_their_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let code = Code::new().await;
    let (odd, other) =
        (code.machine.at("").join(OsStr::from_bytes(b"w-\xff")), code.machine.at("w-\u{fffd}"));
    for (place, name) in [(&odd, "odd"), (&other, "other")] {
        let base = "refs/remotes/origin/main";
        code.git.worktree_add(&code.clone, place, &branch(name), base).await.unwrap();
    }
    code.git.worktree_remove(&code.clone, &odd).await.unwrap();
    assert!(!odd.exists() && other.join("one").is_file());
    let places: Vec<_> =
        code.git.worktrees(&code.clone).await.unwrap().into_iter().map(|tree| tree.path).collect();
    assert_eq!(places, [code.clone.clone(), other]);
}

/// Global hooks belong to the user, unless they are in the sandbox, where a repository could have written
/// them.
#[tokio::test]
async fn global_hooks_of_the_user_run_without_trust() {
    let code = Code::new().await;
    let (git, clone, ran) = (&code.git, &code.clone, code.machine.at("ran"));
    let own = tempfile::tempdir().unwrap();
    let hook = format!("echo hook >> '{}'", ran.display());
    write_script(&own.path().join("pre-commit"), &hook);
    write_script(&clone.join("pre-commit"), &hook);
    for (hooks, runs) in
        [(".", false), (clone.to_str().unwrap(), false), (own.path().to_str().unwrap(), true)]
    {
        code.run(clone, &["config", "--global", "core.hooksPath", hooks]).await;
        fs::write(clone.join("one"), hooks).unwrap();
        git.commit_all(clone, "Work", None).await.unwrap().unwrap();
        assert_eq!(ran.exists(), runs, "{hooks}");
    }
}

/// Returns the contents of the saved work of a repository: paths and texts of its last commits.
async fn saved_files(code: &Code, repository: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for work in code.git.saved_work(repository).await.unwrap() {
        let names = code.run(repository, &["ls-tree", "-r", "--name-only", &work.commit]).await;
        files.push(format!("{}: {}", work.name.split_once('/').unwrap().0, names.replace('\n', " ")));
    }
    files
}

#[tokio::test]
async fn submodules_are_checked_out_from_the_clone_and_their_work_is_saved() {
    let code = code_with_content().await;
    let git = &code.git;
    // There is no network, and the submodule requests a command.
    fs::rename(code.machine.at("remotes"), code.machine.at("offline")).unwrap();
    code.run(&code.clone, &["config", "submodule.lib.update", "!touch /tmp/ran; false"]).await;
    let worktree = code.worktree("w", "work").await;
    assert_eq!(git.check_out_submodules(&worktree).await.unwrap(), []);
    let library = worktree.join("lib");
    assert_eq!(fs::read_to_string(library.join("l")).unwrap(), "1");
    assert_eq!(git.changes(&worktree).await.unwrap(), []);
    assert!(!git.has_unpushed_submodules(&worktree).await.unwrap());
    assert_eq!(code.run(&library, &["config", "remote.origin.url"]).await, "https://github.com/acme/lib.git");

    fs::write(library.join("committed"), "1").unwrap();
    code.run(&library, &["add", "committed"]).await;
    code.run(&library, &["commit", "-q", "-m", "Work in the library"]).await;
    assert!(git.has_unpushed_submodules(&worktree).await.unwrap());
    fs::write(library.join("uncommitted"), "1").unwrap();
    let saved = git.worktree_remove(&code.clone, &worktree).await.unwrap();
    assert_eq!(saved.len(), 2, "{saved:?}");
    assert!(!worktree.exists());
    assert_eq!(saved_files(&code, &code.clone.join("lib")).await, ["w-lib: committed l uncommitted"]);
    // The records of the removed checkout do not prevent a new one at its path.
    let worktree = code.worktree("w", "work").await;
    assert_eq!(git.check_out_submodules(&worktree).await.unwrap(), []);
    assert!(worktree.join("lib/l").is_file());
}

#[tokio::test]
async fn submodules_that_the_clone_cannot_provide_are_named() {
    let code = code_with_content().await;
    let missing = async |name: &str| {
        let worktree = code.worktree(name, name).await;
        let missing = code.git.check_out_submodules(&worktree).await.unwrap();
        assert!(fs::read_dir(worktree.join("lib")).unwrap().next().is_none(), "{missing:?}");
        assert_eq!(missing[0].path, Path::new("lib"));
        missing[0].reason.clone()
    };
    code.run(&code.clone.join("lib"), &["config", "filter.x.smudge", "touch /tmp/ran"]).await;
    assert!(missing("a").await.contains("loopgate trust"));
    code.run(&code.clone, &["submodule", "--quiet", "deinit", "--force", "lib"]).await;
    let command = format!("git -C {} submodule update --init", code.clone.display());
    assert_eq!(missing("b").await, format!("it is not initialized in your clone; run: {command}"));
}

#[tokio::test]
async fn worktree_with_work_in_a_submodule_of_its_own_is_kept() {
    let code = code_with_content().await;
    let (git, worktree) = (&code.git, code.worktree("w", "work").await);
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    code.run(&worktree, &update).await;
    assert!(!git.has_unpushed_submodules(&worktree).await.unwrap());
    let library = worktree.join("lib");
    code.run(&library, &["commit", "-q", "--allow-empty", "-m", "Work"]).await;
    // The superproject is clean and pushed, so that only the submodule has work.
    code.run(&worktree, &["commit", "-q", "-am", "Update the library"]).await;
    code.run(&worktree, &["push", "-q", "origin", "HEAD:main"]).await;
    assert_eq!(git.changes(&worktree).await.unwrap(), []);
    assert!(!git.has_unpushed_commits(&worktree).await.unwrap());
    assert!(git.has_unpushed_submodules(&worktree).await.unwrap());
    let error = git.worktree_remove(&code.clone, &worktree).await.unwrap_err();
    let is_named = matches!(&error, RemoveWorktreeError::Unsaved(GitError::SubmoduleWork(path)) if path == Path::new("lib"));
    assert!(is_named, "{error}");
    assert!(library.join("l").is_file());
    code.run(&library, &["push", "-q", "origin", "HEAD:refs/heads/work"]).await;
    git.worktree_remove(&code.clone, &worktree).await.unwrap();
}

#[tokio::test]
async fn branch_with_an_unpublished_submodule_commit_is_rejected() {
    let code = code_with_content().await;
    let (git, worktree) = (&code.git, code.worktree("w", "work").await);
    git.check_out_submodules(&worktree).await.unwrap();
    let (library, base) = (worktree.join("lib"), "refs/remotes/origin/main");
    git.ensure_submodules_published(&worktree, base).await.unwrap();
    code.run(&library, &["commit", "-q", "--allow-empty", "-m", "Work"]).await;
    code.run(&worktree, &["commit", "-q", "-am", "Update the library"]).await;
    let error = git.ensure_submodules_published(&worktree, base).await.unwrap_err().to_string();
    assert!(error.starts_with("submodule lib points to commit "), "{error}");
    assert!(error.contains("which none of its remotes has"), "{error}");
    assert_eq!(git.push_here(&worktree).await.unwrap_err().to_string(), error);
    code.run(&library, &["push", "-q", "origin", "HEAD:refs/heads/work"]).await;
    git.ensure_submodules_published(&worktree, base).await.unwrap();

    // Git cannot tell for a submodule that has no checkout.
    fs::remove_dir_all(&library).unwrap();
    code.run(&code.clone, &["submodule", "--quiet", "deinit", "--force", "lib"]).await;
    fs::create_dir(&library).unwrap();
    let error = git.ensure_submodules_published(&worktree, base).await.unwrap_err().to_string();
    assert!(error.contains("the submodule is not initialized"), "{error}");
    code.run(&worktree, &["push", "-q", "origin", "HEAD:refs/heads/other"]).await;
    git.ensure_submodules_published(&worktree, base).await.unwrap();
}

#[tokio::test]
async fn unfinished_operations_are_not_committed() {
    let code = code_with_content().await;
    let (git, worktree) = (&code.git, code.worktree("w", "work").await);
    let run = async |args: &[&str]| {
        // A conflict is an exit code other than 0.
        let command = code.machine.programs.command(Program::Git).await.directory(&worktree).args(args);
        command.run(Limits::time(time::USER_OPERATION)).await.unwrap();
    };
    fs::write(worktree.join("one"), "ours").unwrap();
    git.commit_all(&worktree, "Ours", None).await.unwrap();
    run(&["branch", "theirs", "HEAD~1"]).await;
    run(&["checkout", "-q", "theirs"]).await;
    fs::write(worktree.join("one"), "theirs").unwrap();
    git.commit_all(&worktree, "Theirs", None).await.unwrap();
    git.ensure_finished(&worktree).await.unwrap();
    for (start, command) in [
        (["merge", "work"].as_slice(), "merge"),
        (&["cherry-pick", "work"], "cherry-pick"),
        (&["revert", "--no-edit", "work"], "revert"),
        (&["rebase", "work"], "rebase"),
        (&["rebase", "--apply", "work"], "rebase"),
    ] {
        run(start).await;
        let error = git.commit_all(&worktree, "Conflicts", None).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("conflicts in one: a {command} in the worktree")), "{error}");
        assert_eq!(git.ensure_finished(&worktree).await.unwrap_err().to_string(), error);
        // Staged with its conflict marks, the file is no longer unmerged.
        run(&["add", "one"]).await;
        let error = git.ensure_finished(&worktree).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("a {command} in the worktree has not finished")), "{error}");
        git.commit_all(&worktree, "Conflicts", None).await.unwrap_err();
        run(&[command, "--abort"]).await;
        git.ensure_finished(&worktree).await.unwrap();
    }
}

#[tokio::test]
async fn included_files_are_copied_into_a_worktree() {
    let code = code_with_content().await;
    let (git, clone, secret) = (&code.git, &code.clone, code.machine.at("secret"));
    fs::write(&secret, "outside").unwrap();
    fs::write(clone.join(".git/info/exclude"), "/.env*\n/config/\n").unwrap();
    fs::create_dir_all(clone.join("config/deep")).unwrap();
    for name in [".env", ".env.other", "config/deep/a", "config/b", "untracked", "build-output"] {
        fs::write(clone.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink(&secret, clone.join(".env.link")).unwrap();
    std::os::unix::fs::symlink(code.machine.at("home"), clone.join("config/home")).unwrap();
    let large = fs::File::create(clone.join("config/large")).unwrap();
    large.set_len(101 * 1024 * 1024).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(clone.join(".env"), fs::Permissions::from_mode(0o600)).unwrap();
    let worktree = code.worktree("before", "before").await;
    assert_eq!(git.copy_included_files(&worktree).await.unwrap(), [] as [PathBuf; 0]);
    fs::write(clone.join(".worktreeinclude"), ".env*\n!.env.other\nconfig/\nuntracked\none\n").unwrap();
    let worktree = code.worktree("w", "work").await;
    let mut skipped = git.copy_included_files(&worktree).await.unwrap();
    skipped.sort();
    assert_eq!(skipped, [".env.link", "config/home", "config/large"].map(PathBuf::from));
    for (name, expected) in [
        (".env", true),
        ("config/deep/a", true),
        ("config/b", true),
        (".env.other", false),
        ("untracked", false),
        ("build-output", false),
        (".env.link", false),
    ] {
        assert_eq!(worktree.join(name).symlink_metadata().is_ok(), expected, "{name}");
    }
    assert_eq!(fs::read_to_string(worktree.join("config/deep/a")).unwrap(), "config/deep/a");
    assert_eq!(worktree.join(".env").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(git.changes(&worktree).await.unwrap(), []);
}

#[tokio::test]
async fn content_of_large_files_is_uploaded_without_hooks() {
    let code = Code::new().await;
    let (git, worktree) = (&code.git, code.worktree("w", "work").await);
    let base = ["refs/remotes/origin/main".to_owned()];
    let upload = async || {
        let gap = git.upload_large_files(&worktree, &branch("work"), &base).await.unwrap();
        gap.map(|gap| gap.to_string())
    };
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n";
    let log = code.machine.at("uploads");
    fs::write(worktree.join("notes"), "1").unwrap();
    git.commit_all(&worktree, "Notes", None).await.unwrap();
    assert_eq!(upload().await, None);
    fs::write(worktree.join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    fs::write(worktree.join("a.bin"), pointer).unwrap();
    git.commit_all(&worktree, "A large file", None).await.unwrap();
    let reason = upload().await.unwrap();
    assert!(reason.contains("only this repository configures git-lfs"), "{reason}");
    // A push that a user requests does not leave others with a branch that they cannot check out.
    assert_eq!(git.push_here(&worktree).await.unwrap_err().to_string(), reason);
    let is_pushed = async || {
        let branches = code.run(&worktree, &["ls-remote", "origin", "refs/heads/work"]).await;
        !branches.is_empty()
    };
    assert!(!is_pushed().await);
    code.configure("[filter \"lfs\"]\nclean = cat\nsmudge = cat\n");
    let git_lfs = code.machine.at("bin/git-lfs");
    // As git prints it where git-lfs is missing, which this machine may have.
    write_script(&git_lfs, "echo \"git: 'lfs' is not a git command. See 'git --help'.\" >&2; exit 1");
    code.machine.programs.clear_cache();
    let reason = upload().await.unwrap();
    assert!(reason.starts_with("the content of a.bin was not uploaded"), "{reason}");
    assert!(reason.contains("git-lfs is not installed"), "{reason}");
    write_script(&git_lfs, &format!("echo \"$@\" >> '{}'", log.display()));
    assert_eq!(upload().await, None);
    assert_eq!(fs::read_to_string(&log).unwrap(), "push origin work\n");
    assert_eq!(git.push_here(&worktree).await.unwrap(), "work");
    assert_eq!(fs::read_to_string(&log).unwrap(), "push origin work\n".repeat(2));
    assert!(is_pushed().await);
    fs::write(worktree.join("b.bin"), "not a pointer").unwrap();
    git.commit_all(&worktree, "Another one", None).await.unwrap();
    assert!(upload().await.unwrap().starts_with("b.bin should be stored in Git LFS"));
    git.push_here(&worktree).await.unwrap();
    write_script(&git_lfs, "echo 'batch response: rejected' >&2; exit 2");
    code.run(&worktree, &["reset", "-q", "--hard", "HEAD~1"]).await;
    let error = git.upload_large_files(&worktree, &branch("work"), &base).await.unwrap_err();
    assert!(error.to_string().contains("batch response: rejected"), "{error}");
}

#[tokio::test]
async fn missing_git_lfs_is_named_instead_of_trust() {
    let code = Code::new().await;
    write_script(&code.clone.join(".git/hooks/pre-push"), "git lfs pre-push");
    code.configure("[filter \"lfs\"]\nclean = git-lfs clean -- %f\nrequired = true\n");
    fs::write(code.clone.join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    fs::write(code.clone.join("a.bin"), "large").unwrap();
    // As the shell prints it where git-lfs is missing, which this machine may have.
    write_script(&code.machine.at("bin/git-lfs"), "echo 'git-lfs: command not found' >&2; exit 127");
    code.machine.programs.clear_cache();
    let error = code.git.commit_all(&code.clone, "Large", None).await.unwrap_err().to_string();
    assert!(error.contains("git-lfs, which this repository needs, is not installed"), "{error}");
    assert!(!error.contains("loopgate trust"), "{error}");
}

/// Makes changes of every kind in a new worktree and returns what the decisions about them are.
async fn decisions(code: &Code, configuration: &str) -> Vec<String> {
    code.configure(configuration);
    let (git, worktree) = (&code.git, code.worktree("w", "work").await);
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    code.run(&worktree, &update).await;
    let write = |name: &str, text: &str| {
        let path = worktree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("one", "2");
    write("stashed", "2");
    code.run(&worktree, &["stash", "push", "-q", "--", "stashed"]).await;
    write("new/größe.txt", "new");
    write("build/x.log", "ignored");
    write("lib/untracked", "work");
    fs::rename(worktree.join("old"), worktree.join("moved")).unwrap();
    code.run(&worktree, &["add", "--intent-to-add", "moved"]).await;
    let mut decisions = Vec::new();
    decisions.push(format!("{:?}", git.changes(&worktree).await.unwrap()));
    decisions.push(format!("{:?}", git.changed_files(&worktree).await.unwrap()));
    let (status, ignored) = git.status_with_ignored(&worktree).await.unwrap();
    decisions.push(format!("{:?} {ignored:?}", status.files()));
    let ignored = git.ignored_files(&worktree).await.unwrap();
    decisions
        .push(format!("{:?} {ignored:?}", git.ignore_rules(&worktree, &ignored).await.unwrap().values()));
    decisions.push(format!("{} stashes", git.stashes(&worktree).await.unwrap().len()));
    decisions.push(git.save_worktree(&worktree).await.unwrap_err().to_string());
    let kept = git.remove_named(&worktree, false, false).await;
    decisions.push(format!("{:?} {:?}", kept.map_err(|error| error.to_string()), worktree.exists()));
    fs::remove_file(worktree.join("lib/untracked")).unwrap();
    let saved = git.save_worktree(&worktree).await.unwrap().remove(0);
    let saved = format!("refs/loopgate/saved/{saved}");
    decisions.push(code.run(&worktree, &["rev-parse", &format!("{saved}^{{tree}}")]).await);
    let message = "#1 größer\n\n# Not a comment";
    git.commit_all(&worktree, message, None).await.unwrap().unwrap();
    let commit = code.run(&worktree, &["cat-file", "commit", "HEAD"]).await;
    let is_stable = |line: &&str| !line.contains(" <ada@") && !line.starts_with("parent ");
    decisions.push(commit.lines().filter(is_stable).collect::<Vec<_>>().join("\n"));
    for args in [
        ["log", "-1", "--format=%B"].as_slice(),
        &["diff", "--no-ext-diff", "--no-textconv", "HEAD~1", "HEAD"],
    ] {
        decisions.push(git.text(&worktree, args, time::LOCAL).await.unwrap());
    }
    decisions.push(format!("{:?}", git.changes(&worktree).await.unwrap()));
    decisions.push(format!("{:?}", git.branch_diff(&worktree, "main").await.unwrap()));
    let moves = git.head_moves(&worktree).await.unwrap();
    decisions.push(format!("{:?}", moves.iter().map(|entry| entry.created_commit()).collect::<Vec<_>>()));
    let base = "refs/remotes/origin/main";
    decisions.push(format!("{:?}", git.ahead_of(&worktree, base).await.unwrap()));
    decisions.push(format!("{:?}", git.has_unpushed_commits(&worktree).await.unwrap()));
    decisions.push(format!("{:?}", git.outgoing_files(&worktree, &[base.to_owned()]).await.unwrap()));
    let mut paths: Vec<_> = git.tracked_paths(&worktree, "HEAD").await.unwrap().into_iter().collect();
    paths.sort();
    decisions.push(format!("{paths:?}"));
    decisions.push(format!("{}", git.branch_tips(&worktree).await.unwrap().len()));
    let machine = code.machine.at("").display().to_string();
    decisions.iter().map(|line| line.replace(&machine, "/machine/")).collect()
}

async fn code_with_content() -> Code {
    let code = Code::new().await;
    for (name, text) in [("old", "1\n2\n3\n"), ("stashed", "1"), (".gitignore", "*.log\nbuild/\n")] {
        fs::write(code.clone.join(name), text).unwrap();
    }
    code.run(&code.clone, &["add", "-A"]).await;
    code.run(&code.clone, &["commit", "-q", "-m", "Content"]).await;
    code.add_submodule().await;
    code
}

#[tokio::test]
async fn decisions_do_not_depend_on_the_configuration_of_the_user() {
    let expected = decisions(&code_with_content().await, "").await;
    let files = tempfile::tempdir().unwrap();
    for configuration in loopgate_testkit::git_options::configurations(files.path()).unwrap() {
        let code = code_with_content().await;
        let actual = decisions(&code, &configuration).await;
        for (actual, expected) in actual.iter().zip(&expected) {
            assert_eq!(actual, expected);
        }
    }
}
