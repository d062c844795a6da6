//! Inputs of REQUEST_CHANGES: the requested change, and the existing plan. Tasks and their status are taken
//! from the plan on disk, because the text of the request does not contain them.

use std::io;
use std::path::Path;

use loopgate_api::launch::{Artifact, ArtifactType};
use loopgate_api::names::PLAN_JSON;
use loopgate_api::plan;
use loopgate_home::untrusted::{self, write_private};
use serde_json::{Map, Value};

use super::{PLAN_SOURCE, StagedInputs, remove_if_exists, stage_prompt, stage_requirements};
use crate::request::LoopRequest;

pub(super) fn stage(request: &LoopRequest, work_dir: &Path) -> io::Result<StagedInputs> {
    let mut staged = StagedInputs::default();
    for artifact in request.artifacts_of(ArtifactType::ImplementationPlan) {
        staged = stage_plan(artifact, work_dir)?;
    }
    stage_requirements(request, work_dir)?;
    stage_prompt(request, work_dir)?;
    Ok(staged)
}

fn stage_plan(artifact: &Artifact, work_dir: &Path) -> io::Result<StagedInputs> {
    let (plan, source) = (work_dir.join(PLAN_JSON), work_dir.join(PLAN_SOURCE));
    remove_if_exists(&source)?;
    // The text is Markdown: `loopgate plan build` creates a new plan.json from it.
    let Ok(content) = plan::parse(&artifact.content) else {
        remove_if_exists(&plan)?;
        write_private(&source, artifact.content.as_bytes())?;
        return Ok(StagedInputs { plan_file: Some(source), ..StagedInputs::default() });
    };
    // Prefer the plan on disk: it records which tasks have been completed.
    let existing = untrusted::read_text(&plan).ok().and_then(|text| plan::parse(&text).ok());
    let document = match (existing, &artifact.raw) {
        (Some(Value::Object(existing)), _) => with_content(existing, artifact),
        (_, Some(raw)) => with_content(raw.clone(), artifact),
        (_, None) => content,
    };
    write_private(&plan, &serde_json::to_vec_pretty(&document)?)?;
    Ok(StagedInputs::default())
}

fn with_content(mut plan: Map<String, Value>, artifact: &Artifact) -> Value {
    plan.insert("content".to_owned(), artifact.content.clone().into());
    Value::Object(plan)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn staged(
        existing: Option<&str>,
        content: &str,
        raw: Value,
    ) -> (StagedInputs, Option<Value>, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        if let Some(text) = existing {
            std::fs::write(dir.path().join(PLAN_JSON), text).unwrap();
        }
        let body = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": "REQUEST_CHANGES",
            "loopgateAuthToken": "t", "prompt": "Shorter", "repo": {"fullName": "acme/api"},
            "artifacts": [{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": content, "raw": raw}]});
        let request = LoopRequest::parse(body.to_string().as_bytes()).unwrap();
        let staged = stage(&request, dir.path()).unwrap();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(read("prompt.md").as_deref(), Some("Shorter"));
        let plan = read(PLAN_JSON).map(|text| serde_json::from_str(&text).unwrap());
        (staged, plan, read(PLAN_SOURCE))
    }

    #[test]
    fn markdown_replaces_the_staged_plan() {
        let (staged, plan, source) = staged(Some(r##"{"content":"# Old"}"##), "# New", Value::Null);
        assert!(staged.plan_file.is_some_and(|path| path.ends_with(PLAN_SOURCE)));
        assert_eq!((plan, source.as_deref()), (None, Some("# New")));
    }

    #[test]
    fn plan_content_is_merged_into_the_existing_plan() {
        let text = r#"{"a": 1}"#;
        let existing = r#"{"content":"old","pendingTasks":[1]}"#;
        let (_, plan, source) = staged(Some(existing), text, Value::Null);
        assert_eq!((plan, source), (Some(json!({"content": text, "pendingTasks": [1]})), None));
        // A file that is not valid JSON is ignored in favor of the request's plan.
        let (_, plan, _) = staged(Some("{"), text, json!({"tasks": []}));
        assert_eq!(plan, Some(json!({"tasks": [], "content": text})));
        let (_, plan, _) = staged(None, text, Value::Null);
        assert_eq!(plan, Some(json!({"a": 1})));
    }
}
