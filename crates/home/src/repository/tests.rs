//! Directories that are repositories, and directories that only look like some.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::settings::{Overrides, SettingsStore};

struct RepositoryFixture {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
}

impl RepositoryFixture {
    /// A sandbox around `box`.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        for name in ["box", "out", "data"] {
            fs::create_dir(at(name)).unwrap();
        }
        let store = SettingsStore::open(&at("settings.toml"), Overrides::default()).unwrap();
        store.update(|settings| settings.sandbox_base_directory = Some(at("box"))).unwrap();
        let sandbox = Sandbox::new(Arc::new(store), &at("data"));
        Self { dir, sandbox }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Records as `git init` makes them.
    fn records(&self, name: &str) {
        for directory in ["objects/info", "objects/pack", "refs/heads"] {
            fs::create_dir_all(self.at(name).join(directory)).unwrap();
        }
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{name}/config"), "[core]\n\tbare = false\n");
    }

    /// A worktree that its clone knows.
    fn worktree(&self, clone: &str, name: &str) {
        let own = format!("{clone}/.git/worktrees/w");
        self.write(&format!("{own}/commondir"), "../..\n");
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/w\n");
        self.write(&format!("{own}/gitdir"), &format!("{}\n", self.at(name).join(".git").display()));
        self.write(&format!("{name}/.git"), &format!("gitdir: {}\n", self.at(&own).display()));
    }

    fn found(&self, name: &str) -> Repository {
        self.sandbox.repository(&self.at(name)).unwrap()
    }

    fn refusal(&self, name: &str) -> String {
        self.sandbox.repository(&self.at(name)).unwrap_err().to_string()
    }
}

#[test]
fn clones_worktrees_submodules_and_bare_repositories_are_found() {
    let fixture = RepositoryFixture::new();
    fixture.records("box/clone/.git");
    fs::create_dir_all(fixture.at("box/clone/src/deep")).unwrap();
    let below = fixture.found("box/clone/src/deep");
    assert_eq!((below.root, below.prefix), (fixture.at("box/clone"), PathBuf::from("src/deep")));
    assert_eq!((&below.own, &below.common), (&fixture.at("box/clone/.git"), &fixture.at("box/clone/.git")));

    fixture.worktree("box/clone", "box/w");
    let worktree = fixture.found("box/w");
    assert_eq!(worktree.own, fixture.at("box/clone/.git/worktrees/w"));
    assert_eq!((worktree.common, worktree.bare), (fixture.at("box/clone/.git"), false));

    fixture.records("box/clone/.git/modules/sub");
    fixture.write("box/clone/.git/modules/sub/config", "[core]\nworktree = ../../../sub\n");
    fixture.write("box/clone/sub/.git", "gitdir: ../.git/modules/sub\n");
    assert_eq!(fixture.found("box/clone/sub").own, fixture.at("box/clone/.git/modules/sub"));

    fixture.records("box/bare.git");
    assert!(fixture.found("box/bare.git").bare);
    symlink("clone", fixture.at("box/link")).unwrap();
    assert_eq!(fixture.found("box/link").root, fixture.at("box/clone"), "a link inside is followed");
    assert_eq!(fixture.refusal("box"), "not a git repository");
}

#[test]
fn nothing_above_or_outside_the_sandbox_is_a_repository() {
    let fixture = RepositoryFixture::new();
    fixture.records(".git");
    fixture.records("out/.git");
    fs::create_dir(fixture.at("box/plain")).unwrap();
    for name in ["box/plain", "box", "out", "box/missing"] {
        assert_eq!(fixture.refusal(name), "not a git repository", "{name}");
    }
}

#[test]
fn records_that_lie_elsewhere_or_belong_to_another_are_refused() {
    let fixture = RepositoryFixture::new();
    fixture.records("out/.git");
    fixture.records("box/victim/.git");
    let outside = fixture.at("out/.git");
    fixture.write("box/pointer/.git", &format!("gitdir: {}\n", outside.display()));
    assert!(fixture.refusal("box/pointer").contains("outside of the sandbox"));
    fixture.write("box/thief/.git", "gitdir: ../victim/.git\n");
    assert!(fixture.refusal("box/thief").contains("another working tree"));
    fs::create_dir(fixture.at("box/link")).unwrap();
    symlink(&outside, fixture.at("box/link/.git")).unwrap();
    assert!(fixture.refusal("box/link").contains("neither a directory nor a file"));
    fixture.records("box/common/.git");
    fixture.write("box/common/.git/commondir", &outside.display().to_string());
    assert!(fixture.refusal("box/common").contains("outside of the sandbox"));
    for (name, alternates) in [("one", outside.join("objects")), ("two", PathBuf::from("../../../hop"))] {
        fixture.records(&format!("box/{name}/.git"));
        let listed = format!("# comment\n{}\n", alternates.display());
        fixture.write(&format!("box/{name}/.git/objects/info/alternates"), &listed);
    }
    fixture.write("box/hop/info/alternates", &outside.join("objects").display().to_string());
    for name in ["box/one", "box/two"] {
        assert!(fixture.refusal(name).contains("borrows objects from outside"), "{name}");
    }
}

#[test]
fn bare_repository_in_a_working_tree_is_refused() {
    let fixture = RepositoryFixture::new();
    fixture.records("box/clone/.git");
    fixture.records("box/clone/sub");
    for name in ["box/clone/sub", "box/clone/sub/objects"] {
        assert!(fixture.refusal(name).contains("bare repository inside"), "{name}");
    }
}

#[test]
fn records_are_files_and_directories_of_their_own() {
    let fixture = RepositoryFixture::new();
    for (number, name) in
        ["HEAD", "config", "index", "objects/pack", "refs", "info/exclude"].iter().enumerate()
    {
        let clone = format!("box/{number}");
        fixture.records(&format!("{clone}/.git"));
        let record = fixture.at(&clone).join(".git").join(name);
        let _ = fs::remove_file(&record).or_else(|_| fs::remove_dir_all(&record));
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        symlink(fixture.at("out"), &record).unwrap();
        assert!(fixture.refusal(&clone).contains(name), "{name}");
    }
    let pipe = |name: &str| {
        let path = fixture.at(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    fixture.records("box/pipe/.git");
    fs::remove_file(fixture.at("box/pipe/.git/config")).unwrap();
    pipe("box/pipe/.git/config");
    assert!(fixture.refusal("box/pipe").contains("config"));
    fixture.records("box/rules/.git");
    pipe("box/rules/.gitignore");
    assert!(fixture.refusal("box/rules").contains("rules"));
    fixture.records("box/broken/.git");
    fixture.write("box/broken/.git/config", "[core\n");
    assert!(fixture.refusal("box/broken").contains("malformed"));
}

#[test]
fn opened_repository_survives_a_rename() {
    let fixture = RepositoryFixture::new();
    fixture.records("box/clone/.git");
    fixture.write("box/clone/mine", "mine");
    let found = fixture.found("box/clone");
    fs::rename(fixture.at("box/clone"), fixture.at("box/moved")).unwrap();
    symlink(fixture.at("out"), fixture.at("box/clone")).unwrap();
    let held = found.handles.root.held_path().unwrap();
    assert_eq!(fs::read_to_string(held.join("mine")).unwrap(), "mine");
    let error = fixture.sandbox.repository(&fixture.at("box/clone")).unwrap_err();
    assert!(matches!(error, RepositoryError::None), "{error}");
}

#[test]
fn worktree_resolves_to_its_clone() {
    let fixture = RepositoryFixture::new();
    fixture.records("box/clone/.git");
    fixture.write("box/clone/.git/config", "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n");
    fixture.worktree("box/clone", "box/w");
    for name in ["box/clone", "box/w"] {
        let found = fixture.found(name);
        assert_eq!(found.origin().unwrap().as_str(), "acme/shop");
        assert_eq!(found.default_branch().as_deref(), Some("main"), "{name}");
    }
    fs::create_dir(fixture.at("box/clone/src")).unwrap();
    assert_eq!(fixture.sandbox.origin_of(&fixture.at("box/clone/src")), None, "it is none itself");
    fixture.write("box/clone/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
    assert_eq!(fixture.found("box/w").default_branch().as_deref(), Some("trunk"));
}
