//! Where the plan of a work directory lies.

use std::path::{Path, PathBuf};

use loopgate_api::names::PLAN_JSON;

/// `plan.json` of a work directory.
pub fn plan_path(workdir: &Path) -> PathBuf {
    workdir.join(PLAN_JSON)
}
