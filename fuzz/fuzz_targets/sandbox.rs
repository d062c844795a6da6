//! A tree of directories, files and links, and a path into it: what the sandbox allows is inside,
//! where the system says it lies, and opens as what it is.
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

/// Something that is in the place. Names are few, so that they meet.
#[derive(Debug, Arbitrary)]
enum Planted {
    Directory(Route),
    File(Route),
    Link(Route, Target),
}

#[derive(Debug, Arbitrary)]
struct Route(Vec<Step>);

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Step {
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
enum Target {
    Relative(Route),
    Absolute(Route),
    System,
}

#[derive(Debug, Arbitrary)]
struct Question {
    planted: Vec<Planted>,
    asked: Vec<Asked>,
}

#[derive(Debug, Arbitrary)]
enum Asked {
    InBox(Route),
    InPlace(Route),
    Text(String),
}

struct Place {
    dir: TempDir,
    sandbox: Sandbox,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let overrides =
        Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
    let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
    let sandbox = Sandbox::new(Arc::new(store), &dir.path().join("box/data"));
    Place { dir, sandbox }
});

impl Route {
    fn below(&self, base: &Path) -> PathBuf {
        let mut path = base.as_os_str().to_owned();
        for step in self.0.iter().take(12) {
            path.push("/");
            path.push(match step {
                Step::A => OsStr::new("a"),
                Step::B => OsStr::new("b"),
                Step::UpperA => OsStr::new("A"),
                Step::Box => OsStr::new("box"),
                Step::Out => OsStr::new("out"),
                Step::Up => OsStr::new(".."),
                Step::Here => OsStr::new("."),
                Step::Empty => OsStr::new(""),
                Step::Encoded => OsStr::new("%2e%2e"),
                Step::NotText => OsStr::from_bytes(b"\xff"),
            });
        }
        path.into()
    }
}

impl Target {
    fn of(&self, place: &Path) -> PathBuf {
        match self {
            Self::Relative(route) => route.below(Path::new(".")),
            Self::Absolute(route) => route.below(place),
            Self::System => PathBuf::from("/etc"),
        }
    }
}

/// Only inside the place; a link that is planted before may lead elsewhere.
fn plant(place: &Path, planted: &Planted) {
    let (Planted::Directory(route) | Planted::File(route) | Planted::Link(route, _)) = planted;
    let path = route.below(place);
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    if parent.is_none_or(|parent| !parent.starts_with(place)) {
        return;
    }
    // What is taken, or is no way, is not planted.
    let _ = match planted {
        Planted::Directory(_) => std::fs::create_dir(&path),
        Planted::File(_) => std::fs::File::create_new(&path).map(drop),
        Planted::Link(_, target) => symlink(target.of(place), &path),
    };
}

fn ask(place: &Place, path: &Path) {
    let base = place.dir.path().canonicalize().unwrap().join("box");
    let Ok(allowed) = place.sandbox.check(path) else { return };
    let canonical = allowed.canonical();
    assert!(canonical.starts_with(&base), "{path:?} leads to {canonical:?}");
    assert!(!canonical.starts_with(base.join("data")), "{path:?} leads to the denied {canonical:?}");
    // The system agrees, as far as there is anything.
    let real = canonical.ancestors().find_map(|place| place.canonicalize().ok()).unwrap();
    assert!(canonical.starts_with(&real), "{path:?}: {canonical:?} is really {real:?}");
    // Without `..`, the text of the path leads to the same place for everybody else.
    if path.to_str().is_some_and(|text| !text.contains(".."))
        && let Ok(real) = path.canonicalize()
    {
        assert_eq!(canonical, real, "{path:?}");
    }
    if let Ok(file) = allowed.open_file() {
        let (opened, meant) = (file.metadata().unwrap(), canonical.symlink_metadata().unwrap());
        assert!(opened.is_file() && opened.ino() == meant.ino(), "{path:?}");
    }
    if let Ok(directory) = allowed.open_directory() {
        assert!(canonical.is_dir(), "{path:?}");
        directory.entries().unwrap();
    }
}

fuzz_target!(|question: Question| {
    let place = &*PLACE;
    for name in ["box", "out"] {
        let _ = std::fs::remove_dir_all(place.dir.path().join(name));
        std::fs::create_dir_all(place.dir.path().join(name)).unwrap();
    }
    std::fs::create_dir(place.dir.path().join("box/data")).unwrap();
    let root = place.dir.path().canonicalize().unwrap();
    question.planted.iter().take(12).for_each(|planted| plant(&root, planted));
    // What was planted last may have replaced nothing: the two directories are still there.
    for asked in question.asked.iter().take(8) {
        match asked {
            Asked::InBox(route) => ask(place, &route.below(&root.join("box"))),
            Asked::InPlace(route) => ask(place, &route.below(&root)),
            Asked::Text(text) => ask(place, Path::new(text)),
        }
    }
});
