//! Prepares what judges of a run read: the context, and `judge-input.json` if it was not written for the run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::names::PRD_MD;
use loopgate_home::untrusted;
use serde_json::{Value, json};

use super::envelope::{JUDGE_INPUT, JudgeInput};
use super::evaluation::execution_failed;
use super::project::JudgedProject;
use super::rules::JudgingRules;
use super::{Category, context, plan_document};
use crate::clock::now;
use crate::console::print_error;

/// Time limit of the preparation of a context.
const TIME_LIMIT: Duration = Duration::from_mins(5);
/// Justification of each judge when the context of a change exceeds the time limit.
const TIMED_OUT: &str = "Context preparation timeout";
/// Value of `metadata.generated_by` in a description that a run may replace.
const GENERATOR: &str = "loopgate judges run";

/// Reads the judges and thresholds of a run.
///
/// # Errors
/// Returns the reason for which git or the settings of the loop cannot be used.
pub async fn rules(
    workdir: &Path,
    project: Option<PathBuf>,
    category: Category,
) -> Result<JudgingRules, String> {
    let workdir = workdir.to_owned();
    blocking(move || {
        let project = JudgedProject::find(&workdir, project.as_deref(), category)?;
        Ok(JudgingRules::load(&workdir, &project, category))
    })
    .await
}

/// Writes the context and the description of the input, and reads the latter. A description that was written for the run is
/// kept.
///
/// # Errors
/// Returns the justification of all judges, which could not judge.
pub async fn input(
    workdir: &Path,
    project: Option<PathBuf>,
    category: Category,
) -> Result<JudgeInput, String> {
    let context = match category {
        Category::Plan | Category::Code => context(workdir, project, category).await,
        Category::Prd | Category::Feature => Ok(()),
    };
    let path = workdir.join(JUDGE_INPUT);
    let is_generated = |input: Value| input.pointer("/metadata/generated_by") == Some(&json!(GENERATOR));
    if untrusted::kind(&path).is_none() || untrusted::read_json(&path).is_some_and(is_generated) {
        let input = match (context, category) {
            (Ok(()), _) => default_input(workdir, category),
            (Err(reason), Category::Plan) => fallback_input(workdir, &reason),
            (Err(reason), _) if reason == TIMED_OUT => return Err(reason),
            (Err(reason), _) => return Err(execution_failed(&reason)),
        };
        untrusted::write(&path, format!("{input:#}\n").as_bytes())
            .map_err(|error| execution_failed(&format!("Cannot write {}: {error}", path.display())))?;
    }
    JudgeInput::load(workdir, Some(category)).map_err(|fault| execution_failed(&fault))
}

async fn context(workdir: &Path, project: Option<PathBuf>, category: Category) -> Result<(), String> {
    let workdir = workdir.to_owned();
    let written = blocking(move || {
        let project = JudgedProject::find(&workdir, project.as_deref(), category)?;
        context::write_of(&workdir, category, &project)
    });
    let text = tokio::time::timeout(TIME_LIMIT, written).await.map_err(|_| TIMED_OUT.to_owned())??;
    text.lines().filter(|line| line.starts_with("Warning: ")).for_each(print_error);
    Ok(())
}

/// Runs work that waits for git with an async runtime of its own, which cannot be nested.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}

/// Returns the description of the input for a work directory without one.
fn default_input(workdir: &Path, category: Category) -> Value {
    let (task, path, kind) = match category {
        Category::Plan => ("Evaluate the plan", context::file_name(category), "json"),
        Category::Code => ("Evaluate the change of the code", context::file_name(category), "json"),
        Category::Prd => ("Evaluate the requirements", PRD_MD.to_owned(), "markdown"),
        Category::Feature => ("Evaluate the requirements of the feature", PRD_MD.to_owned(), "markdown"),
    };
    let id = path.split('.').next().unwrap_or(&path).replace('-', "_");
    json!({
        "evaluation_type": category.name(),
        "task": task,
        "primary_artifact": {"id": id, "path": path, "type": kind, "required": true},
        "supporting_artifacts": [],
        "source_of_truth": [id],
        "fallback_mode": {"active": false, "reason": "", "fallback_artifacts": []},
        "metadata": metadata(workdir),
    })
}

/// Returns the description of a plan without its context: judges read its documents.
fn fallback_input(workdir: &Path, reason: &str) -> Value {
    let plan = plan_document(workdir).unwrap_or_default();
    let artifact = |id: &str, path: &str| {
        let kind = if path.ends_with(".md") { "markdown" } else { "json" };
        json!({"id": id, "path": path, "type": kind, "required": true})
    };
    json!({
        "evaluation_type": Category::Plan.name(),
        "task": "Evaluate the plan",
        "primary_artifact": artifact("plan", plan),
        "supporting_artifacts": [artifact("requirements", PRD_MD)],
        "source_of_truth": ["plan", "requirements"],
        "fallback_mode": {"active": true, "reason": reason, "fallback_artifacts": ["plan", "requirements"]},
        "metadata": metadata(workdir),
    })
}

fn metadata(workdir: &Path) -> Value {
    json!({"run_id": super::run_id(workdir), "generated_at": now(), "generated_by": GENERATOR})
}
