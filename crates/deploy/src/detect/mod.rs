//! How what lies in a working tree is run: every way that its files show, the best one first.
//!
//! Only reads. A working tree is hostile, so each file is opened relative to the tree's handle, through no link
//! and up to a limit, and no text of it becomes part of a command: commands are fixed texts, and names that a
//! manifest gives are taken only in a harmless form.

mod containers;
mod files;
mod node;
mod servers;

use loopgate_home::Directory;
use serde::Serialize;

use crate::settings::Deployment;

/// One way to run a working tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Settings of a run in this way.
    pub config: Deployment,
    /// Why it was found, and why it stands where it stands, for a person.
    pub reason: String,
    /// It needs a container engine.
    #[serde(skip)]
    pub needs_engine: bool,
}

/// All ways to run a working tree, the best one first: what starts the files as they lie there, before what
/// builds an image of them, before what is only likely. Blocks on the disk.
#[must_use]
pub fn candidates(tree: &Directory) -> Vec<Candidate> {
    let files = files::Files::new(tree);
    let finders: [fn(&files::Files) -> Option<Candidate>; 8] = [
        node::package_script,
        servers::procfile,
        servers::python,
        servers::cargo,
        containers::compose,
        containers::dockerfile,
        servers::make,
        servers::static_site,
    ];
    finders.into_iter().filter_map(|find| find(&files)).collect()
}

/// The best way that this machine can go: without a container engine those that need one come last.
#[must_use]
pub fn best(mut candidates: Vec<Candidate>, has_engine: bool) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| candidate.needs_engine && !has_engine);
    candidates
}
