//! Collects the output files of a loop into one upload for the control plane.

use std::path::{Path, PathBuf};

use loopgate_api::command::{CommandOutput, Inputs, LoopCommand, UploadForm};
use loopgate_api::judge_report::EvaluationReport;
use loopgate_api::names::IMPORTED_PLAN;
use loopgate_api::plan::{self, PlanArtifact};
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use super::outcome::{LoopOutcome, worktree};
use crate::jobs::{FinalizationSource, Job};

// 8 MiB. Larger files are skipped: the control plane rejects uploads of more than 20 MB in total.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Builds the upload: the artifacts of the command and metadata about the run. Unreadable files are skipped.
pub(super) async fn collect(job: &Job, outcome: &LoopOutcome<'_>) -> Value {
    let (paths, command) = (OutputPaths::of(job), job.command);
    let artifacts = tokio::task::spawn_blocking(move || read(&paths, command)).await.unwrap_or_default();
    let branch = outcome.branch_of(job).await;
    json!({"artifacts": artifacts, "metadata": metadata(job, outcome, branch)})
}

/// Directories that contain the outputs of a loop.
#[derive(Debug, Clone)]
pub(crate) struct OutputPaths {
    work_dir: PathBuf,
    root: PathBuf,
}

impl OutputPaths {
    pub fn of(job: &Job) -> Self {
        let work_dir = job.work_dir();
        let root = worktree(job).map_or_else(|| work_dir.clone(), Path::to_owned);
        Self { work_dir, root }
    }

    /// Returns the path at which the command writes `output`.
    pub fn path(&self, output: &CommandOutput) -> PathBuf {
        let directory = if output.in_project_root() { &self.root } else { &self.work_dir };
        directory.join(output.file)
    }

    /// Returns whether a required output is missing. Performs blocking I/O.
    pub fn is_output_missing(&self, command: LoopCommand) -> bool {
        command.spec().required_outputs().any(|output| !untrusted::is_file(&self.path(output)))
    }
}

fn read(paths: &OutputPaths, command: LoopCommand) -> Map<String, Value> {
    let spec = command.spec();
    let mut artifacts = Map::new();
    for output in spec.outputs {
        let Some((name, form)) = output.upload else { continue };
        let path = paths.path(output);
        let value = match form {
            UploadForm::Plan => read_plan(&path).or_else(|| {
                // EXECUTE may have been started with a Markdown plan only. It was staged under this name, and
                // no plan.json exists that could be uploaded instead.
                let imported = text(&paths.work_dir.join(IMPORTED_PLAN));
                let content = imported.filter(|_| spec.inputs == Inputs::Plan)?;
                Some(json!(PlanArtifact { content, raw: None }))
            }),
            UploadForm::Object => object(&path).map(redact::json),
            UploadForm::Judges => judges_report(&path).map(redact::json),
            UploadForm::Text => text(&path).map(Value::String),
            UploadForm::Document => text(&path).map(|content| json!({"content": content})),
        };
        artifacts.extend(value.map(|value| (name.to_owned(), value)));
    }
    artifacts
}

fn read_plan(path: &Path) -> Option<Value> {
    // A plan without `raw` has no tasks: the caller then falls back to the staged Markdown.
    let plan = PlanArtifact::from_value(plan::parse(&text(path)?).ok()?);
    plan.filter(|plan| plan.raw.is_some()).map(|plan| json!(plan))
}

fn object(path: &Path) -> Option<Value> {
    plan::parse(&text(path)?).ok().filter(Value::is_object)
}

/// Returns a report of the judges. One whose statuses contradict its scores was not written by `loopgate judges`.
fn judges_report(path: &Path) -> Option<Value> {
    let report: EvaluationReport = serde_json::from_str(&text(path)?).ok()?;
    if report.has_computed_statuses() {
        return Some(json!(report));
    }
    tracing::warn!(path = %path.display(), "skipped a report of judges whose statuses contradict its scores");
    None
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(untrusted::read(path, MAX_FILE).ok()?).ok()
}

fn metadata(job: &Job, outcome: &LoopOutcome<'_>, branch: Option<String>) -> Value {
    let mut metadata = json!({"finishedAt": now_iso(), "command": job.command.lower()});
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            metadata[name] = value;
        }
    };
    add("sessionId", outcome.summary.session_id.clone().map(Value::from));
    add("branchName", branch.map(Value::from));
    if job.command == LoopCommand::Execute {
        for (name, value) in execution_facts(job, outcome.source) {
            add(name, Some(value));
        }
    }
    metadata
}

/// Returns the members that describe how an EXECUTE was delivered. Shared by uploads and the `completed`
/// event.
pub(super) fn execution_facts(job: &Job, source: FinalizationSource) -> Vec<(&'static str, Value)> {
    let mut facts = vec![("finalizationSource", json!(source))];
    if let Some(delivery) = &job.delivery {
        facts.push(("executeFinalizationStatus", json!(delivery.status.as_str())));
        if let Some(completion) = &delivery.completion {
            facts.push(("executeFinalizationPath", json!(completion.path.as_str())));
            facts.extend(completion.reason.as_ref().map(|text| ("executeFinalizationReason", json!(text))));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_markdown_is_uploaded_when_plan_json_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let paths = OutputPaths { work_dir: dir.path().to_owned(), root: dir.path().to_owned() };
        std::fs::write(dir.path().join(IMPORTED_PLAN), "# P").unwrap();
        let files = read(&paths, LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# P"}));
        assert!(!read(&paths, LoopCommand::Plan).contains_key("plan"));
        // The trailing comma is deliberate: models write such JSON and the parser must accept it.
        std::fs::write(dir.path().join("plan.json"), r##"{"content":"# Q","tasks":[],}"##).unwrap();
        let files = read(&paths, LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# Q", "raw": {"content": "# Q", "tasks": []}}));
    }

    #[test]
    fn every_command_uploads_its_outputs() {
        let dir = tempfile::tempdir().unwrap();
        let (work_dir, root) = (dir.path().join("work"), dir.path().join("root"));
        for directory in [&work_dir, &root] {
            std::fs::create_dir(directory).unwrap();
        }
        let paths = OutputPaths { work_dir: work_dir.clone(), root: root.clone() };
        std::fs::write(root.join("prd.md"), "# What").unwrap();
        for name in ["features", "verdict"] {
            std::fs::write(work_dir.join(format!("{name}.json")), format!(r#"{{"of":"{name}"}}"#)).unwrap();
        }
        let report = |status: u8| {
            let metric = json!({"metric_name": "m", "score": 0.5, "threshold": 0.8, "justification": "x"});
            let case = json!({"case_id": "a", "final_status": status, "metrics": [metric]});
            json!({"report_id": "r", "timestamp": "t", "stats": [case]}).to_string()
        };
        for name in ["judges", "prd-judges", "feature-judges", "plan-judges", "code-judges"] {
            std::fs::write(work_dir.join(format!("{name}.json")), report(2)).unwrap();
        }
        for (command, keys) in [
            (LoopCommand::GeneratePrd, vec!["prd"]),
            (LoopCommand::RequestPrdChanges, vec!["prd"]),
            (LoopCommand::Decompose, vec!["features"]),
            (LoopCommand::EvaluatePrd, vec!["prdJudges"]),
            (LoopCommand::EvaluateFeature, vec!["featureJudges"]),
            (LoopCommand::EvaluatePlan, vec!["planJudges"]),
            (LoopCommand::EvaluateCode, vec!["codeJudges"]),
            (LoopCommand::CodeReview, vec!["verdict", "codeJudges"]),
        ] {
            assert_eq!(read(&paths, command).keys().collect::<Vec<_>>(), keys, "{command}");
            assert!(!paths.is_output_missing(command), "{command}");
        }
        assert_eq!(read(&paths, LoopCommand::GeneratePrd)["prd"], json!({"content": "# What"}));
        assert!(paths.is_output_missing(LoopCommand::RequestChanges));
        // A model has written that the judge passed, or another document.
        for text in [report(1), r#"{"stats": "good"}"#.to_owned()] {
            std::fs::write(work_dir.join("plan-judges.json"), text).unwrap();
            assert!(read(&paths, LoopCommand::EvaluatePlan).is_empty());
        }
        // Only JSON objects are accepted: a model may write an array into the expected file.
        std::fs::write(work_dir.join("features.json"), "[1]").unwrap();
        assert!(read(&paths, LoopCommand::Decompose).is_empty());
    }

    #[test]
    fn links_and_pipes_are_not_uploaded() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        let work_dir = root.join(".loopgate/work");
        std::fs::create_dir_all(&work_dir).unwrap();
        std::fs::create_dir_all(outside.join("work")).unwrap();
        let paths = OutputPaths { work_dir: work_dir.clone(), root: root.clone() };
        for name in ["prd.md", "plan.json", "judges.json", "work/plan.json", "work/code-judges.json"] {
            std::fs::write(outside.join(name), r#"{"content":"secret","tasks":[]}"#).unwrap();
        }
        let link =
            |target: &str, path: &Path| std::os::unix::fs::symlink(outside.join(target), path).unwrap();
        link("prd.md", &root.join("prd.md"));
        link("plan.json", &work_dir.join("plan.json"));
        link("judges.json", &work_dir.join("code-judges.json"));
        // A FIFO must not block the upload: opening it for reading waits for a writer.
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, work_dir.join("features.json"), mode).unwrap();
        let commands =
            [LoopCommand::GeneratePrd, LoopCommand::Plan, LoopCommand::EvaluateCode, LoopCommand::Decompose];
        for command in commands {
            assert!(read(&paths, command).is_empty() && paths.is_output_missing(command), "{command}");
        }
        // Repeat with a link in a parent directory instead of the file itself.
        std::fs::remove_dir_all(root.join(".loopgate")).unwrap();
        link("", &root.join(".loopgate"));
        for command in commands {
            assert!(read(&paths, command).is_empty() && paths.is_output_missing(command), "{command}");
        }
    }
}
