//! A tree of directories, files and links, and paths into it: allowed paths are inside of the sandbox,
//! resolve as the system resolves them, and open as the entry that they refer to.
#![no_main]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use loopgate_home::{Overrides, Sandbox, SettingsStore};
use tempfile::TempDir;

/// An entry of the tree. Few names exist, so that paths often collide.
#[derive(Debug, Arbitrary)]
enum TreeEntry {
    Directory(Route),
    File(Route),
    Link(Route, LinkTarget),
}

#[derive(Debug, Arbitrary)]
struct Route(Vec<PathStep>);

#[derive(Debug, Clone, Copy, Arbitrary)]
enum PathStep {
    A,
    B,
    UpperA,
    Box,
    Out,
    Up,
    Here,
    Empty,
    Encoded,
    NotText,
}

#[derive(Debug, Arbitrary)]
enum LinkTarget {
    Relative(Route),
    Absolute(Route),
    System,
}

#[derive(Debug, Arbitrary)]
struct SandboxInput {
    entries: Vec<TreeEntry>,
    paths: Vec<InputPath>,
}

#[derive(Debug, Arbitrary)]
enum InputPath {
    InBox(Route),
    InPlace(Route),
    Text(String),
}

struct FuzzDirectory {
    dir: TempDir,
    sandbox: Sandbox,
}

static DIRECTORY: LazyLock<FuzzDirectory> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let overrides =
        Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
    let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
    let sandbox = Sandbox::new(Arc::new(store), &dir.path().join("box/data"));
    FuzzDirectory { dir, sandbox }
});

impl Route {
    fn below(&self, base: &Path) -> PathBuf {
        let mut path = base.as_os_str().to_owned();
        for step in self.0.iter().take(12) {
            path.push("/");
            path.push(match step {
                PathStep::A => OsStr::new("a"),
                PathStep::B => OsStr::new("b"),
                PathStep::UpperA => OsStr::new("A"),
                PathStep::Box => OsStr::new("box"),
                PathStep::Out => OsStr::new("out"),
                PathStep::Up => OsStr::new(".."),
                PathStep::Here => OsStr::new("."),
                PathStep::Empty => OsStr::new(""),
                PathStep::Encoded => OsStr::new("%2e%2e"),
                PathStep::NotText => OsStr::from_bytes(b"\xff"),
            });
        }
        path.into()
    }
}

impl LinkTarget {
    fn of(&self, root: &Path) -> PathBuf {
        match self {
            Self::Relative(route) => route.below(Path::new(".")),
            Self::Absolute(route) => route.below(root),
            Self::System => PathBuf::from("/etc"),
        }
    }
}

/// Creates an entry below the root. Routes that lead outside through an earlier link are skipped.
fn create_entry(root: &Path, entry: &TreeEntry) {
    let (TreeEntry::Directory(route) | TreeEntry::File(route) | TreeEntry::Link(route, _)) = entry;
    let path = route.below(root);
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    if parent.is_none_or(|parent| !parent.starts_with(root)) {
        return;
    }
    // Fails when the name is taken or a parent is not a directory. Such entries are skipped.
    let _ = match entry {
        TreeEntry::Directory(_) => std::fs::create_dir(&path),
        TreeEntry::File(_) => std::fs::File::create_new(&path).map(drop),
        TreeEntry::Link(_, target) => symlink(target.of(root), &path),
    };
}

fn check_path(environment: &FuzzDirectory, path: &Path) {
    let base = environment.dir.path().canonicalize().unwrap().join("box");
    let Ok(allowed) = environment.sandbox.check(path) else { return };
    let canonical = allowed.canonical();
    assert!(canonical.starts_with(&base), "{path:?} leads to {canonical:?}");
    assert!(!canonical.starts_with(base.join("data")), "{path:?} leads to the denied {canonical:?}");
    // Compare with the system's own resolution of the longest existing ancestor.
    let real = canonical.ancestors().find_map(|ancestor| ancestor.canonicalize().ok()).unwrap();
    assert!(canonical.starts_with(&real), "{path:?}: {canonical:?} resolves to {real:?}");
    // Programs that normalize `..` textually resolve it differently from the kernel, so only paths without it
    // are compared.
    if path.to_str().is_some_and(|text| !text.contains(".."))
        && let Ok(real) = path.canonicalize()
    {
        assert_eq!(canonical, real, "{path:?}");
    }
    if let Ok(file) = allowed.open_file() {
        let (opened, expected) = (file.metadata().unwrap(), canonical.symlink_metadata().unwrap());
        assert!(opened.is_file() && opened.ino() == expected.ino(), "{path:?}");
    }
    if let Ok(directory) = allowed.open_directory() {
        assert!(canonical.is_dir(), "{path:?}");
        directory.entries().unwrap();
    }
}

fuzz_target!(|input: SandboxInput| {
    let environment = &*DIRECTORY;
    for name in ["box", "out"] {
        let _ = std::fs::remove_dir_all(environment.dir.path().join(name));
        std::fs::create_dir_all(environment.dir.path().join(name)).unwrap();
    }
    std::fs::create_dir(environment.dir.path().join("box/data")).unwrap();
    let root = environment.dir.path().canonicalize().unwrap();
    input.entries.iter().take(12).for_each(|entry| create_entry(&root, entry));
    // Creating entries never replaces existing ones, so both directories still exist.
    for path in input.paths.iter().take(8) {
        match path {
            InputPath::InBox(route) => check_path(environment, &route.below(&root.join("box"))),
            InputPath::InPlace(route) => check_path(environment, &route.below(&root)),
            InputPath::Text(text) => check_path(environment, Path::new(text)),
        }
    }
});
