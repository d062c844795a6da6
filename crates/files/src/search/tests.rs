//! Searches in trees that change between searches.

use std::fs;

use loopgate_home::{Overrides, SettingsStore};
use proptest::prelude::*;

use super::*;

struct SearchFixture {
    dir: tempfile::TempDir,
    sandbox: Arc<Sandbox>,
    search: FileSearch,
}

impl SearchFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("box/tree")).unwrap();
        let overrides =
            Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
        let settings = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
        let sandbox = Arc::new(Sandbox::new(Arc::new(settings), &dir.path().join("box/tree/private")));
        Self { dir, search: FileSearch::new(sandbox.clone()), sandbox }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("box/tree").join(name)
    }

    fn write(&self, name: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), name).unwrap();
    }

    fn matches(&self, query: &str) -> Matches {
        self.search.search(&self.sandbox.check(self.path("")).unwrap(), query).unwrap()
    }

    fn find(&self, query: &str) -> Vec<String> {
        self.matches(query).files
    }

    /// Returns whether the next search would be served from memory.
    fn is_cached(&self) -> bool {
        let slots = lock(&self.search.indexes.slots);
        let identity = Directory::of(&self.path("")).unwrap().identity().unwrap();
        slots.values().any(|slot| {
            lock(&slot.index).as_ref().is_some_and(|index| index.refresh(identity, self.search.max_age))
        })
    }
}

#[test]
fn dependencies_and_build_output_are_skipped() {
    let fixture = SearchFixture::new();
    for name in
        ["src/x.rs", "node_modules/x.js", "a/dist/x.js", "a/.git/x", "b/x.PYC", ".hidden/x", "c/.DS_Store"]
    {
        fixture.write(name);
    }
    fixture.write("worktree/.git");
    fixture.write("private/x");
    assert_eq!(fixture.find("x"), [".hidden/x", "src/x.rs"]);
    assert_eq!(fixture.find(".git"), [""; 0]);
    assert_eq!(fixture.find("DS_S"), [""; 0]);
}

#[test]
fn ignored_files_are_skipped_in_a_repository() {
    let fixture = SearchFixture::new();
    fixture.write("target/out.o");
    fixture.write("src/out.rs");
    fs::write(fixture.path(".gitignore"), "/target\n").unwrap();
    assert_eq!(fixture.find("out").len(), 2, "rules apply only in a repository");
    fs::create_dir(fixture.path(".git")).unwrap();
    assert_eq!(fixture.find("out"), ["src/out.rs"]);
    fs::write(fixture.path(".gitignore"), "*.rs\n").unwrap();
    assert_eq!(fixture.find("out"), ["target/out.o"], "changed rules are applied");
    fixture.write("src/.gitignore");
    fs::write(fixture.path("src/.gitignore"), "!out.rs\n").unwrap();
    assert_eq!(fixture.find("out").len(), 2);
}

#[test]
fn rules_of_parent_directories_and_info_exclude_apply() {
    let fixture = SearchFixture::new();
    let above = fixture.dir.path().join("box");
    fs::write(above.join(".gitignore"), "/tree/one\n*.o\n!keep.o\n").unwrap();
    for name in ["one", "sub/one", "x.o", "keep.o", "two", "nested/x.o", "nested/three"] {
        fixture.write(name);
    }
    fs::create_dir_all(above.join(".git/info")).unwrap();
    fs::write(above.join(".git/info/exclude"), "two\n!x.o\n").unwrap();
    assert_eq!(fixture.find(""), ["keep.o", "sub/one", "nested/three"]);
    // Rules of an outer repository do not apply inside a nested one.
    fs::create_dir_all(fixture.path("nested/.git/info")).unwrap();
    fs::write(fixture.path("nested/.git/info/exclude"), "three\n").unwrap();
    assert_eq!(fixture.find(""), ["keep.o", "sub/one", "nested/x.o"]);

    let worktree = above.join("worktree");
    let git_dir = above.join(".git/worktrees/worktree");
    for name in ["objects", "refs", "worktrees/worktree"] {
        fs::create_dir_all(above.join(".git").join(name)).unwrap();
    }
    fs::create_dir(&worktree).unwrap();
    fs::write(above.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git_dir.join("commondir"), "../..\n").unwrap();
    fs::write(git_dir.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    for name in ["one", "two", "x.o"] {
        fs::write(worktree.join(name), "").unwrap();
    }
    let matches = fixture.search.search(&fixture.sandbox.check(&worktree).unwrap(), "").unwrap();
    assert_eq!(matches.files, ["one", "x.o"]);
}

#[test]
fn special_files_are_not_read_as_rules() {
    let fixture = SearchFixture::new();
    fs::create_dir_all(fixture.path(".git/info")).unwrap();
    fixture.write("sub/x.o");
    fixture.write("y.o");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, fixture.path(".gitignore"), mode).unwrap();
    std::os::unix::fs::symlink("/dev/zero", fixture.path("sub/.gitignore")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", fixture.path(".git/info/exclude")).unwrap();
    assert_eq!(fixture.find("o"), ["y.o", "sub/x.o"]);
}

// Directories of the tree, and its root, are replaced by links to the outside while searches run.
#[test]
fn directory_replaced_by_link_exposes_nothing_outside() {
    const SEARCHES: usize = 3000;
    let fixture = SearchFixture::new();
    let outside = fixture.dir.path().join("outside");
    for name in ["leaked", "deep/leaked", "sub/leaked", "sub/deep/leaked"] {
        fs::create_dir_all(outside.join(name).parent().unwrap()).unwrap();
        fs::write(outside.join(name), "").unwrap();
        fixture.write(&name.replace("leaked", "file"));
    }
    let (done, swapped) = (std::sync::atomic::AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let parked = fixture.dir.path().join("parked");
            while !done.load(order) {
                for (name, target) in [("sub", ""), ("sub/deep", "deep"), ("deep", "deep"), ("", "")] {
                    let path = fixture.path(name);
                    let path = path.components().collect::<PathBuf>();
                    fs::rename(&path, &parked).unwrap();
                    std::os::unix::fs::symlink(outside.join(target), &path).unwrap();
                    fs::remove_file(&path).unwrap();
                    fs::rename(&parked, &path).unwrap();
                    swapped.fetch_add(1, order);
                }
            }
        });
        let mut complete = 0;
        let leaks = (0..SEARCHES).map(|round| {
            let fresh = FileSearch::new(fixture.sandbox.clone());
            let search = if round % 2 == 0 { &fresh } else { &fixture.search };
            let Ok(tree) = fixture.sandbox.check(fixture.path("")) else { return Vec::new() };
            let files = search.search(&tree, "").map(|matches| matches.files).unwrap_or_default();
            complete += usize::from(files.len() == 4);
            files.into_iter().filter(|file| file.contains("leaked")).collect()
        });
        let leaked: Vec<Vec<String>> = leaks.filter(|leaked: &Vec<String>| !leaked.is_empty()).collect();
        done.store(true, order);
        assert_eq!(leaked, [[""; 0]; 0]);
        // Without complete results and swaps the assertion above would prove nothing.
        assert!(complete > 0 && swapped.load(order) > SEARCHES / 10, "the test did not race");
    });
    assert_eq!(fixture.find("").len(), 4);
}

#[test]
fn changes_are_visible_to_the_next_search() {
    let fixture = SearchFixture::new();
    fixture.write("a/one");
    assert_eq!(fixture.find("one"), ["a/one"]);
    assert!(fixture.is_cached());
    fixture.write("a/two");
    assert_eq!(fixture.find("two"), ["a/two"]);
    fixture.write("new/deep/three");
    assert_eq!(fixture.find("three"), ["new/deep/three"]);
    fs::rename(fixture.path("new/deep"), fixture.path("a/moved")).unwrap();
    assert_eq!(fixture.find("three"), ["a/moved/three"]);
    fixture.write("a/moved/four");
    assert_eq!(fixture.find("four"), ["a/moved/four"], "a moved directory is still watched");
    fs::remove_dir_all(fixture.path("a")).unwrap();
    assert_eq!(fixture.find("o"), [""; 0]);
    fixture.write("a/one");
    assert_eq!(fixture.find("one"), ["a/one"]);
    assert!(fixture.is_cached(), "served without another walk of the tree");
    fs::rename(fixture.path(""), fixture.dir.path().join("box/aside")).unwrap();
    fixture.write("other");
    assert_eq!(fixture.find(""), ["other"], "another directory at the same path");
}

#[test]
fn tree_that_cannot_be_watched_is_walked_with_each_search() {
    let mut fixture = SearchFixture::new();
    for name in ["a/one", "b/one", ".gitignore"] {
        fixture.write(name);
    }
    for (max_watches, is_watched) in [(0, false), (2, false), (3, false), (4, true)] {
        fixture.search = FileSearch::new(fixture.sandbox.clone());
        fixture.search.max_watches = max_watches;
        assert_eq!(fixture.find("one"), ["a/one", "b/one"]);
        assert_eq!(fixture.is_cached(), is_watched, "three directories and the rules of one need four");
        fixture.write("a/two");
        assert_eq!(fixture.find("two"), ["a/two"]);
        fs::remove_file(fixture.path("a/two")).unwrap();
        assert_eq!(fixture.find("two"), [""; 0]);
    }
    // Removing a directory frees its watch for another one.
    fs::remove_dir_all(fixture.path("b")).unwrap();
    fixture.write("c/one");
    assert_eq!(fixture.find("one"), ["a/one", "c/one"]);
    assert!(fixture.is_cached());
}

// Rules outside of the tree are not watched.
#[test]
fn rules_outside_the_tree_are_applied_after_max_age() {
    let mut fixture = SearchFixture::new();
    let above = fixture.dir.path().join("box");
    fs::create_dir_all(above.join(".git/info")).unwrap();
    fixture.write("one");
    for (max_age, is_cached, expected) in [(MAX_AGE, true, &["one"][..]), (Duration::ZERO, false, &[])] {
        fixture.search.max_age = max_age;
        assert_eq!(fixture.find("one"), ["one"]);
        for rules in [".gitignore", ".git/info/exclude"] {
            fs::write(above.join(rules), "one\n").unwrap();
            assert_eq!(fixture.is_cached(), is_cached);
            assert_eq!(fixture.find("one"), expected);
            fs::remove_file(above.join(rules)).unwrap();
        }
    }
}

#[test]
fn links_to_files_in_the_tree_are_listed() {
    let fixture = SearchFixture::new();
    fixture.write("real/file");
    fs::write(fixture.dir.path().join("outside"), "").unwrap();
    for (target, name) in
        [("real/file", "good"), ("../../outside", "out"), ("real", "dir"), ("nowhere", "dangling")]
    {
        std::os::unix::fs::symlink(target, fixture.path(name)).unwrap();
    }
    assert_eq!(fixture.find(""), ["good", "real/file"]);
}

#[test]
fn paths_deeper_than_ten_segments_are_omitted() {
    let fixture = SearchFixture::new();
    fixture.write("1/2/3/4/5/6/7/8/9/deep");
    fixture.write("1/2/3/4/5/6/7/8/9/10/deeper");
    assert_eq!(fixture.find("deep"), ["1/2/3/4/5/6/7/8/9/deep"]);
    fixture.write("1/2/3/4/5/6/7/8/9/10/deepest");
    assert_eq!(fixture.find("deep"), ["1/2/3/4/5/6/7/8/9/deep"]);
}

#[test]
fn idle_and_excess_indexes_are_evicted() {
    let fixture = SearchFixture::new();
    fixture.write("one");
    fixture.find("one");
    let now = Instant::now();
    assert!(!fixture.search.indexes.evict_idle(now));
    assert!(fixture.is_cached());
    assert!(fixture.search.indexes.evict_idle(now + MAX_IDLE));
    assert_eq!(fixture.find("one"), ["one"]);
    for n in 0..MAX_INDEXES + 3 {
        let tree = fixture.dir.path().join(format!("box/other-{n}"));
        fs::create_dir(&tree).unwrap();
        fixture.search.search(&fixture.sandbox.check(&tree).unwrap(), "").unwrap();
    }
    assert_eq!(lock(&fixture.search.indexes.slots).len(), MAX_INDEXES);
}

#[test]
fn searching_anything_but_a_directory_fails() {
    let fixture = SearchFixture::new();
    fixture.write("file");
    let search =
        |name| fixture.search.search(&fixture.sandbox.check(fixture.path(name)).unwrap(), "").unwrap_err();
    assert_eq!(search("missing").kind(), io::ErrorKind::NotFound);
    assert_eq!(search("file").kind(), io::ErrorKind::NotADirectory);
}

/// A change of the tree, or a search.
#[derive(Debug, Clone)]
enum TreeStep {
    Write(String),
    Remove(String),
    Move(String, String),
    Ignore(String, String),
    Search,
}

fn step() -> impl Strategy<Value = TreeStep> {
    let name = || "[ab](/[ab]){0,2}";
    prop_oneof![
        4 => name().prop_map(|name| TreeStep::Write(format!("{name}/f"))),
        1 => name().prop_map(TreeStep::Write),
        2 => name().prop_map(TreeStep::Remove),
        2 => (name(), name()).prop_map(|(from, to)| TreeStep::Move(from, to)),
        1 => (name(), "[abf]").prop_map(|(at, rule)| TreeStep::Ignore(at, rule)),
        3 => Just(TreeStep::Search),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// After any changes, the index returns what a fresh walk returns.
    #[test]
    fn indexed_results_equal_those_of_a_fresh_walk(steps in prop::collection::vec(step(), 1..25)) {
        let fixture = SearchFixture::new();
        fs::create_dir(fixture.path(".git")).unwrap();
        for step in steps.into_iter().chain([TreeStep::Search]) {
            match step {
                TreeStep::Write(name) => {
                    // Steps may be impossible in the current tree, such as writing below a file; they are
                    // then no-ops.
                    let _ = fs::create_dir_all(fixture.path(&name).parent().unwrap());
                    let _ = fs::write(fixture.path(&name), "");
                }
                TreeStep::Remove(name) => {
                    let _ = fs::remove_dir_all(fixture.path(&name));
                    let _ = fs::remove_file(fixture.path(&name));
                }
                TreeStep::Move(from, to) => {
                    let _ = fs::rename(fixture.path(&from), fixture.path(&to));
                }
                TreeStep::Ignore(at, rule) => {
                    let _ = fs::write(fixture.path(&at).join(".gitignore"), rule);
                }
                TreeStep::Search => {
                    let fresh = FileSearch::new(fixture.sandbox.clone());
                    let fresh = fresh.search(&fixture.sandbox.check(fixture.path("")).unwrap(), "").unwrap();
                    prop_assert_eq!(fixture.matches(""), fresh);
                }
            }
        }
    }
}
