//! Searches in trees that change between them.

use std::fs;

use loopgate_home::{Overrides, SettingsStore};
use proptest::prelude::*;

use super::*;

struct Place {
    dir: tempfile::TempDir,
    sandbox: Arc<Sandbox>,
    search: FileSearch,
}

impl Place {
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

    /// Whether the next search would be answered from memory.
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
    let place = Place::new();
    for name in
        ["src/x.rs", "node_modules/x.js", "a/dist/x.js", "a/.git/x", "b/x.PYC", ".hidden/x", "c/.DS_Store"]
    {
        place.write(name);
    }
    place.write("worktree/.git");
    place.write("private/x");
    assert_eq!(place.find("x"), [".hidden/x", "src/x.rs"]);
    assert_eq!(place.find(".git"), [""; 0]);
    assert_eq!(place.find("DS_S"), [""; 0]);
}

#[test]
fn ignored_files_are_skipped_in_a_repository() {
    let place = Place::new();
    place.write("target/out.o");
    place.write("src/out.rs");
    fs::write(place.path(".gitignore"), "/target\n").unwrap();
    assert_eq!(place.find("out").len(), 2, "no repository, no rules");
    fs::create_dir(place.path(".git")).unwrap();
    assert_eq!(place.find("out"), ["src/out.rs"]);
    fs::write(place.path(".gitignore"), "*.rs\n").unwrap();
    assert_eq!(place.find("out"), ["target/out.o"], "rules that change are followed");
    place.write("src/.gitignore");
    fs::write(place.path("src/.gitignore"), "!out.rs\n").unwrap();
    assert_eq!(place.find("out").len(), 2);
}

#[test]
fn rules_of_the_repository_above_its_own_list_and_a_worktrees_clone_count() {
    let place = Place::new();
    let above = place.dir.path().join("box");
    fs::write(above.join(".gitignore"), "/tree/one\n*.o\n!keep.o\n").unwrap();
    for name in ["one", "sub/one", "x.o", "keep.o", "two", "nested/x.o", "nested/three"] {
        place.write(name);
    }
    fs::create_dir_all(above.join(".git/info")).unwrap();
    fs::write(above.join(".git/info/exclude"), "two\n!x.o\n").unwrap();
    assert_eq!(place.find(""), ["keep.o", "sub/one", "nested/three"]);
    // A repository of its own: nothing above it counts.
    fs::create_dir_all(place.path("nested/.git/info")).unwrap();
    fs::write(place.path("nested/.git/info/exclude"), "three\n").unwrap();
    assert_eq!(place.find(""), ["keep.o", "sub/one", "nested/x.o"]);

    let worktree = above.join("worktree");
    let records = above.join(".git/worktrees/worktree");
    for name in ["objects", "refs", "worktrees/worktree"] {
        fs::create_dir_all(above.join(".git").join(name)).unwrap();
    }
    fs::create_dir(&worktree).unwrap();
    fs::write(above.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(records.join("commondir"), "../..\n").unwrap();
    fs::write(records.join("gitdir"), format!("{}\n", worktree.join(".git").display())).unwrap();
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", records.display())).unwrap();
    for name in ["one", "two", "x.o"] {
        fs::write(worktree.join(name), "").unwrap();
    }
    let found = place.search.search(&place.sandbox.check(&worktree).unwrap(), "").unwrap();
    assert_eq!(found.files, ["one", "x.o"]);
}

#[test]
fn rules_that_are_no_regular_file_are_not_read() {
    let place = Place::new();
    fs::create_dir_all(place.path(".git/info")).unwrap();
    place.write("sub/x.o");
    place.write("y.o");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path(".gitignore"), mode).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("sub/.gitignore")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path(".git/info/exclude")).unwrap();
    assert_eq!(place.find("o"), ["y.o", "sub/x.o"]);
}

/// Searches while directories of the tree, and the tree itself, are swapped for links to the outside.
#[test]
fn a_directory_that_becomes_a_link_meanwhile_shows_nothing_from_outside() {
    const SEARCHES: usize = 3000;
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    for name in ["leaked", "deep/leaked", "sub/leaked", "sub/deep/leaked"] {
        fs::create_dir_all(outside.join(name).parent().unwrap()).unwrap();
        fs::write(outside.join(name), "").unwrap();
        place.write(&name.replace("leaked", "file"));
    }
    let (done, swapped) = (std::sync::atomic::AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let parked = place.dir.path().join("parked");
            while !done.load(order) {
                for (name, target) in [("sub", ""), ("sub/deep", "deep"), ("deep", "deep"), ("", "")] {
                    let path = place.path(name);
                    let path = path.components().collect::<PathBuf>();
                    fs::rename(&path, &parked).unwrap();
                    std::os::unix::fs::symlink(outside.join(target), &path).unwrap();
                    fs::remove_file(&path).unwrap();
                    fs::rename(&parked, &path).unwrap();
                    swapped.fetch_add(1, order);
                }
            }
        });
        let mut whole = 0;
        let found = (0..SEARCHES).map(|round| {
            let fresh = FileSearch::new(place.sandbox.clone());
            let search = if round % 2 == 0 { &fresh } else { &place.search };
            let Ok(tree) = place.sandbox.check(place.path("")) else { return Vec::new() };
            let files = search.search(&tree, "").map(|found| found.files).unwrap_or_default();
            whole += usize::from(files.len() == 4);
            files.into_iter().filter(|file| file.contains("leaked")).collect()
        });
        let leaked: Vec<Vec<String>> = found.filter(|leaked: &Vec<String>| !leaked.is_empty()).collect();
        done.store(true, order);
        assert_eq!(leaked, [[""; 0]; 0]);
        assert!(whole > 0 && swapped.load(order) > SEARCHES / 10, "there was no race");
    });
    assert_eq!(place.find("").len(), 4);
}

#[test]
fn changes_are_in_the_next_result() {
    let place = Place::new();
    place.write("a/one");
    assert_eq!(place.find("one"), ["a/one"]);
    assert!(place.is_cached());
    place.write("a/two");
    assert_eq!(place.find("two"), ["a/two"]);
    place.write("new/deep/three");
    assert_eq!(place.find("three"), ["new/deep/three"]);
    fs::rename(place.path("new/deep"), place.path("a/moved")).unwrap();
    assert_eq!(place.find("three"), ["a/moved/three"]);
    place.write("a/moved/four");
    assert_eq!(place.find("four"), ["a/moved/four"], "a moved directory is still watched");
    fs::remove_dir_all(place.path("a")).unwrap();
    assert_eq!(place.find("o"), [""; 0]);
    place.write("a/one");
    assert_eq!(place.find("one"), ["a/one"]);
    assert!(place.is_cached(), "all of that without reading the tree anew");
    fs::rename(place.path(""), place.dir.path().join("box/aside")).unwrap();
    place.write("other");
    assert_eq!(place.find(""), ["other"], "another tree in the same place");
}

#[test]
fn a_tree_that_cannot_be_watched_is_walked_with_each_search() {
    let mut place = Place::new();
    for name in ["a/one", "b/one", ".gitignore"] {
        place.write(name);
    }
    for (max_watches, is_watched) in [(0, false), (2, false), (3, false), (4, true)] {
        place.search = FileSearch::new(place.sandbox.clone());
        place.search.max_watches = max_watches;
        assert_eq!(place.find("one"), ["a/one", "b/one"]);
        assert_eq!(place.is_cached(), is_watched, "three directories and the rules of one need four");
        place.write("a/two");
        assert_eq!(place.find("two"), ["a/two"]);
        fs::remove_file(place.path("a/two")).unwrap();
        assert_eq!(place.find("two"), [""; 0]);
    }
    // What is forgotten makes room.
    fs::remove_dir_all(place.path("b")).unwrap();
    place.write("c/one");
    assert_eq!(place.find("one"), ["a/one", "c/one"]);
    assert!(place.is_cached());
}

/// Rules outside the tree are not watched: a search sees them once the index has its maximal age.
#[test]
fn rules_outside_the_tree_are_followed_after_the_maximal_age() {
    let mut place = Place::new();
    let above = place.dir.path().join("box");
    fs::create_dir_all(above.join(".git/info")).unwrap();
    place.write("one");
    for (max_age, is_cached, found) in [(MAX_AGE, true, &["one"][..]), (Duration::ZERO, false, &[])] {
        place.search.max_age = max_age;
        assert_eq!(place.find("one"), ["one"]);
        for rules in [".gitignore", ".git/info/exclude"] {
            fs::write(above.join(rules), "one\n").unwrap();
            assert_eq!(place.is_cached(), is_cached);
            assert_eq!(place.find("one"), found);
            fs::remove_file(above.join(rules)).unwrap();
        }
    }
}

#[test]
fn links_are_shown_when_they_lead_to_a_file_inside() {
    let place = Place::new();
    place.write("real/file");
    fs::write(place.dir.path().join("outside"), "").unwrap();
    for (target, name) in
        [("real/file", "good"), ("../../outside", "out"), ("real", "dir"), ("nowhere", "gone")]
    {
        std::os::unix::fs::symlink(target, place.path(name)).unwrap();
    }
    assert_eq!(place.find(""), ["good", "real/file"]);
}

#[test]
fn paths_end_at_ten_segments() {
    let place = Place::new();
    place.write("1/2/3/4/5/6/7/8/9/deep");
    place.write("1/2/3/4/5/6/7/8/9/10/deeper");
    assert_eq!(place.find("deep"), ["1/2/3/4/5/6/7/8/9/deep"]);
    place.write("1/2/3/4/5/6/7/8/9/10/deepest");
    assert_eq!(place.find("deep"), ["1/2/3/4/5/6/7/8/9/deep"]);
}

#[test]
fn idle_and_excess_indexes_are_evicted() {
    let place = Place::new();
    place.write("one");
    place.find("one");
    let now = Instant::now();
    assert!(!place.search.indexes.evict_idle(now));
    assert!(place.is_cached());
    assert!(place.search.indexes.evict_idle(now + MAX_IDLE));
    assert_eq!(place.find("one"), ["one"]);
    for n in 0..MAX_INDEXES + 3 {
        let tree = place.dir.path().join(format!("box/other-{n}"));
        fs::create_dir(&tree).unwrap();
        place.search.search(&place.sandbox.check(&tree).unwrap(), "").unwrap();
    }
    assert_eq!(lock(&place.search.indexes.slots).len(), MAX_INDEXES);
}

#[test]
fn searching_anything_but_a_directory_fails() {
    let place = Place::new();
    place.write("file");
    let search = |name| place.search.search(&place.sandbox.check(place.path(name)).unwrap(), "").unwrap_err();
    assert_eq!(search("missing").kind(), io::ErrorKind::NotFound);
    assert_eq!(search("file").kind(), io::ErrorKind::NotADirectory);
}

/// A change to a tree, or a search.
#[derive(Debug, Clone)]
enum Step {
    Write(String),
    Remove(String),
    Move(String, String),
    Ignore(String, String),
    Search,
}

fn step() -> impl Strategy<Value = Step> {
    let name = || "[ab](/[ab]){0,2}";
    prop_oneof![
        4 => name().prop_map(|name| Step::Write(format!("{name}/f"))),
        1 => name().prop_map(Step::Write),
        2 => name().prop_map(Step::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (name(), "[abf]").prop_map(|(at, rule)| Step::Ignore(at, rule)),
        3 => Just(Step::Search),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever changes between two searches, the index finds what a walk of the tree finds.
    #[test]
    fn indexed_results_equal_those_of_a_fresh_walk(steps in prop::collection::vec(step(), 1..25)) {
        let place = Place::new();
        fs::create_dir(place.path(".git")).unwrap();
        for step in steps.into_iter().chain([Step::Search]) {
            match step {
                Step::Write(name) => {
                    let _ = fs::create_dir_all(place.path(&name).parent().unwrap());
                    let _ = fs::write(place.path(&name), "");
                }
                Step::Remove(name) => {
                    let _ = fs::remove_dir_all(place.path(&name));
                    let _ = fs::remove_file(place.path(&name));
                }
                Step::Move(from, to) => {
                    let _ = fs::rename(place.path(&from), place.path(&to));
                }
                Step::Ignore(at, rule) => {
                    let _ = fs::write(place.path(&at).join(".gitignore"), rule);
                }
                Step::Search => {
                    let fresh = FileSearch::new(place.sandbox.clone());
                    let fresh = fresh.search(&place.sandbox.check(place.path("")).unwrap(), "").unwrap();
                    prop_assert_eq!(place.matches(""), fresh);
                }
            }
        }
    }
}
