//! Directories that are repositories, and directories that only look like some.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::settings::{Overrides, SettingsStore};

struct Place {
    dir: tempfile::TempDir,
    sandbox: Sandbox,
}

impl Place {
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
    let place = Place::new();
    place.records("box/clone/.git");
    fs::create_dir_all(place.at("box/clone/src/deep")).unwrap();
    let below = place.found("box/clone/src/deep");
    assert_eq!((below.root, below.prefix), (place.at("box/clone"), PathBuf::from("src/deep")));
    assert_eq!((&below.own, &below.common), (&place.at("box/clone/.git"), &place.at("box/clone/.git")));

    place.worktree("box/clone", "box/w");
    let worktree = place.found("box/w");
    assert_eq!(worktree.own, place.at("box/clone/.git/worktrees/w"));
    assert_eq!((worktree.common, worktree.bare), (place.at("box/clone/.git"), false));

    place.records("box/clone/.git/modules/sub");
    place.write("box/clone/.git/modules/sub/config", "[core]\nworktree = ../../../sub\n");
    place.write("box/clone/sub/.git", "gitdir: ../.git/modules/sub\n");
    assert_eq!(place.found("box/clone/sub").own, place.at("box/clone/.git/modules/sub"));

    place.records("box/bare.git");
    assert!(place.found("box/bare.git").bare);
    symlink("clone", place.at("box/link")).unwrap();
    assert_eq!(place.found("box/link").root, place.at("box/clone"), "a link inside is followed");
    assert_eq!(place.refusal("box"), "not a git repository");
}

#[test]
fn nothing_above_or_outside_the_sandbox_is_a_repository() {
    let place = Place::new();
    place.records(".git");
    place.records("out/.git");
    fs::create_dir(place.at("box/plain")).unwrap();
    for name in ["box/plain", "box", "out", "box/missing"] {
        assert_eq!(place.refusal(name), "not a git repository", "{name}");
    }
}

#[test]
fn records_that_lie_elsewhere_or_belong_to_another_are_refused() {
    let place = Place::new();
    place.records("out/.git");
    place.records("box/victim/.git");
    let outside = place.at("out/.git");
    place.write("box/pointer/.git", &format!("gitdir: {}\n", outside.display()));
    assert!(place.refusal("box/pointer").contains("outside of the sandbox"));
    place.write("box/thief/.git", "gitdir: ../victim/.git\n");
    assert!(place.refusal("box/thief").contains("another working tree"));
    fs::create_dir(place.at("box/link")).unwrap();
    symlink(&outside, place.at("box/link/.git")).unwrap();
    assert!(place.refusal("box/link").contains("neither a directory nor a file"));
    place.records("box/common/.git");
    place.write("box/common/.git/commondir", &outside.display().to_string());
    assert!(place.refusal("box/common").contains("outside of the sandbox"));
    for (name, alternates) in [("one", outside.join("objects")), ("two", PathBuf::from("../../../hop"))] {
        place.records(&format!("box/{name}/.git"));
        let listed = format!("# comment\n{}\n", alternates.display());
        place.write(&format!("box/{name}/.git/objects/info/alternates"), &listed);
    }
    place.write("box/hop/info/alternates", &outside.join("objects").display().to_string());
    for name in ["box/one", "box/two"] {
        assert!(place.refusal(name).contains("borrows objects from outside"), "{name}");
    }
}

#[test]
fn a_bare_repository_in_a_working_tree_is_refused() {
    let place = Place::new();
    place.records("box/clone/.git");
    place.records("box/clone/sub");
    for name in ["box/clone/sub", "box/clone/sub/objects"] {
        assert!(place.refusal(name).contains("bare repository inside"), "{name}");
    }
}

#[test]
fn records_are_files_and_directories_of_their_own() {
    let place = Place::new();
    for (number, name) in
        ["HEAD", "config", "index", "objects/pack", "refs", "info/exclude"].iter().enumerate()
    {
        let clone = format!("box/{number}");
        place.records(&format!("{clone}/.git"));
        let record = place.at(&clone).join(".git").join(name);
        let _ = fs::remove_file(&record).or_else(|_| fs::remove_dir_all(&record));
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        symlink(place.at("out"), &record).unwrap();
        assert!(place.refusal(&clone).contains(name), "{name}");
    }
    let pipe = |name: &str| {
        let path = place.at(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    place.records("box/pipe/.git");
    fs::remove_file(place.at("box/pipe/.git/config")).unwrap();
    pipe("box/pipe/.git/config");
    assert!(place.refusal("box/pipe").contains("config"));
    place.records("box/rules/.git");
    pipe("box/rules/.gitignore");
    assert!(place.refusal("box/rules").contains("rules"));
    place.records("box/broken/.git");
    place.write("box/broken/.git/config", "[core\n");
    assert!(place.refusal("box/broken").contains("malformed"));
}

#[test]
fn what_was_found_stays_in_hand_when_its_name_moves_on() {
    let place = Place::new();
    place.records("box/clone/.git");
    place.write("box/clone/mine", "mine");
    let found = place.found("box/clone");
    fs::rename(place.at("box/clone"), place.at("box/moved")).unwrap();
    symlink(place.at("out"), place.at("box/clone")).unwrap();
    let held = found.handles.root.held_path().unwrap();
    assert_eq!(fs::read_to_string(held.join("mine")).unwrap(), "mine");
    let error = place.sandbox.repository(&place.at("box/clone")).unwrap_err();
    assert!(matches!(error, RepositoryError::None), "{error}");
}

#[test]
fn a_worktree_speaks_for_its_clone() {
    let place = Place::new();
    place.records("box/clone/.git");
    place.write("box/clone/.git/config", "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n");
    place.worktree("box/clone", "box/w");
    for name in ["box/clone", "box/w"] {
        let found = place.found(name);
        assert_eq!(found.origin().unwrap().as_str(), "acme/shop");
        assert_eq!(found.default_branch().as_deref(), Some("main"), "{name}");
    }
    fs::create_dir(place.at("box/clone/src")).unwrap();
    assert_eq!(place.sandbox.origin_of(&place.at("box/clone/src")), None, "it is none itself");
    place.write("box/clone/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
    assert_eq!(place.found("box/w").default_branch().as_deref(), Some("trunk"));
}
