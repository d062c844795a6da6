//! Valid repositories, and directories that are crafted to look like one.

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
    /// Creates a sandbox with the base directory `box`.
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

    /// Creates a git directory with the layout of `git init`.
    fn git_dir(&self, name: &str) {
        for directory in ["objects/info", "objects/pack", "refs/heads"] {
            fs::create_dir_all(self.at(name).join(directory)).unwrap();
        }
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{name}/config"), "[core]\n\tbare = false\n");
    }

    /// Creates a worktree that is registered in its clone.
    fn worktree(&self, clone: &str, name: &str) {
        let own = format!("{clone}/.git/worktrees/w");
        self.write(&format!("{own}/commondir"), "../..\n");
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/w\n");
        self.write(&format!("{own}/gitdir"), &format!("{}\n", self.at(name).join(".git").display()));
        self.write(&format!("{name}/.git"), &format!("gitdir: {}\n", self.at(&own).display()));
    }

    fn repository(&self, name: &str) -> Repository {
        self.sandbox.repository(&self.at(name)).unwrap()
    }

    fn refusal(&self, name: &str) -> String {
        self.sandbox.repository(&self.at(name)).unwrap_err().to_string()
    }
}

#[test]
fn clones_worktrees_submodules_and_bare_repositories_are_recognized() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fs::create_dir_all(fixture.at("box/clone/src/deep")).unwrap();
    let below = fixture.repository("box/clone/src/deep");
    assert_eq!((below.root, below.prefix), (fixture.at("box/clone"), PathBuf::from("src/deep")));
    assert_eq!(
        (&below.git_dir, &below.common_dir),
        (&fixture.at("box/clone/.git"), &fixture.at("box/clone/.git"))
    );

    fixture.worktree("box/clone", "box/w");
    let worktree = fixture.repository("box/w");
    assert_eq!(worktree.git_dir, fixture.at("box/clone/.git/worktrees/w"));
    assert_eq!((worktree.common_dir, worktree.bare), (fixture.at("box/clone/.git"), false));

    fixture.git_dir("box/clone/.git/modules/sub");
    fixture.write("box/clone/.git/modules/sub/config", "[core]\nworktree = ../../../sub\n");
    fixture.write("box/clone/sub/.git", "gitdir: ../.git/modules/sub\n");
    assert_eq!(fixture.repository("box/clone/sub").git_dir, fixture.at("box/clone/.git/modules/sub"));

    fixture.git_dir("box/bare.git");
    assert!(fixture.repository("box/bare.git").bare);
    symlink("clone", fixture.at("box/link")).unwrap();
    assert_eq!(fixture.repository("box/link").root, fixture.at("box/clone"), "a link inside is followed");
    assert_eq!(fixture.refusal("box"), "not a git repository");
}

// `git clone --separate-git-dir`, and a bare repository in a directory with its worktrees.
#[test]
fn separate_git_directory_belongs_to_its_working_tree() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/gits/shop");
    fixture.write("box/shop/.git", "gitdir: ../gits/shop\n");
    let refusal = fixture.refusal("box/shop");
    assert!(refusal.contains("git config core.worktree \"$PWD\""), "{refusal}");
    fixture.write("box/gits/shop/config", "[core]\nworktree = ../../shop\n");
    assert_eq!(fixture.repository("box/shop").git_dir, fixture.at("box/gits/shop"));

    fixture.git_dir("box/web/.bare");
    fixture.write("box/web/.bare/config", "[core]\nbare = true\n");
    fixture.write("box/web/.git", "gitdir: ./.bare\n");
    let bare = fixture.repository("box/web");
    assert_eq!((bare.root.as_path(), bare.bare), (fixture.at("box/web/.bare").as_path(), true));
    assert!(fixture.repository("box/web/.bare").bare, "the same repository");
    fixture.write("box/web/.bare/config", "[core]\nbare = false\n");
    assert_eq!(fixture.repository("box/web").root, fixture.at("box/web"));
}

#[test]
fn clones_are_found_three_levels_deep_and_behind_links() {
    let fixture = RepositoryFixture::new();
    let remote = |name: &str| format!("[remote \"origin\"]\nurl = git@github.com:acme/{name}.git\n");
    let clones = [
        ("top", "box/top", "box/top/.git"),
        ("deep", "box/host/owner/deep", "box/host/owner/deep/.git"),
        ("bare", "box/bare/bare.git", "box/bare/bare.git"),
        ("linked", "box/a/b/c/d/linked", "box/a/b/c/d/linked/.git"),
        ("beneath", "box/a/b/c/beneath", "box/a/b/c/beneath/.git"),
        (".hidden", "box/.hidden", "box/.hidden/.git"),
    ];
    for (name, _, git_dir) in clones {
        fixture.git_dir(git_dir);
        fixture.write(&format!("{git_dir}/config"), &remote(name));
    }
    fixture.worktree("box/top", "box/top-worktree");
    symlink("a/b/c/d", fixture.at("box/links")).unwrap();
    symlink("..", fixture.at("box/host/cycle")).unwrap();
    symlink("../out", fixture.at("box/outside")).unwrap();
    fixture.git_dir("out/secret/.git");
    let found = fixture.sandbox.clones();
    let found: Vec<_> = found.iter().map(|(name, at)| (name.name(), at.as_path())).collect();
    let expected = [
        ("bare", "box/bare/bare.git"),
        ("deep", "box/host/owner/deep"),
        ("linked", "box/links/linked"),
        ("top", "box/top"),
    ];
    assert_eq!(
        found,
        expected.map(|(name, at)| (name, fixture.at(at))).each_ref().map(|(name, at)| (*name, at.as_path()))
    );
}

#[test]
fn repository_outside_the_sandbox_is_not_found() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir(".git");
    fixture.git_dir("out/.git");
    fs::create_dir(fixture.at("box/plain")).unwrap();
    for name in ["box/plain", "box", "out", "box/missing"] {
        assert_eq!(fixture.refusal(name), "not a git repository", "{name}");
    }
}

#[test]
fn git_directory_outside_the_sandbox_or_of_another_clone_is_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("out/.git");
    fixture.git_dir("box/victim/.git");
    let outside = fixture.at("out/.git");
    // Each repository below refers to `out/.git`, or to the git directory of another clone, in a different
    // way.
    fixture.write("box/pointer/.git", &format!("gitdir: {}\n", outside.display()));
    assert!(fixture.refusal("box/pointer").contains("outside of the sandbox"));
    fixture.write("box/thief/.git", "gitdir: ../victim/.git\n");
    assert!(fixture.refusal("box/thief").contains("another working tree"));
    fs::create_dir(fixture.at("box/link")).unwrap();
    symlink(&outside, fixture.at("box/link/.git")).unwrap();
    assert!(fixture.refusal("box/link").contains("neither a directory nor a file"));
    fixture.git_dir("box/common/.git");
    fixture.write("box/common/.git/commondir", &outside.display().to_string());
    assert!(fixture.refusal("box/common").contains("outside of the sandbox"));
    for (name, alternates) in [("one", outside.join("objects")), ("two", PathBuf::from("../../../hop"))] {
        fixture.git_dir(&format!("box/{name}/.git"));
        let listed = format!("# comment\n{}\n", alternates.display());
        fixture.write(&format!("box/{name}/.git/objects/info/alternates"), &listed);
    }
    fixture.write("box/hop/info/alternates", &outside.join("objects").display().to_string());
    for name in ["box/one", "box/two"] {
        assert!(fixture.refusal(name).contains("alternates"), "{name}");
    }
}

// Some versions of git resolve a link before `..`, others remove both names.
#[test]
fn pointers_to_the_parent_of_a_link_are_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fs::create_dir_all(fixture.at("box/clone/a/b/c")).unwrap();
    fs::create_dir_all(fixture.at("box/clone/a/out")).unwrap();
    symlink("a/b/c", fixture.at("box/clone/inside")).unwrap();
    symlink(fixture.at("out"), fixture.at("box/clone/outside")).unwrap();
    for alternates in ["../../inside/../../../../out", "../../inside/../../out", "../../outside/../data"] {
        fixture.write("box/clone/.git/objects/info/alternates", alternates);
        assert!(fixture.refusal("box/clone").contains("alternates"), "{alternates}");
    }
    fixture.write("box/clone/.git/objects/info/alternates", "../../a/b/../out\n");
    fixture.repository("box/clone");

    for name in ["records", "a/records", "a/b/records"] {
        fixture.git_dir(&format!("box/pointer/{name}"));
    }
    fs::create_dir_all(fixture.at("box/pointer/a/b")).unwrap();
    symlink("a/b", fixture.at("box/pointer/link")).unwrap();
    for (pointer, is_used) in [("records", true), ("a/../records", true), ("link/../records", false)] {
        fixture.write("box/pointer/.git", &format!("gitdir: {pointer}\n"));
        assert_eq!(fixture.sandbox.repository(&fixture.at("box/pointer")).is_ok(), is_used, "{pointer}");
    }
    fixture.write("box/clone/.git/objects/info/alternates", "");
    fixture.write("box/clone/.git/commondir", "../inside/../.git");
    assert!(fixture.refusal("box/clone").contains("outside of the sandbox"));
}

#[test]
fn paths_are_checked_in_their_bytes() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("out/.git");
    fixture.git_dir("box/clone/.git");
    let link = fixture.at("box/clone/.git/objects").join(OsStr::from_bytes(b"l\xff"));
    symlink(fixture.at("out/.git/objects"), &link).unwrap();
    fs::write(fixture.at("box/clone/.git/objects/info/alternates"), b"l\xff\n").unwrap();
    assert!(fixture.refusal("box/clone").contains("alternates"));
}

#[test]
fn configuration_with_a_key_that_is_not_utf8_is_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fs::write(fixture.at("box/clone/.git/config"), b"[filter \"\xff\"]\n\tclean = x\n").unwrap();
    let reason = "config in its git directory has a key or a remote that is not UTF-8";
    assert!(fixture.refusal("box/clone").contains(reason));
}

#[test]
fn remotes_outside_the_configuration_are_refused() {
    let fixture = RepositoryFixture::new();
    for name in ["branches", "remotes"] {
        let clone = format!("box/{name}");
        fixture.git_dir(&format!("{clone}/.git"));
        fixture.worktree(&clone, &format!("box/{name}-worktree"));
        fs::create_dir(fixture.at(&format!("{clone}/.git/{name}"))).unwrap();
        fixture.repository(&clone);
        fixture.write(&format!("{clone}/.git/{name}/origin"), "/srv/git/shop.git\n");
        for checkout in [clone, format!("box/{name}-worktree")] {
            assert!(fixture.refusal(&checkout).contains("remotes in an old format"), "{checkout}");
        }
    }
}

#[test]
fn bare_repository_in_a_working_tree_is_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fixture.git_dir("box/clone/sub");
    for name in ["box/clone/sub", "box/clone/sub/objects"] {
        assert!(fixture.refusal(name).contains("bare repository inside"), "{name}");
    }
}

#[test]
fn special_files_in_git_directory_are_refused() {
    let fixture = RepositoryFixture::new();
    for (number, name) in
        ["HEAD", "config", "index", "objects/pack", "refs", "info/exclude"].iter().enumerate()
    {
        let clone = format!("box/{number}");
        fixture.git_dir(&format!("{clone}/.git"));
        let record = fixture.at(&clone).join(".git").join(name);
        // Which of the two succeeds depends on the kind of the entry.
        let _ = fs::remove_file(&record).or_else(|_| fs::remove_dir_all(&record));
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        symlink(fixture.at("out"), &record).unwrap();
        assert!(fixture.refusal(&clone).contains(name), "{name}");
    }
    let pipe = |name: &str| {
        let path = fixture.at(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    fixture.git_dir("box/pipe/.git");
    fs::remove_file(fixture.at("box/pipe/.git/config")).unwrap();
    pipe("box/pipe/.git/config");
    assert!(fixture.refusal("box/pipe").contains("config"));
    fixture.git_dir("box/rules/.git");
    pipe("box/rules/.gitignore");
    assert!(fixture.refusal("box/rules").contains(".gitignore"));
    fixture.git_dir("box/broken/.git");
    fixture.write("box/broken/.git/config", "[core\n");
    assert!(fixture.refusal("box/broken").contains("malformed"));
}

// Git writes through `logs/HEAD` and `FETCH_HEAD`, and reads another repository through `objects` and `refs`.
#[test]
fn links_that_git_would_follow_are_refused() {
    let fixture = RepositoryFixture::new();
    let names = [
        "FETCH_HEAD",
        "logs/HEAD",
        "logs/refs/heads",
        "objects/4b",
        "objects/pack/pack-1.pack",
        "refs/heads/main",
        "refs/heads/objects/4b/topic",
        "rr-cache",
        "worktrees/w/HEAD",
        "worktrees/w/logs",
        "lfs/objects",
    ];
    for (number, name) in names.iter().enumerate() {
        let (clone, worktree) = (format!("box/{number}"), format!("box/{number}-worktree"));
        fixture.git_dir(&format!("{clone}/.git"));
        fixture.worktree(&clone, &worktree);
        fs::create_dir_all(fixture.at(&format!("{clone}/.git/objects/aa"))).unwrap();
        symlink("../scripts", fixture.at(&format!("{clone}/.git/hooks"))).unwrap();
        symlink("user@host.1:2", fixture.at(&format!("{clone}/.git/.#COMMIT_EDITMSG"))).unwrap();
        for checkout in [&clone, &worktree] {
            fixture.repository(checkout).check_layout().unwrap();
        }
        let record = fixture.at(&clone).join(".git").join(name);
        let _ = fs::remove_file(&record);
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        symlink(fixture.at("out"), &record).unwrap();
        for checkout in [&clone, &worktree] {
            // Resolving the repository refuses some of them before.
            let result = fixture.sandbox.repository(&fixture.at(checkout)).and_then(|it| it.check_layout());
            assert!(
                result
                    .unwrap_err()
                    .to_string()
                    .contains(Path::new(name).file_name().unwrap().to_str().unwrap()),
                "{name}"
            );
        }
    }
    fixture.git_dir("box/pipe/.git");
    let pipe = |name: &str| {
        let path = fixture.at(&format!("box/pipe/.git/{name}"));
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    };
    fs::create_dir_all(fixture.at("box/pipe/.git/worktrees/w")).unwrap();
    for directory in ["", "worktrees/w/"] {
        pipe(&format!("{directory}fsmonitor--daemon.ipc"));
    }
    fixture.repository("box/pipe").check_layout().unwrap();
    pipe("ORIG_HEAD");
    assert!(fixture.repository("box/pipe").check_layout().unwrap_err().to_string().contains("ORIG_HEAD"));
    fixture.git_dir("box/borrower/.git");
    fs::create_dir(fixture.at("box/store")).unwrap();
    fixture.write("box/borrower/.git/objects/info/alternates", "../../../store\n");
    fixture.repository("box/borrower");
    symlink(fixture.at("out"), fixture.at("box/store/4b")).unwrap();
    assert!(fixture.refusal("box/borrower").contains("4b"));
}

// Git takes everything behind `gitdir: ` for the path, except for line ends.
#[test]
fn blanks_belong_to_the_paths_of_pointers() {
    let fixture = RepositoryFixture::new();
    for name in ["git", " git", "git "] {
        fixture.git_dir(&format!("box/clone/{name}"));
    }
    for (pointer, expected) in [
        ("gitdir: git\r\n", Some("git")),
        ("gitdir:  git\n", Some(" git")),
        ("gitdir: git \n", Some("git ")),
        ("gitdir:git\n", None),
    ] {
        fixture.write("box/clone/.git", pointer);
        let found = fixture.sandbox.repository(&fixture.at("box/clone")).ok().map(|found| found.git_dir);
        assert_eq!(found, expected.map(|name| fixture.at("box/clone").join(name)), "{pointer:?}");
    }
}

#[test]
fn git_directory_that_git_does_not_accept_is_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    let refusal = || fixture.repository("box/clone").check_layout().unwrap_err().to_string();
    for head in ["", "ref: heads/main\n", "0123\n", "../HEAD"] {
        fixture.write("box/clone/.git/HEAD", head);
        assert!(refusal().contains("no valid HEAD"), "{head:?}");
    }
    for head in ["ref:refs/heads/main".to_owned(), format!("{}\n", "0".repeat(40)), "f".repeat(64)] {
        fixture.write("box/clone/.git/HEAD", &head);
        fixture.repository("box/clone").check_layout().unwrap();
    }
    fs::remove_dir_all(fixture.at("box/clone/.git/refs")).unwrap();
    assert!(refusal().contains("no refs"));
}

#[test]
fn extensions_that_name_another_place_are_refused() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    for (extension, is_known) in [
        ("objectFormat = sha256", true),
        ("refStorage = reftable", true),
        ("worktreeConfig = true", true),
        ("refStorage = reftable:///srv/refs", false),
        ("refStorage", false),
        ("laterRelease = /srv", false),
    ] {
        fixture.write("box/clone/.git/config", &format!("[extensions]\n\t{extension}\n"));
        let refused = fixture.sandbox.repository(&fixture.at("box/clone")).is_err();
        assert_eq!(refused, !is_known, "{extension}");
    }
}

#[test]
fn handles_follow_renamed_repository() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fixture.write("box/clone/mine", "mine");
    let repository = fixture.repository("box/clone");
    fs::rename(fixture.at("box/clone"), fixture.at("box/moved")).unwrap();
    // The old path is a symbolic link now; the handle still refers to the renamed directory.
    symlink(fixture.at("out"), fixture.at("box/clone")).unwrap();
    let held = repository.handles.root.proc_path().unwrap();
    assert_eq!(fs::read_to_string(held.join("mine")).unwrap(), "mine");
    let error = fixture.sandbox.repository(&fixture.at("box/clone")).unwrap_err();
    assert!(matches!(error, RepositoryError::None), "{error}");
}

#[test]
fn worktree_resolves_to_its_clone() {
    let fixture = RepositoryFixture::new();
    fixture.git_dir("box/clone/.git");
    fixture.write("box/clone/.git/config", "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n");
    fixture.worktree("box/clone", "box/w");
    for name in ["box/clone", "box/w"] {
        let repository = fixture.repository(name);
        assert_eq!(repository.origin().unwrap().as_str(), "acme/shop");
        assert_eq!(repository.default_branch().as_deref(), Some("main"), "{name}");
    }
    fs::create_dir(fixture.at("box/clone/src")).unwrap();
    assert_eq!(fixture.sandbox.origin_of(&fixture.at("box/clone/src")), None, "a directory below the root");
    fixture.write("box/clone/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
    assert_eq!(fixture.repository("box/w").default_branch().as_deref(), Some("trunk"));
}
