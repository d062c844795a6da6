//! The sandbox against a model: a small tree in memory with a resolver that can be read at a
//! glance. Any tree of directories, files and links, any path, one verdict.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Overrides, Sandbox, SettingsStore};
use proptest::prelude::*;

/// Components below the root of the test; that root itself is the empty place.
type Components = Vec<String>;

const BOX: &str = "box";
/// Denied, although it is in the box.
const SECRET: &str = "secret";
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone)]
enum FileNode {
    Directory,
    /// Its content is its place.
    File,
    /// Where it leads: from the root of the test, or from its own directory.
    Link {
        absolute: bool,
        to: Components,
    },
}

/// Nodes by place. A node whose parent is no directory is not part of the tree.
#[derive(Debug, Clone)]
struct ModelTree(BTreeMap<Components, FileNode>);

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
struct ResolvedPath {
    place: Components,
    exists: bool,
}

impl ModelTree {
    fn new(wished: Vec<(Components, FileNode)>) -> Self {
        let mut tree = Self(BTreeMap::new());
        for place in
            [vec![], vec![BOX.to_owned()], vec!["out".to_owned()], vec![BOX.to_owned(), SECRET.to_owned()]]
        {
            tree.0.insert(place, FileNode::Directory);
        }
        for (place, node) in wished {
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

    /// Follows a path step by step. `None` when the way is no way.
    fn real(&self, path: &[String]) -> Option<ResolvedPath> {
        let mut at = ResolvedPath { place: vec![], exists: true };
        let mut ahead: Vec<String> = path.iter().rev().cloned().collect();
        let mut links = 0;
        while let Some(step) = ahead.pop() {
            let here = self.0.get(&at.place);
            match step.as_str() {
                "." => {}
                ".." if at.exists && matches!(here, Some(FileNode::Directory)) => {
                    // Above the root of the test nothing is part of the model.
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
            place.len() >= 2 && place[0].eq_ignore_ascii_case(BOX) && place[1].eq_ignore_ascii_case(SECRET)
        };
        let inside = real.place.first().is_some_and(|first| first == BOX);
        (inside && !denied(&written) && !denied(&real.place)).then_some(real)
    }
}

/// `.` and `..` removed as they are written; `None` above the root of the test.
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
    prop::sample::select(vec![BOX, BOX, BOX, "out", "box-evil"]).prop_map(Into::into)
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
    let overrides = Overrides { sandbox_base_directory: Some(root.join(BOX)), ..Overrides::default() };
    let settings = SettingsStore::open(&root.join("settings.toml"), overrides).unwrap();
    Sandbox::new(Arc::new(settings), &root.join(BOX).join(SECRET))
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
            let wanted = tree.allows(&path);
            let found = sandbox.check(&given);
            prop_assert_eq!(found.is_ok(), wanted.is_some(), "{:?} in {:?}", path, tree);
            let (Ok(found), Some(wanted)) = (found, wanted) else { continue };
            prop_assert_eq!(found.canonical(), root.join(wanted.place.join("/")), "{:?} in {:?}", path, tree);
            // What is opened is what was checked.
            let node = tree.0.get(&wanted.place).filter(|_| wanted.exists);
            match (found.open_file(), node) {
                (Ok(mut file), Some(FileNode::File)) => {
                    let mut content = String::new();
                    file.read_to_string(&mut content).unwrap();
                    prop_assert_eq!(content, wanted.place.join("/"));
                }
                (Err(_), Some(FileNode::Directory) | None) => {}
                (opened, node) => prop_assert!(false, "{:?}: {:?} for {:?}", path, opened, node),
            }
            prop_assert_eq!(found.open_directory().is_ok(), matches!(node, Some(FileNode::Directory)));
        }
    }
}
