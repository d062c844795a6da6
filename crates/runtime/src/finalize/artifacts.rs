//! The files of a loop that the control plane keeps, as one document.

use std::path::Path;

use loopgate_api::command::LoopCommand;
use loopgate_api::names::{EXECUTION_RESULT, IMPORTED_PLAN, OPEN_QUESTIONS, PLAN_JSON};
use loopgate_api::plan::{self, PlanArtifact};
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use serde_json::{Map, Value, json};

use super::{Ending, work_dir};
use crate::job::{FinalizationSource, Job};

/// A file that is larger is left out; the control plane takes 20 MB in all.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The body of an upload.
pub(super) async fn collect(job: &Job, ending: &Ending<'_>) -> Value {
    let (directory, command) = (work_dir(job), job.command);
    let artifacts = tokio::task::spawn_blocking(move || read(&directory, command)).await.unwrap_or_default();
    let branch = super::completion::branch_of(job, ending).await;
    json!({"artifacts": artifacts, "metadata": metadata(job, ending, branch)})
}

fn read(directory: &Path, command: LoopCommand) -> Map<String, Value> {
    let mut artifacts = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            artifacts.insert(name.to_owned(), value);
        }
    };
    match command {
        LoopCommand::Execute => {
            let plan = read_plan(directory).or_else(|| {
                let content = text(&directory.join(IMPORTED_PLAN))?;
                Some(PlanArtifact { content, raw: None })
            });
            add("plan", plan.and_then(|plan| serde_json::to_value(plan).ok()));
            add("executionResult", object(&directory.join(EXECUTION_RESULT)).map(redact::json));
            add("codeJudges", object(&directory.join("code-judges.json")));
        }
        _ => {
            add("plan", read_plan(directory).and_then(|plan| serde_json::to_value(plan).ok()));
            add("openQuestions", text(&directory.join(OPEN_QUESTIONS)).map(Value::String));
            add("judges", object(&directory.join("judges.json")));
        }
    }
    artifacts
}

fn read_plan(directory: &Path) -> Option<PlanArtifact> {
    let text = text(&directory.join(PLAN_JSON))?;
    PlanArtifact::from_value(plan::parse(&text).ok()?).filter(|plan| plan.raw.is_some())
}

fn object(path: &Path) -> Option<Value> {
    plan::parse(&text(path)?).ok().filter(Value::is_object)
}

fn text(path: &Path) -> Option<String> {
    let small = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE);
    if small { std::fs::read_to_string(path).ok() } else { None }
}

fn metadata(job: &Job, ending: &Ending<'_>, branch: Option<String>) -> Value {
    let mut metadata = json!({"finishedAt": now_iso(), "command": job.command.lower()});
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            metadata[name] = value;
        }
    };
    add("sessionId", ending.summary.session_id.clone().map(Value::from));
    add("branchName", branch.map(Value::from));
    if job.command == LoopCommand::Execute {
        for (name, value) in execution_facts(job, ending.source) {
            add(name, Some(value));
        }
    }
    metadata
}

/// How an execution was delivered, for uploads and for the completed event.
pub(super) fn execution_facts(job: &Job, source: FinalizationSource) -> Vec<(&'static str, Value)> {
    let facts = &job.facts;
    let mut known = vec![("finalizationSource", json!(source))];
    known.extend(
        facts.execute_finalization_status.map(|status| ("executeFinalizationStatus", json!(status.as_str()))),
    );
    known.extend(
        facts.execute_finalization_path.map(|path| ("executeFinalizationPath", json!(path.as_str()))),
    );
    known.extend(
        facts.execute_finalization_reason.as_ref().map(|text| ("executeFinalizationReason", json!(text))),
    );
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_staged_markdown_stands_in_for_a_plan_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(IMPORTED_PLAN), "# P").unwrap();
        let files = read(dir.path(), LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# P"}));
        assert!(!read(dir.path(), LoopCommand::Plan).contains_key("plan"));
        std::fs::write(dir.path().join(PLAN_JSON), r##"{"content":"# Q","tasks":[],}"##).unwrap();
        let files = read(dir.path(), LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# Q", "raw": {"content": "# Q", "tasks": []}}));
    }
}
