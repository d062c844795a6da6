//! Detection of start commands: the ways to run a working tree that its files suggest, best one first.
//!
//! Read-only. The tree is untrusted: files are opened relative to its directory handle, up to a size limit
//! and without following links. Commands are fixed texts; only numbers and names without shell metacharacters
//! are taken from file contents.

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
    /// Deployment settings that run the tree this way.
    pub config: Deployment,
    /// Which file led to the candidate, for the user.
    pub reason: String,
    /// Whether a container engine is required.
    #[serde(skip)]
    pub needs_engine: bool,
}

/// Returns the ways to run a working tree, best one first: commands that start its files directly, then
/// container images, then guesses. Performs blocking I/O.
#[must_use]
pub fn candidates(tree: &Directory) -> Vec<Candidate> {
    let files = ProjectFiles::new(tree);
    let detectors: [fn(&ProjectFiles<'_>) -> Option<Candidate>; 8] = [
        node::package_script,
        servers::procfile,
        servers::python,
        servers::cargo,
        containers::compose,
        containers::dockerfile,
        servers::make,
        servers::static_site,
    ];
    detectors.into_iter().filter_map(|detect| detect(&files)).collect()
}

/// Orders candidates for this machine: without a container engine, those that need one move to the end.
#[must_use]
pub fn best(mut candidates: Vec<Candidate>, has_engine: bool) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| candidate.needs_engine && !has_engine);
    candidates
}
