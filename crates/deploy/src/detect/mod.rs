//! Detection of start commands: the ways to run a working tree that its files suggest, best one first. Reads the
//! top level of the tree, and of the directories in which repositories usually have their applications.
//!
//! Read-only. The tree is untrusted: files are opened relative to its directory handle, up to a size limit
//! and without following links. Commands are fixed texts; only numbers and names without shell metacharacters
//! are taken from file contents.

mod containers;
mod directories;
mod node;
mod servers;
mod text;

use std::path::Path;

use loopgate_home::{Directory, ProjectFiles};
use serde::Serialize;

use self::directories::Subdirectory;
use self::node::PackageManager;
use crate::settings::Deployment;

pub use self::directories::PLACES;

/// One way to run a working tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Deployment settings that run the tree this way.
    pub config: Deployment,
    /// Which file led to the candidate, for the user.
    pub reason: String,
    /// Whether a container engine is required.
    #[serde(skip)]
    pub needs_engine: bool,
}

/// Returns the ways to run a working tree, best one first: commands that start the files at its root directly, then
/// container images, then guesses; then the best one of each directory of its workspaces and of [`PLACES`]. Performs
/// blocking I/O.
#[must_use]
pub fn candidates(tree: &Directory) -> Vec<Candidate> {
    let root = ProjectFiles::new(tree);
    let manager = PackageManager::of(&root);
    let listed = directories::list(tree, &root);
    let below = listed.iter().filter_map(|below| in_directory(tree, below, &manager).into_iter().next());
    let mut below: Vec<Candidate> = below.collect();
    below.sort_by_key(rank);
    in_root(&root).into_iter().chain(below).collect()
}

/// Returns the ways to run one directory of a working tree, whose path must not contain links. Performs blocking
/// I/O.
#[must_use]
pub fn candidates_in(tree: &Directory, directory: &str) -> Vec<Candidate> {
    let root = ProjectFiles::new(tree);
    let listed = directories::list(tree, &root).into_iter().find(|listed| listed.path == directory);
    let below = listed.unwrap_or_else(|| Subdirectory { path: directory.to_owned(), is_member: false });
    in_directory(tree, &below, &PackageManager::of(&root))
}

fn in_root(files: &ProjectFiles<'_>) -> Vec<Candidate> {
    let detectors: [fn(&ProjectFiles<'_>) -> Option<Candidate>; 8] = [
        |files| node::package_script(files, None),
        servers::procfile,
        servers::python,
        servers::cargo,
        containers::compose,
        containers::dockerfile,
        servers::make,
        servers::static_site,
    ];
    detectors.into_iter().filter_map(|detect| detect(files)).collect()
}

/// Returns the candidates of a directory below the tree. Containers are left out: they are named after the
/// directory in which they start, which would be the same for all worktrees.
fn in_directory(tree: &Directory, below: &Subdirectory, manager: &PackageManager) -> Vec<Candidate> {
    let Ok(directory) = tree.directory(Path::new(&below.path)) else { return Vec::new() };
    let files = &ProjectFiles::new(&directory);
    let found = [
        node::package_script(files, Some((manager, below.is_member))),
        servers::procfile(files),
        servers::python(files),
        servers::cargo(files),
        servers::make(files),
        servers::static_site(files),
    ];
    let placed = found.into_iter().flatten().map(|mut candidate| {
        candidate.config.directory = Some(below.path.clone());
        candidate.reason = format!("{}: {}", below.path, candidate.reason);
        candidate
    });
    placed.collect()
}

/// Orders candidates of different directories: applications with pages, other frameworks, other commands, and
/// files that would only be served.
fn rank(candidate: &Candidate) -> usize {
    match (candidate.config.framework.as_deref(), candidate.config.kind.as_deref()) {
        (Some("next" | "vite" | "cra"), _) => 0,
        (Some(_), _) => 1,
        (None, Some("static")) => 3,
        (None, _) => 2,
    }
}

/// Orders candidates for this machine: without a container engine, those that need one move to the end.
#[must_use]
pub fn best(mut candidates: Vec<Candidate>, has_engine: bool) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| candidate.needs_engine && !has_engine);
    candidates
}
