//! The cache returns what git returns, whatever changes between two requests.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_home::{Overrides, Program, Sandbox, SettingsStore, WatchLimits};
use loopgate_tools::git::{Branches, Git, ListedWorktree, parse_status, parse_worktrees, ticket_in, time};
use loopgate_tools::login_path::LoginPath;
use loopgate_tools::process::{Limits, Output};
use loopgate_tools::programs::Programs;
use proptest::prelude::*;
use proptest::sample::select;

use crate::GitCache;

const DIRECTORIES: [&str; 8] =
    ["", "src", "src/deep", "new", "new/deeper", "target", "target/debug", "odd \"näme\"\n"];
const NAMES: [&[u8]; 9] = [b"a", b"b", b"c", b"d", b"e f", b"x.log", b"-dash", b"caf\xe9", b"target"];
const RULES: [&str; 9] = [
    "target/\n*.log\n",
    "",
    "new\n",
    "*\n!src\n",
    "src/deep/\n",
    "!x.log\n",
    "a\n",
    "src\n",
    "target\n!target\n",
];
const COMMANDS: [&str; 72] = [
    "add -A",
    "add -A",
    "add src",
    "add -f target",
    "add -N .",
    "rm -q --cached a",
    "rm -rfq src",
    "mv a e",
    "mv e a",
    "reset -q",
    "reset -q --hard",
    "reset -q --hard HEAD~1",
    "checkout -q -- .",
    "clean -fdq",
    "clean -fdxq",
    "commit -q -a -m all",
    "commit -q -a -m all",
    "commit -q -m staged",
    "commit -q --amend -m again",
    "commit -q --allow-empty -m empty",
    "checkout -q main",
    "checkout -q -B topic/one",
    "checkout -q topic/one",
    "checkout -q -B two",
    "checkout -q --detach",
    "checkout -q --orphan fresh",
    "branch -q -D topic/one",
    "branch -q -f old HEAD~1",
    "branch -q -m two three",
    "merge -q -m merged topic/one",
    "merge -q -m merged two",
    "merge --abort",
    "rebase -q main",
    "rebase --abort",
    "rebase --skip",
    "cherry-pick topic/one",
    "cherry-pick --abort",
    "stash -q -u",
    "stash pop -q",
    "pack-refs --all",
    "gc -q",
    "replace -f main main~1",
    "replace -d main",
    "update-ref refs/remotes/origin/main HEAD",
    "update-ref refs/remotes/origin/topic HEAD",
    "update-ref refs/remotes/fork/x HEAD~1",
    "update-ref -d refs/remotes/origin/main",
    "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main",
    "symbolic-ref -d refs/remotes/origin/HEAD",
    "tag -f v1",
    "update-index --assume-unchanged a",
    "update-index --no-assume-unchanged a",
    "update-index --skip-worktree b",
    "update-index --no-skip-worktree b",
    "update-index --chmod=+x a",
    "update-index --refresh",
    "update-index --split-index",
    "update-index --no-split-index",
    "sparse-checkout set src",
    "sparse-checkout disable",
    "config core.fileMode false",
    "config --unset core.fileMode",
    "config status.renames copies",
    "config status.showUntrackedFiles all",
    "config --unset status.showUntrackedFiles",
    "config core.symlinks false",
    // Not harmless, so that the configuration of the user is listed, too.
    "config core.pager less",
    "config --unset core.pager",
    "config --global core.fileMode false",
    "config --global --unset core.fileMode",
    "config --global core.excludesFile ~/excludes",
    "config --global --unset core.excludesFile",
];

/// A change of a repository or its surroundings; a no-op when impossible in the current state.
#[derive(Debug, Clone)]
enum Change {
    Write(PathBuf, u8),
    /// As editors save: a new file is renamed over the old one.
    Replace(PathBuf),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    RenameParent(PathBuf),
    RemoveParent(PathBuf),
    Copy(PathBuf, PathBuf),
    SetExecutable(PathBuf, bool),
    Symlink(PathBuf, PathBuf),
    MakeDirectory(PathBuf),
    HardLink(PathBuf, PathBuf),
    /// Creates a hard link in the working tree to a file outside of it, and writes through the outer path.
    HardLinkFromOutside(PathBuf),
    IgnoreRules(&'static str, &'static str),
    ExcludeRules(&'static str),
    GlobalExcludes(&'static str),
    Git(&'static str),
    AddWorktree(&'static str),
    SwitchWorktree,
    RemoveWorktree(&'static str),
    PruneWorktree,
    NestRepository,
    AddSubmodule,
    DirtySubmodule,
    RemoveSubmodule,
}

fn path() -> impl Strategy<Value = PathBuf> {
    (select(&DIRECTORIES[..]), select(&NAMES[..]))
        .prop_map(|(directory, name)| Path::new(directory).join(OsStr::from_bytes(name)))
}

fn change() -> impl Strategy<Value = Change> {
    let rules = || select(&RULES[..]);
    let worktree = || select(&["shop-AB-1", "shop/new/inner"][..]);
    let files = prop_oneof![
        8 => (path(), 0..4_u8).prop_map(|(path, size)| Change::Write(path, size)),
        1 => path().prop_map(Change::Replace),
        1 => path().prop_map(Change::Remove),
        1 => (path(), path()).prop_map(|(from, to)| Change::Rename(from, to)),
        1 => path().prop_map(Change::RenameParent),
        1 => path().prop_map(Change::RemoveParent),
        1 => (path(), path()).prop_map(|(from, to)| Change::Copy(from, to)),
        1 => (path(), any::<bool>()).prop_map(|(path, on)| Change::SetExecutable(path, on)),
        1 => (path(), path()).prop_map(|(target, link)| Change::Symlink(target, link)),
        1 => path().prop_map(Change::MakeDirectory),
        2 => (select(&["", "src", "new"][..]), rules()).prop_map(|(place, text)| Change::IgnoreRules(place, text)),
    ];
    let surroundings = prop_oneof![
        2 => rules().prop_map(Change::ExcludeRules),
        2 => rules().prop_map(Change::GlobalExcludes),
        1 => (path(), path()).prop_map(|(from, to)| Change::HardLink(from, to)),
        1 => path().prop_map(Change::HardLinkFromOutside),
        1 => worktree().prop_map(Change::AddWorktree),
        1 => Just(Change::SwitchWorktree),
        2 => worktree().prop_map(Change::RemoveWorktree),
        1 => Just(Change::PruneWorktree),
        1 => Just(Change::NestRepository),
        1 => Just(Change::AddSubmodule),
        1 => Just(Change::DirtySubmodule),
        2 => Just(Change::RemoveSubmodule),
    ];
    prop_oneof![10 => files, 8 => select(&COMMANDS[..]).prop_map(Change::Git), 3 => surroundings]
}

/// A sandbox that contains a repository `shop`.
struct CacheFixture {
    _directory: tempfile::TempDir,
    home: PathBuf,
    git: Git,
    programs: Arc<Programs>,
    cache: GitCache,
}

impl CacheFixture {
    async fn new(max_age: Option<Duration>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().canonicalize().unwrap();
        let shell = home.join("shell");
        fs::write(&shell, format!("#!/bin/sh\necho ::relative:{}::\n", std::env::var("PATH").unwrap()))
            .unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let environment = BTreeMap::from([
            ("HOME".into(), home.as_os_str().to_owned()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("GIT_AUTHOR_DATE".into(), "2030-01-01T00:00:00Z".into()),
        ]);
        let settings = SettingsStore::open(&home.join("settings.toml"), Overrides::default()).unwrap();
        settings.update(|settings| settings.sandbox_base_directory = Some(home.clone())).unwrap();
        let settings = Arc::new(settings);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let programs = Arc::new(Programs::with_login_path(settings, LoginPath::new(shell, environment)));
        let git = Git::new(programs.clone(), sandbox);
        fs::write(
            home.join(".gitconfig"),
            "[user]\n name = Ada\n email = ada@example.org\n[init]\n defaultBranch = main\n\
             [protocol \"file\"]\n allow = always\n[gc]\n auto = 0\n",
        )
        .unwrap();
        let cache = match max_age {
            Some(max_age) => {
                let limits = WatchLimits { watches: 1000, instances: 10 };
                GitCache::with_limits(git.clone(), max_age, limits)
            }
            None => GitCache::new(git.clone()),
        };
        let fixture = Self { _directory: directory, home, git, programs, cache };
        let shop = fixture.shop();
        fs::create_dir_all(shop.join("src/deep")).unwrap();
        fixture.run(&shop, "init -q").await;
        for name in ["a", "b", "src/c", "src/deep/d"] {
            fs::write(shop.join(name), name.repeat(50)).unwrap();
        }
        fs::write(shop.join(".gitignore"), RULES[0]).unwrap();
        fixture.run(&shop, "add .").await;
        fixture.run(&shop, "commit -q -m First").await;
        fixture
    }

    fn shop(&self) -> PathBuf {
        self.home.join("shop")
    }

    /// Runs git directly, without the cache. Accepts any exit code.
    async fn output(&self, directory: &Path, args: &[&str]) -> Output {
        let command = self.programs.command(Program::Git).await.directory(directory).args(args);
        // Without this, `git status` refreshes the index, which is itself a change of the repository.
        let command = command.env("GIT_OPTIONAL_LOCKS", "0");
        // The product shows the objects that are pushed, not their replacements.
        command.env("GIT_NO_REPLACE_OBJECTS", "1").run(Limits::time(time::LOCAL)).await.unwrap()
    }

    async fn run(&self, directory: &Path, command: &str) {
        if directory.exists() {
            self.output(directory, &command.split(' ').collect::<Vec<_>>()).await;
        }
    }

    async fn stdout(&self, directory: &Path, args: &[&str]) -> Option<Vec<u8>> {
        let output = self.output(directory, args).await;
        output.status.success().then_some(output.stdout)
    }

    async fn text(&self, directory: &Path, args: &[&str]) -> Option<String> {
        let text = String::from_utf8(self.stdout(directory, args).await?).unwrap();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    async fn apply(&self, change: &Change, tree: &Path) {
        // Writes through a link in an ignored directory, which is not watched, are seen after the maximum age.
        if let Change::HardLink(_, to) = change
            && let Some(directory) = to.parent().and_then(Path::to_str).filter(|path| !path.is_empty())
            && self.stdout(tree, &["check-ignore", "-q", "--", directory]).await.is_some()
        {
            return;
        }
        let in_tree = |path: &PathBuf| tree.join(path);
        let with_parent = |path: &PathBuf| {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap()).map(|()| path)
        };
        let result: io::Result<()> = match change {
            Change::Write(path, size) => {
                with_parent(path).and_then(|path| fs::write(path, "x".repeat((*size).into())))
            }
            Change::Replace(path) => with_parent(path).and_then(|path| {
                fs::write(path.with_extension("tmp"), "saved as editors do")?;
                fs::rename(path.with_extension("tmp"), path)
            }),
            Change::Remove(path) => fs::remove_file(in_tree(path)),
            Change::Rename(from, to) => with_parent(to).and_then(|to| fs::rename(in_tree(from), to)),
            Change::RenameParent(path) => {
                fs::rename(in_tree(path).parent().unwrap(), tree.join("src").join("moved"))
            }
            Change::RemoveParent(path) => match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => fs::remove_dir_all(tree.join(parent)),
                _ => Ok(()),
            },
            Change::Copy(from, to) => fs::copy(in_tree(from), in_tree(to)).map(drop),
            Change::SetExecutable(path, on) => {
                let mode = if *on { 0o755 } else { 0o644 };
                fs::set_permissions(in_tree(path), fs::Permissions::from_mode(mode))
            }
            Change::Symlink(target, link) => symlink(target, in_tree(link)),
            Change::MakeDirectory(path) => fs::create_dir_all(in_tree(path)),
            Change::HardLink(from, to) => fs::hard_link(in_tree(from), in_tree(to))
                .and_then(|()| fs::write(in_tree(to), "written through the second link")),
            Change::HardLinkFromOutside(path) => {
                let outside = self.home.join("outside");
                fs::write(&outside, "before")
                    .and_then(|()| fs::hard_link(&outside, in_tree(path)))
                    .and_then(|()| fs::write(&outside, "after, from outside"))
            }
            Change::IgnoreRules(place, rules) => fs::write(tree.join(place).join(".gitignore"), rules),
            Change::ExcludeRules(rules) => {
                let info = self.shop().join(".git/info");
                fs::create_dir_all(&info).and_then(|()| fs::write(info.join("exclude"), rules))
            }
            Change::GlobalExcludes(rules) => {
                let config = self.home.join(".config/git");
                fs::create_dir_all(&config).and_then(|()| fs::write(config.join("ignore"), rules))
            }
            _ => {
                self.apply_with_git(change, tree).await;
                Ok(())
            }
        };
        // Impossible changes fail, which is part of the property: they must not affect the cache either.
        drop(result);
    }

    async fn apply_with_git(&self, change: &Change, tree: &Path) {
        let (shop, linked) = (self.shop(), self.home.join("shop-AB-1"));
        match change {
            Change::Git(command) => self.run(tree, command).await,
            Change::AddWorktree(name) => {
                let path = self.home.join(name);
                self.run(&shop, &format!("worktree add -q -f {} HEAD", path.display())).await;
            }
            Change::SwitchWorktree => self.run(&linked, "checkout -q -B feature/AB-1").await,
            Change::RemoveWorktree(name) => {
                let path = self.home.join(name);
                self.run(&shop, &format!("worktree remove --force {}", path.display())).await;
            }
            Change::PruneWorktree => {
                let _ = fs::remove_dir_all(&linked);
                self.run(&shop, "worktree prune").await;
            }
            Change::NestRepository => self.run(tree, "init -q new/nested").await,
            Change::AddSubmodule => {
                let source = self.home.join("library");
                if !source.exists() {
                    fs::create_dir(&source).unwrap();
                    self.run(&source, "init -q").await;
                    self.run(&source, "commit -q --allow-empty -m x").await;
                }
                self.run(tree, &format!("submodule add -q -f {} library", source.display())).await;
            }
            Change::DirtySubmodule => drop(fs::write(tree.join("library/untracked"), "")),
            Change::RemoveSubmodule => self.remove_nested(tree).await,
            _ => unreachable!("{change:?} does not run git"),
        }
    }

    /// Removes all nested repositories from the working tree, and all hard links.
    async fn remove_nested(&self, tree: &Path) {
        self.run(tree, "rm -fq library").await;
        for nested in ["new", "library", "src/moved"] {
            let _ = fs::remove_dir_all(tree.join(nested));
        }
        self.run(tree, "worktree prune").await;
    }

    /// Compares status and branches with the output of git.
    async fn compare(&self, directory: &Path) -> Result<(), TestCaseError> {
        // The step may have removed the worktree that it ran in. Git cannot start in a missing directory: the cache
        // must return what an uncached call returns.
        if !directory.exists() {
            prop_assert!(self.cache.status(directory).await.is_err());
            let listing = self.cache.branches(directory).await.map(|branches| branches.listing).ok();
            let expected = self.git.listing(directory).await.ok();
            prop_assert_eq!(listing.as_deref(), expected.as_ref());
            return Ok(());
        }
        let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"];
        let expected = self.stdout(directory, &args).await.map(|output| parse_status(&output));
        let status = self.cache.status(directory).await.ok();
        prop_assert_eq!(status.as_deref(), expected.as_ref());

        let Branches { worktrees, listing } = self.cache.branches(directory).await.unwrap();
        let args = [
            "for-each-ref",
            "--format=%(refname)%09%(symref)%09%(committerdate:iso-strict)",
            "refs/heads",
            "refs/remotes",
        ];
        let refs = self.text(directory, &args).await.unwrap_or_default();
        let (mut expected, mut local) = (Vec::new(), Vec::new());
        for line in refs.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [full, "", date] = fields[..] else { continue };
            let name = full.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/");
            let name =
                name.strip_prefix("origin/").filter(|_| full.starts_with("refs/remotes")).unwrap_or(name);
            if !local.contains(&name) {
                local.push(name);
                let date = Some(date).filter(|date| !date.is_empty());
                expected.push((name, full.starts_with("refs/remotes/origin/"), date));
            }
        }
        let mut branches: Vec<_> =
            listing.branches.iter().map(|b| (b.name.as_str(), b.remote, b.last_commit.as_deref())).collect();
        branches.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(branches, expected);
        let default = match self.text(directory, &["symbolic-ref", "refs/remotes/origin/HEAD"]).await {
            Some(full) => full.strip_prefix("refs/remotes/origin/").map(str::to_owned),
            None => self.text(directory, &["branch", "--show-current"]).await,
        };
        prop_assert_eq!(&listing.default, &default.unwrap_or_else(|| "main".to_owned()));
        let list =
            self.stdout(directory, &["worktree", "list", "--porcelain", "-z"]).await.unwrap_or_default();
        let expected: Vec<ListedWorktree> = parse_worktrees(&list, 0)
            .into_iter()
            .filter(|worktree| worktree.path != directory)
            .map(|worktree| {
                let branch = worktree.branch.unwrap_or_default();
                let name = worktree.path.file_name().unwrap().to_string_lossy().into_owned();
                let ticket = ticket_in(&name).or_else(|| ticket_in(&branch)).map(str::to_owned);
                ListedWorktree { path: worktree.path, branch, ticket }
            })
            .collect();
        prop_assert_eq!(worktrees, expected);
        Ok(())
    }

    /// Completes the background work of the cache, so that the next results can come from the cache.
    async fn settle(&self, directory: &Path) {
        self.cache.retry_now();
        // The first round opens closed repositories, the second one those that closed themselves due to the
        // changes, and the third one caches the results.
        for _ in 0..3 {
            let _ = self.cache.status(directory).await;
            let _ = self.cache.branches(directory).await;
            self.cache.wait_until_open().await;
        }
    }

    /// Waits until the repository is watched and its results are cached.
    async fn open(&self, directory: &Path) {
        // Opening fails while the configuration files are too recent to be compared by metadata.
        while self.cache.repository(directory).await.is_none() {
            self.settle(directory).await;
        }
        self.settle(directory).await;
    }

    /// Returns whether the next status comes from the cache: then both are the same allocation.
    async fn is_cached(&self, directory: &Path) -> bool {
        let (Ok(first), Ok(second)) =
            (self.cache.status(directory).await, self.cache.status(directory).await)
        else {
            return false;
        };
        Arc::ptr_eq(&first, &second)
    }
}

/// Changes, and whether they happen in the linked worktree.
fn step() -> impl Strategy<Value = (Vec<Change>, bool)> {
    (proptest::collection::vec(change(), 1..3), proptest::bool::weighted(0.2))
}

/// Returns the number of test cases, each of about 45 changes. `LOOPGATE_TEST_CHANGES` is a number of changes.
fn cases() -> u32 {
    let changes = std::env::var("LOOPGATE_TEST_CHANGES").ok().map(|changes| changes.parse::<u32>().unwrap());
    changes.map_or(8, |changes| changes.div_ceil(45))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn cached_results_equal_those_of_git(steps in proptest::collection::vec(step(), 20..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fixture = CacheFixture::new(None).await;
            let (shop, linked) = (fixture.shop(), fixture.home.join("shop-AB-1"));
            for (changes, in_worktree) in &steps {
                let tree = if *in_worktree && linked.join(".git").exists() { &linked } else { &shop };
                fixture.settle(tree).await;
                for change in changes {
                    fixture.apply(change, tree).await;
                }
                fixture.compare(tree).await?;
                fixture.settle(tree).await;
                fixture.compare(tree).await?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}

#[tokio::test]
async fn results_are_cached_until_something_changes() {
    let fixture = CacheFixture::new(None).await;
    let shop = fixture.shop();
    fixture.open(&shop).await;
    assert!(fixture.is_cached(&shop).await);
    for path in ["a", "src/new", "target/ignored"] {
        let before = fixture.cache.status(&shop).await.unwrap();
        fs::create_dir_all(shop.join(path).parent().unwrap()).unwrap();
        fs::write(shop.join(path), "changed").unwrap();
        let after = fixture.cache.status(&shop).await.unwrap();
        assert!(!Arc::ptr_eq(&before, &after), "{path}");
        assert_eq!(*after, fixture.git.status(&shop).await.unwrap());
        fixture.open(&shop).await;
        assert!(fixture.is_cached(&shop).await, "{path}");
    }
    // The previous status reported `target` as ignored, so it is not watched.
    let before = fixture.cache.status(&shop).await.unwrap();
    fs::write(shop.join("target/more"), "").unwrap();
    assert!(Arc::ptr_eq(&before, &fixture.cache.status(&shop).await.unwrap()));
}

/// Git prints these places since version 2.42.
#[tokio::test]
async fn configuration_files_in_known_places_are_compared() {
    let fixture = CacheFixture::new(None).await;
    let shop = fixture.shop();
    let repository = fixture.git.repository(&shop).await.unwrap();
    let files = fixture.git.config_listing(&repository).await.unwrap().external_files().unwrap();
    let printed = fixture.text(&shop, &["var", "-l"]).await.unwrap();
    let names = ["GIT_CONFIG_SYSTEM=", "GIT_CONFIG_GLOBAL=", "GIT_ATTR_SYSTEM=", "GIT_ATTR_GLOBAL="];
    for place in printed.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name))) {
        assert!(place == "/dev/null" || files.contains(&place.into()), "{place} is not in {files:?}");
    }
}

#[tokio::test]
async fn unreported_changes_are_seen_after_max_age() {
    let fixture = CacheFixture::new(Some(Duration::ZERO)).await;
    let (shop, outside) = (fixture.shop(), fixture.home.join("outside"));
    fixture.open(&shop).await;
    // The maximum age is zero, which replaces the wait of 30 seconds.
    fs::hard_link(shop.join("a"), &outside).unwrap();
    fs::write(&outside, "written through the outer path").unwrap();
    let status = fixture.cache.status(&shop).await.unwrap();
    assert_eq!(*status, fixture.git.status(&shop).await.unwrap());
    assert_eq!(status.changes.len(), 1);
}

#[tokio::test]
async fn repository_with_unreported_changes_is_not_cached() {
    let fixture = CacheFixture::new(None).await;
    let shop = fixture.shop();
    fixture.open(&shop).await;
    fs::hard_link(shop.join("a"), shop.join("second")).unwrap();
    fixture.settle(&shop).await;
    assert!(!fixture.is_cached(&shop).await, "a file has two hard links");
    fs::remove_file(shop.join("second")).unwrap();
    fixture.open(&shop).await;
    assert!(fixture.is_cached(&shop).await);
    fixture.settle(&shop.join("src")).await;
    assert!(!fixture.is_cached(&shop.join("src")).await, "not the root of the working tree");
}

#[tokio::test]
async fn least_recently_used_repository_is_evicted_at_the_limits() {
    let mut fixture = CacheFixture::new(None).await;
    let (first, second) = (fixture.shop(), fixture.home.join("second"));
    fixture.run(&fixture.home, &format!("clone -q {} {}", first.display(), second.display())).await;
    for (watches, instances) in [(1000, 1), (12, 10)] {
        let limits = WatchLimits { watches, instances };
        fixture.cache = GitCache::with_limits(fixture.git.clone(), Duration::from_secs(30), limits);
        fixture.open(&first).await;
        fixture.open(&second).await;
        assert!(fixture.cache.repository(&second).await.is_some(), "{limits:?}");
        assert!(fixture.cache.repository(&first).await.is_none(), "{limits:?}");
        assert_eq!(fixture.cache.beyond_limits(), 0, "the limits of the cache are not those of the user");
    }
}

#[tokio::test]
async fn removed_worktree_is_not_cached() {
    for with_nested in [false, true] {
        for keeps_git_dir in [false, true] {
            let fixture = CacheFixture::new(None).await;
            let (shop, linked) = (fixture.shop(), fixture.home.join("shop-AB-1"));
            fixture.apply(&Change::AddWorktree("shop-AB-1"), &shop).await;
            fixture.open(&linked).await;
            fixture.compare(&linked).await.unwrap();
            assert!(fixture.is_cached(&linked).await);
            if with_nested {
                fixture.run(&linked, "init -q new/nested").await;
            }
            if keeps_git_dir {
                fs::remove_dir_all(&linked).unwrap();
            } else {
                fixture.run(&shop, &format!("worktree remove --force {}", linked.display())).await;
            }
            assert!(!linked.exists());
            fixture.compare(&linked).await.unwrap();
        }
    }
}
