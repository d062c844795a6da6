//! What follows each iteration: bookkeeping for the learnings, none of which can stop the loop.
//!
//! Step 1 lists the changed files. The steps after it belong to self-learning and are reported as
//! passed over while the plugin for it is not there.

use serde_json::{Value, json};

use super::driver::Driver;
use crate::clock::Span;
use crate::project_git::ProjectGit;

/// Steps after the first, by number and name.
const LEARNING_STEPS: [(f64, &str); 10] = [
    (2.0, "pattern_relevance"),
    (3.0, "merge_relevance"),
    (4.0, "evaluate_goal"),
    (5.0, "merge_goal_outcome"),
    (6.0, "verify_citations"),
    (7.0, "merge_build_result"),
    (8.0, "process_learnings"),
    (8.5, "write_merged_patterns"),
    (9.0, "compute_success_rates"),
    (10.0, "export_loopgate_learnings"),
];

/// Runs the steps of the present iteration.
pub async fn run(driver: &Driver) {
    let iteration = driver.state.iteration;
    let span = Span::start();
    let changed = changed_files(driver).await;
    let exit_code = i32::from(changed == Some(false));
    driver.perf.step(iteration, &json!(1), "changed_files", &span, exit_code, changed.is_none());
    for (number, name) in LEARNING_STEPS {
        driver.perf.step(iteration, &step(number), name, &Span::start(), 0, true);
    }
}

/// Whether the list could be written; `None` when there is no start to compare with.
async fn changed_files(driver: &Driver) -> Option<bool> {
    let sha = Some(driver.state.start_sha.as_str()).filter(|sha| !sha.is_empty())?;
    let git = ProjectGit::at(&driver.context.project_root, &driver.context.env, &driver.stop);
    let Some(files) = git.changed_since(sha).await else { return Some(false) };
    let path = driver.state.workdir.join(".learnings/changed-files.json");
    Some(loopgate_home::untrusted::write(&path, json!(files).to_string().as_bytes()).is_ok())
}

/// Whole numbers are written without a fraction.
fn step(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number.round() as i64) } else { json!(number) }
}
