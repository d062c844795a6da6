//! The files of a loop that the control plane keeps, as one document.

use std::path::{Path, PathBuf};

use loopgate_api::command::{CommandOutput, Inputs, LoopCommand, UploadForm};
use loopgate_api::names::IMPORTED_PLAN;
use loopgate_api::plan::{self, PlanArtifact};
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;
use serde_json::{Map, Value, json};

use super::judges;
use super::outcome::{LoopOutcome, worktree};
use crate::jobs::{FinalizationSource, Job};

/// A file that is larger is left out; the control plane takes 20 MB in all.
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// The body of an upload.
pub(super) async fn collect(job: &Job, outcome: &LoopOutcome<'_>) -> Value {
    let (places, command) = (OutputPaths::of(job), job.command);
    let artifacts = tokio::task::spawn_blocking(move || read(&places, command)).await.unwrap_or_default();
    let branch = outcome.branch_of(job).await;
    json!({"artifacts": artifacts, "metadata": metadata(job, outcome, branch)})
}

/// Where the outputs of a loop lie.
#[derive(Debug, Clone)]
pub(crate) struct OutputPaths {
    work_dir: PathBuf,
    root: PathBuf,
}

impl OutputPaths {
    /// Those of a job.
    pub fn of(job: &Job) -> Self {
        let work_dir = job.work_dir();
        let root = worktree(job).map_or_else(|| work_dir.clone(), Path::to_owned);
        Self { work_dir, root }
    }

    /// The path of an output.
    pub fn path(&self, output: &CommandOutput) -> PathBuf {
        let place = if output.in_project_root() { &self.root } else { &self.work_dir };
        place.join(output.file)
    }

    /// Whether a required output is missing. Looks at the disk.
    pub fn lack(&self, command: LoopCommand) -> bool {
        command.spec().required_outputs().any(|output| !untrusted::is_file(&self.path(output)))
    }
}

fn read(places: &OutputPaths, command: LoopCommand) -> Map<String, Value> {
    let spec = command.spec();
    let mut artifacts = Map::new();
    for output in spec.outputs {
        let Some((name, form)) = output.upload else { continue };
        let path = places.path(output);
        let value = match form {
            UploadForm::Plan => read_plan(&path).or_else(|| {
                // An execution that was given the text alone has no other plan.
                let imported = text(&places.work_dir.join(IMPORTED_PLAN));
                let content = imported.filter(|_| spec.inputs == Inputs::Plan)?;
                Some(json!(PlanArtifact { content, raw: None }))
            }),
            UploadForm::Object => object(&path).map(redact::json),
            UploadForm::Judges => object(&path).map(|report| {
                let run = places.work_dir.file_name().unwrap_or_default().to_string_lossy();
                let report = report.as_object().cloned().unwrap_or_default();
                redact::json(judges::computed(report, &run, output.file).into())
            }),
            UploadForm::Text => text(&path).map(Value::String),
            UploadForm::Document => text(&path).map(|content| json!({"content": content})),
        };
        artifacts.extend(value.map(|value| (name.to_owned(), value)));
    }
    artifacts
}

fn read_plan(path: &Path) -> Option<Value> {
    let plan = PlanArtifact::from_value(plan::parse(&text(path)?).ok()?);
    plan.filter(|plan| plan.raw.is_some()).map(|plan| json!(plan))
}

fn object(path: &Path) -> Option<Value> {
    plan::parse(&text(path)?).ok().filter(Value::is_object)
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

/// How an execution was delivered, for uploads and for the completed event.
pub(super) fn execution_facts(job: &Job, source: FinalizationSource) -> Vec<(&'static str, Value)> {
    let mut known = vec![("finalizationSource", json!(source))];
    if let Some(delivery) = &job.delivery {
        known.push(("executeFinalizationStatus", json!(delivery.status.as_str())));
        if let Some(completion) = &delivery.completion {
            known.push(("executeFinalizationPath", json!(completion.path.as_str())));
            known.extend(completion.reason.as_ref().map(|text| ("executeFinalizationReason", json!(text))));
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_markdown_stands_in_for_a_plan_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let places = OutputPaths { work_dir: dir.path().to_owned(), root: dir.path().to_owned() };
        std::fs::write(dir.path().join(IMPORTED_PLAN), "# P").unwrap();
        let files = read(&places, LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# P"}));
        assert!(!read(&places, LoopCommand::Plan).contains_key("plan"));
        std::fs::write(dir.path().join("plan.json"), r##"{"content":"# Q","tasks":[],}"##).unwrap();
        let files = read(&places, LoopCommand::Execute);
        assert_eq!(files["plan"], json!({"content": "# Q", "raw": {"content": "# Q", "tasks": []}}));
    }

    #[test]
    fn every_command_uploads_what_it_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let (work_dir, root) = (dir.path().join("work"), dir.path().join("root"));
        for place in [&work_dir, &root] {
            std::fs::create_dir(place).unwrap();
        }
        let places = OutputPaths { work_dir: work_dir.clone(), root: root.clone() };
        std::fs::write(root.join("prd.md"), "# What").unwrap();
        for name in
            ["features", "verdict", "judges", "prd-judges", "feature-judges", "plan-judges", "code-judges"]
        {
            std::fs::write(work_dir.join(format!("{name}.json")), format!(r#"{{"of":"{name}"}}"#)).unwrap();
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
            assert_eq!(read(&places, command).keys().collect::<Vec<_>>(), keys, "{command}");
            assert!(!places.lack(command), "{command}");
        }
        assert_eq!(read(&places, LoopCommand::GeneratePrd)["prd"], json!({"content": "# What"}));
        assert!(places.lack(LoopCommand::RequestChanges));
        // A directory or a text is no result.
        std::fs::write(work_dir.join("features.json"), "[1]").unwrap();
        assert!(read(&places, LoopCommand::Decompose).is_empty());
    }

    #[test]
    fn links_and_pipes_are_no_results() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        let work_dir = root.join(".loopgate/work");
        std::fs::create_dir_all(&work_dir).unwrap();
        std::fs::create_dir_all(outside.join("work")).unwrap();
        let places = OutputPaths { work_dir: work_dir.clone(), root: root.clone() };
        for name in ["prd.md", "plan.json", "judges.json", "work/plan.json", "work/code-judges.json"] {
            std::fs::write(outside.join(name), r#"{"content":"secret","tasks":[]}"#).unwrap();
        }
        let link =
            |target: &str, place: &Path| std::os::unix::fs::symlink(outside.join(target), place).unwrap();
        link("prd.md", &root.join("prd.md"));
        link("plan.json", &work_dir.join("plan.json"));
        link("judges.json", &work_dir.join("code-judges.json"));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, work_dir.join("features.json"), mode).unwrap();
        let commands =
            [LoopCommand::GeneratePrd, LoopCommand::Plan, LoopCommand::EvaluateCode, LoopCommand::Decompose];
        for command in commands {
            assert!(read(&places, command).is_empty() && places.lack(command), "{command}");
        }
        std::fs::remove_dir_all(root.join(".loopgate")).unwrap();
        link("", &root.join(".loopgate"));
        for command in commands {
            assert!(read(&places, command).is_empty() && places.lack(command), "{command}");
        }
    }
}
