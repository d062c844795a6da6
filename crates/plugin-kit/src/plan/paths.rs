//! Paths of the plan in a work directory.

use std::path::{Path, PathBuf};

use loopgate_api::names::PLAN_JSON;

/// Returns the path of `plan.json` in a work directory.
pub fn plan_path(workdir: &Path) -> PathBuf {
    workdir.join(PLAN_JSON)
}
