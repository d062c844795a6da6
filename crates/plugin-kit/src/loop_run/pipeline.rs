//! Steps after each iteration: bookkeeping for the learnings. A failing step never stops the loop.
//!
//! Step 1 lists the changed files. The remaining steps belong to self-learning and are reported as skipped
//! while its plugin is not installed.

use serde_json::{Value, json};

use super::driver::Driver;
use crate::clock::Span;
use crate::project_git::ProjectGit;

/// Number and name of the steps after the first, as the timing events report them.
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

/// Runs the steps of the current iteration.
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

/// Writes the list of changed files and returns whether that succeeded. `None` without a start commit to
/// compare with.
async fn changed_files(driver: &Driver) -> Option<bool> {
    let sha = Some(driver.state.start_sha.as_str()).filter(|sha| !sha.is_empty())?;
    let git = ProjectGit::at(&driver.context.project_root, &driver.context.env, &driver.stop);
    // A failed git call is reported as a failed step, not as an empty list.
    let Some(files) = git.changed_since(sha).await else { return Some(false) };
    let path = driver.state.workdir.join(".learnings/changed-files.json");
    Some(loopgate_home::untrusted::write(&path, json!(files).to_string().as_bytes()).is_ok())
}

/// Formats whole numbers without a fraction: consumers of the events expect `2`, not `2.0`.
fn step(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number.round() as i64) } else { json!(number) }
}
