//! Detection of start commands: every way to run a working tree that its files show, the best one first.
//!
//! Only reads. The tree is untrusted: files are opened relative to its handle, up to a size limit and without
//! following links. Commands are fixed texts; of the text of a file only numbers and names of harmless characters
//! become part of one.

mod containers;
mod node;
mod servers;
mod text;

use loopgate_home::{Directory, ProjectFiles};
use serde::Serialize;

use crate::settings::Deployment;

/// One way to run a working tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Settings that run it.
    pub config: Deployment,
    /// What was found in which file, for a person.
    pub reason: String,
    /// It needs a container engine.
    #[serde(skip)]
    pub needs_engine: bool,
}

/// All ways to run a working tree, the best one first: commands that start its files directly, then container images,
/// then guesses. Blocks on the disk.
#[must_use]
pub fn candidates(tree: &Directory) -> Vec<Candidate> {
    let files = ProjectFiles::new(tree);
    let finders: [fn(&ProjectFiles<'_>) -> Option<Candidate>; 8] = [
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

/// Orders candidates for this machine: without a container engine, those that need one come last.
#[must_use]
pub fn best(mut candidates: Vec<Candidate>, has_engine: bool) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| candidate.needs_engine && !has_engine);
    candidates
}
