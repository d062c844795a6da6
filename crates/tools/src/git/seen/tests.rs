//! What is kept is held against what the real git says, through thousands of changes of every kind.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use loopgate_home::{Overrides, Sandbox, SettingsStore};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::git::{ListedWorktree, parse_status, parse_worktrees, ticket_in, time};
use crate::login_path::LoginPath;
use crate::process::{Limits, Output};
use crate::programs::Programs;

/// A machine with a repository `shop` in it.
struct World {
    home: tempfile::TempDir,
    git: Git,
    seen: SeenRepositories,
    random: StdRng,
}

impl World {
    async fn new(seed: u64) -> Self {
        let home = tempfile::tempdir().unwrap();
        let shell = home.path().join("shell");
        fs::write(&shell, format!("#!/bin/sh\necho ::relative:{}::\n", std::env::var("PATH").unwrap()))
            .unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let environment = BTreeMap::from([
            ("HOME".into(), home.path().as_os_str().to_owned()),
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("GIT_AUTHOR_DATE".into(), "2030-01-01T00:00:00Z".into()),
        ]);
        let settings = SettingsStore::open(&home.path().join("settings.toml"), Overrides::default()).unwrap();
        let login_path = LoginPath::new(shell, environment);
        let root = home.path().canonicalize().unwrap();
        settings.update(|settings| settings.sandbox_base_directory = Some(root)).unwrap();
        let settings = Arc::new(settings);
        let sandbox = Arc::new(Sandbox::new(settings.clone(), Path::new("/nonexistent-data")));
        let git = Git::new(Arc::new(Programs::with_login_path(settings, login_path)), sandbox);
        fs::write(
            home.path().join(".gitconfig"),
            "[user]\n name = Ada\n email = ada@example.org\n[init]\n defaultBranch = main\n\
             [protocol \"file\"]\n allow = always\n[gc]\n auto = 0\n",
        )
        .unwrap();
        let seen = SeenRepositories::new(git.clone());
        let world = Self { home, git, seen, random: StdRng::seed_from_u64(seed) };
        let shop = world.shop();
        fs::create_dir_all(shop.join("src/deep")).unwrap();
        world.run(&shop, &["init", "-q"]).await;
        for name in ["a", "b", "src/c", "src/deep/d"] {
            fs::write(shop.join(name), name.repeat(50)).unwrap();
        }
        fs::write(shop.join(".gitignore"), "target/\n*.log\n").unwrap();
        world.run(&shop, &["add", "."]).await;
        world.run(&shop, &["commit", "-q", "-m", "First"]).await;
        world
    }

    fn shop(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("shop")
    }

    /// Runs git; that it refuses is as good.
    /// Git as a person runs it.
    async fn raw(&self, directory: &Path, args: &[&str]) -> Output {
        let command = self.git.programs.command(Program::Git).await.directory(directory).args(args);
        let command = command.env("GIT_OPTIONAL_LOCKS", "0");
        command.run(Limits::time(time::LOCAL)).await.unwrap()
    }

    async fn run(&self, directory: &Path, args: &[&str]) {
        if directory.exists() {
            self.raw(directory, args).await;
        }
    }

    async fn printed(&self, directory: &Path, args: &[&str]) -> Option<Vec<u8>> {
        let output = self.raw(directory, args).await;
        output.status.success().then_some(output.stdout)
    }

    async fn text(&self, directory: &Path, args: &[&str]) -> Option<String> {
        let printed = self.printed(directory, args).await?;
        Some(String::from_utf8(printed).unwrap().trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn kept(&self, directory: &Path) -> Option<Arc<Kept>> {
        match &*lock(&self.seen.slot(directory).watched) {
            Watched::Yes(kept) => Some(kept.clone()),
            Watched::Not(_) | Watched::Begun => None,
        }
    }

    /// Does now what else is done in the background. Answers whether the tree is watched.
    async fn settle(&self, directory: &Path) -> bool {
        match self.kept(directory) {
            Some(kept) => kept.judge().await,
            None => self.seen.slot(directory).begin(&self.git).await,
        }
        self.kept(directory).is_some_and(|kept| kept.repository.told().tree)
    }

    /// The last status that git told since the repository is watched.
    async fn last(&self, directory: &Path) -> Option<Arc<Status>> {
        let kept = self.kept(directory)?;
        let last = kept.status.0.lock().await;
        last.as_ref().map(|last| last.content.clone())
    }

    /// Holds both answers against git's. Answers whether git was not asked for the status.
    async fn compare(&self, directory: &Path, after: &str) -> bool {
        let before = self.last(directory).await;
        let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal"];
        let expected = self.printed(directory, &args).await.map(|printed| parse_status(&printed));
        let status = self.seen.status(directory).await.ok();
        assert_eq!(status.as_deref(), expected.as_ref(), "after {after}");

        let changed = expected.iter().flat_map(|status| &status.changes);
        let changed = changed.filter_map(|change| std::str::from_utf8(&change.path).ok()).next_back();
        self.compare_diff(directory, changed.unwrap_or("a").trim_end_matches('/'), after).await;

        let Branches { worktrees, listing } = self.seen.branches(directory).await.unwrap();
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
                expected.push((
                    name,
                    full.starts_with("refs/remotes/origin/"),
                    Some(date).filter(|date| !date.is_empty()),
                ));
            }
        }
        let mut told: Vec<_> =
            listing.branches.iter().map(|b| (b.name.as_str(), b.remote, b.last_commit.as_deref())).collect();
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected, "after {after}");
        let default = match self.text(directory, &["symbolic-ref", "refs/remotes/origin/HEAD"]).await {
            Some(full) => full.strip_prefix("refs/remotes/origin/").map(str::to_owned),
            None => self.text(directory, &["branch", "--show-current"]).await,
        };
        assert_eq!(listing.default, default.unwrap_or_else(|| "main".to_owned()), "after {after}");
        let list =
            self.printed(directory, &["worktree", "list", "--porcelain", "-z"]).await.unwrap_or_default();
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
        assert_eq!(worktrees, expected, "after {after}");
        before.zip(status).is_some_and(|(before, now)| Arc::ptr_eq(&before, &now))
    }

    /// Holds both sides of a file against those of which nothing is kept.
    async fn compare_diff(&self, directory: &Path, file: &str, after: &str) {
        let path = FilePath::parse(file).unwrap();
        let told = |diff: Result<FileDiff, FileDiffError>| diff.map_err(|error| error.to_string());
        let expected = told(self.git.diff_to_worktree(directory, &path).await);
        let seen = told(self.seen.diff_to_worktree(directory, &path).await);
        assert_eq!(seen, expected, "{file:?} after {after}");
    }

    fn number(&mut self, below: usize) -> usize {
        self.random.random_range(0..below)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.choose(&mut self.random).unwrap()
    }

    /// A path that exists, or could.
    fn path(&mut self) -> PathBuf {
        const DIRECTORIES: [&str; 8] =
            ["", "src", "src/deep", "new", "new/deeper", "target", "target/debug", "odd \"näme\"\n"];
        const NAMES: [&[u8]; 9] = [b"a", b"b", b"c", b"d", b"e f", b"x.log", b"-dash", b"caf\xe9", b"target"];
        let directory = self.one(&DIRECTORIES);
        let name = NAMES[self.number(NAMES.len())];
        Path::new(directory).join(OsStr::from_bytes(name))
    }

    /// Changes something in a working tree without git.
    fn change_files(&mut self, tree: &Path) -> String {
        let (one, other) = (self.path(), self.path());
        let (from, to) = (tree.join(&one), tree.join(&other));
        let prepare = |place: &Path| fs::create_dir_all(place.parent().unwrap());
        let kind = self.number(14);
        // Whatever is in the way makes this a change that does not happen.
        let _ = match kind {
            0..=3 => prepare(&from).and_then(|()| fs::write(&from, "x".repeat(self.number(4)))),
            4 => prepare(&from).and_then(|()| {
                fs::write(from.with_extension("tmp"), "saved as editors do")?;
                fs::rename(from.with_extension("tmp"), &from)
            }),
            5 => fs::remove_file(&from),
            6 => prepare(&to).and_then(|()| fs::rename(&from, &to)),
            7 => fs::rename(from.parent().unwrap(), to.parent().unwrap().join("moved")),
            8 => fs::set_permissions(&from, fs::Permissions::from_mode([0o644, 0o755][self.number(2)])),
            9 => symlink(&other, &from),
            10 if !one.parent().unwrap().as_os_str().is_empty() => fs::remove_dir_all(from.parent().unwrap()),
            11 => fs::copy(&from, &to).map(drop),
            12 => fs::create_dir_all(&from),
            _ => {
                let rules =
                    self.one(&["target/\n*.log\n", "", "new\n", "*\n!src\n", "src/deep/\n", "!x.log\n"]);
                fs::write(tree.join(self.one(&["", "src", "new"])).join(".gitignore"), rules)
            }
        };
        format!("change {kind} of {} and {}", one.display(), other.display())
    }

    /// Has git change something.
    async fn change_with_git(&mut self, tree: &Path) -> String {
        const COMMANDS: [&str; 64] = [
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
        ];
        let command = self.one(&COMMANDS);
        let args: Vec<&str> = command.split(' ').collect();
        self.run(tree, &args).await;
        command.to_owned()
    }

    /// Changes something around the repository, or the way it is one.
    async fn change_around(&mut self, tree: &Path) -> String {
        let home = self.home.path().canonicalize().unwrap();
        let info = tree.join(".git/info");
        let kind = self.number(14);
        match kind {
            0 | 1 => {
                let rules = self.one(&["", "new\n", "a\n", "src\n", "target\n!target\n"]);
                let _ = fs::create_dir_all(&info).and_then(|()| fs::write(info.join("exclude"), rules));
            }
            2 => {
                let place = home.join(self.one(&["shop-AB-1", "shop/new/inner"]));
                self.run(tree, &["worktree", "add", "-q", "-f", place.to_str().unwrap(), "HEAD"]).await;
            }
            3 => {
                let place = home.join("shop-AB-1");
                self.run(&place, &["checkout", "-q", "-B", "feature/AB-1"]).await;
            }
            4 | 5 => {
                let place = home.join(self.one(&["shop-AB-1", "shop/new/inner"]));
                self.run(tree, &["worktree", "remove", "--force", place.to_str().unwrap()]).await;
            }
            6 => {
                let place = home.join("shop-AB-1");
                let _ = fs::remove_dir_all(place);
                self.run(tree, &["worktree", "prune"]).await;
            }
            7 => self.run(tree, &["init", "-q", "new/nested"]).await,
            8 | 9 => self.unnest(tree).await,
            10 => {
                let source = home.join("library");
                if !source.exists() {
                    fs::create_dir(&source).unwrap();
                    self.run(&source, &["init", "-q"]).await;
                    self.run(&source, &["commit", "-q", "--allow-empty", "-m", "x"]).await;
                }
                self.run(tree, &["submodule", "add", "-q", "-f", source.to_str().unwrap(), "library"]).await;
            }
            11 => {
                let _ = fs::write(tree.join("library/untracked"), "");
            }
            12 => self.run(tree, &["rm", "-fq", "library"]).await,
            _ => {
                let _ = fs::create_dir_all(home.join(".config/git"));
                let rules = self.one(&["", "b\n", "*.log\n"]);
                fs::write(home.join(".config/git/ignore"), rules).unwrap();
            }
        }
        format!("change {kind} around")
    }

    /// Takes every repository out of the tree.
    async fn unnest(&self, tree: &Path) {
        self.run(tree, &["rm", "-fq", "library"]).await;
        for nested in ["new", "library", "src/moved"] {
            let _ = fs::remove_dir_all(tree.join(nested));
        }
        self.run(tree, &["worktree", "prune"]).await;
    }

    /// Changes this and that, and compares each time.
    async fn live(mut self, steps: usize) {
        let shop = self.shop();
        let (mut kept, mut watched) = (0, 0);
        for step in 0..steps {
            let linked = self.home.path().canonicalize().unwrap().join("shop-AB-1");
            let tree = if step % 5 == 4 && linked.join(".git").exists() { linked } else { shop.clone() };
            if step % 16 == 0 {
                self.unnest(&tree).await;
            }
            let mut after = format!("step {step}:");
            for _ in 0..self.number(4) {
                let change = match self.number(20) {
                    0..10 => self.change_files(&tree),
                    10..17 => self.change_with_git(&tree).await,
                    17 => self.change_around(&tree).await,
                    // In a part of the tree that this one may share.
                    _ => self.change_with_git(&shop).await,
                };
                after = format!("{after} {change};");
            }
            self.compare(&tree, &after).await;
            if self.settle(&tree).await {
                watched += 1;
                kept += usize::from(self.compare(&tree, &after).await);
            }
        }
        assert!(watched * 2 > steps, "only {watched} of {steps} times the tree was watched");
        assert!(kept * 10 > watched * 9, "only {kept} of {watched} answers were kept");
    }
}

/// Dates are asked for once a commit, but not where another commit stands for it.
#[tokio::test]
async fn a_replaced_commit_is_dated_as_the_other() {
    let world = World::new(0).await;
    let shop = world.shop();
    let commit = world.git.reader(&shop).await.unwrap().env("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z");
    let commit = commit.args(["commit", "-q", "--allow-empty", "-m", "Old"]);
    assert!(commit.run(crate::process::Limits::time(time::LOCAL)).await.unwrap().status.success());
    let mut former = world.git.listing(&shop, None).await.unwrap();
    let changes = ["branch two", "branch -f old main~1", "replace main main~1", "branch -f two old"];
    for change in changes.into_iter().chain(["replace -d main"]) {
        world.run(&shop, &change.split(' ').collect::<Vec<_>>()).await;
        let fresh = world.git.listing(&shop, None).await.unwrap();
        former = world.git.listing(&shop, Some(&former)).await.unwrap();
        assert_eq!(former, fresh, "after {change}");
        world.compare(&shop, change).await;
    }
}

macro_rules! lives {
    ($($name:ident: $seed:literal),*) => {$(
        #[tokio::test]
        async fn $name() {
            World::new($seed).await.live(400).await;
        }
    )*};
}

lives!(answers_are_gits_1: 1, answers_are_gits_2: 2, answers_are_gits_3: 3, answers_are_gits_4: 4);
