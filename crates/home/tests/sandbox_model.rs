//! Model test of the sandbox: compares its decisions with a small in-memory file tree and a simple resolver,
//! for arbitrary trees of directories, files and symbolic links and arbitrary paths.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Overrides, Sandbox, SettingsStore};
use proptest::prelude::*;

/// Path components relative to the root of the test; empty for the root itself.
type Components = Vec<String>;

const BASE: &str = "box";
/// Denied data directory inside the base directory.
const SECRET: &str = "secret";
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone)]
enum FileNode {
    Directory,
    /// A file whose content is its path.
    File,
    /// Target of the link, relative to the root of the test or to the link's directory.
    Link {
        absolute: bool,
        to: Components,
    },
}

/// Nodes by path. Nodes whose parent is not a directory are dropped.
#[derive(Debug, Clone)]
struct ModelTree(BTreeMap<Components, FileNode>);

/// Result of resolving a path.
#[derive(Debug, PartialEq, Eq)]
struct ResolvedPath {
    place: Components,
    exists: bool,
}

impl ModelTree {
    fn new(nodes: Vec<(Components, FileNode)>) -> Self {
        let mut tree = Self(BTreeMap::new());
        for place in
            [vec![], vec![BASE.to_owned()], vec!["out".to_owned()], vec![BASE.to_owned(), SECRET.to_owned()]]
        {
            tree.0.insert(place, FileNode::Directory);
        }
        for (place, node) in nodes {
            let parent = &place[..place.len() - 1];
            if matches!(tree.0.get(parent), Some(FileNode::Directory)) && !tree.0.contains_key(&place) {
                tree.0.insert(place, node);
            }
        }
        tree
    }

    fn build(&self, root: &Path) {
        for (place, node) in &self.0 {
            let path = root.join(place.join("/"));
            match node {
                FileNode::Directory => std::fs::create_dir_all(path).unwrap(),
                FileNode::File => std::fs::write(path, place.join("/")).unwrap(),
                FileNode::Link { absolute, to } => {
                    let to = to.join("/");
                    let target = if *absolute { root.join(to) } else { PathBuf::from(to) };
                    std::os::unix::fs::symlink(target, path).unwrap();
                }
            }
        }
    }

    /// Resolves a path component by component. Returns `None` when it cannot be resolved.
    fn real(&self, path: &[String]) -> Option<ResolvedPath> {
        let mut at = ResolvedPath { place: vec![], exists: true };
        let mut ahead: Vec<String> = path.iter().rev().cloned().collect();
        let mut links = 0;
        while let Some(step) = ahead.pop() {
            let here = self.0.get(&at.place);
            match step.as_str() {
                "." => {}
                ".." if at.exists && matches!(here, Some(FileNode::Directory)) => {
                    // The model does not cover anything above the root of the test.
                    at.place.pop()?;
                }
                ".." => return None,
                _ => {
                    let mut next = at.place.clone();
                    next.push(step);
                    match self.0.get(&next).filter(|_| at.exists) {
                        Some(FileNode::Link { absolute, to }) => {
                            links += 1;
                            if links > MAX_LINKS {
                                return None;
                            }
                            ahead.extend(to.iter().rev().cloned());
                            if *absolute {
                                at.place.clear();
                            }
                        }
                        Some(_) => at.place = next,
                        None => at = ResolvedPath { place: next, exists: false },
                    }
                }
            }
        }
        Some(at)
    }

    fn allows(&self, path: &[String]) -> Option<ResolvedPath> {
        let written = lexical(path)?;
        let real = self.real(&written)?;
        let denied = |place: &[String]| {
            place.len() >= 2 && place[0].eq_ignore_ascii_case(BASE) && place[1].eq_ignore_ascii_case(SECRET)
        };
        let inside = real.place.first().is_some_and(|first| first == BASE);
        (inside && !denied(&written) && !denied(&real.place)).then_some(real)
    }
}

/// Removes `.` and `..` lexically. Returns `None` above the root of the test.
fn lexical(path: &[String]) -> Option<Components> {
    let mut clean = Vec::new();
    for part in path {
        match part.as_str() {
            "." => {}
            ".." => {
                clean.pop()?;
            }
            _ => clean.push(part.clone()),
        }
    }
    Some(clean)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "box-evil", SECRET, "SECRET", "%2e%2e", "..."])
        .prop_map(Into::into)
}

fn start() -> impl Strategy<Value = String> {
    prop::sample::select(vec![BASE, BASE, BASE, "out", "box-evil"]).prop_map(Into::into)
}

fn place() -> impl Strategy<Value = Components> {
    (start(), prop::collection::vec(name(), 0..3)).prop_map(|(start, mut rest)| {
        rest.insert(0, start);
        rest
    })
}

fn steps() -> impl Strategy<Value = Vec<String>> {
    let step = prop_oneof![4 => name(), 2 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    prop::collection::vec(step, 1..5)
}

fn node() -> impl Strategy<Value = FileNode> {
    let absolute = (start(), steps()).prop_map(|(start, mut to)| {
        to.insert(0, start);
        FileNode::Link { absolute: true, to }
    });
    prop_oneof![
        3 => Just(FileNode::Directory),
        2 => Just(FileNode::File),
        2 => steps().prop_map(|to| FileNode::Link { absolute: false, to }),
        1 => absolute,
    ]
}

fn sandbox(root: &Path) -> Sandbox {
    let overrides = Overrides { sandbox_base_directory: Some(root.join(BASE)), ..Overrides::default() };
    let settings = SettingsStore::open(&root.join("settings.toml"), overrides).unwrap();
    Sandbox::new(Arc::new(settings), &root.join(BASE).join(SECRET))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sandbox_agrees_with_the_model(
        nodes in prop::collection::vec((place(), node()), 0..14),
        paths in prop::collection::vec((start(), steps()), 1..12),
    ) {
        let tree = ModelTree::new(nodes);
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        tree.build(&root);
        let sandbox = sandbox(&root);
        for (start, rest) in paths {
            let path: Vec<String> = std::iter::once(start).chain(rest).collect();
            let given = root.join(path.join("/"));
            let expected = tree.allows(&path);
            let checked = sandbox.check(&given);
            prop_assert_eq!(checked.is_ok(), expected.is_some(), "{:?} in {:?}", path, tree);
            let (Ok(checked), Some(expected)) = (checked, expected) else { continue };
            prop_assert_eq!(checked.canonical(), root.join(expected.place.join("/")), "{:?} in {:?}", path, tree);
            // The opened file must be the one that was checked.
            let node = tree.0.get(&expected.place).filter(|_| expected.exists);
            match (checked.open_file(), node) {
                (Ok(mut file), Some(FileNode::File)) => {
                    let mut content = String::new();
                    file.read_to_string(&mut content).unwrap();
                    prop_assert_eq!(content, expected.place.join("/"));
                }
                (Err(_), Some(FileNode::Directory) | None) => {}
                (opened, node) => prop_assert!(false, "{:?}: {:?} for {:?}", path, opened, node),
            }
            prop_assert_eq!(checked.open_directory().is_ok(), matches!(node, Some(FileNode::Directory)));
        }
    }
}
