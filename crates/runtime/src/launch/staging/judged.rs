//! Inputs of evaluations: the documents under the file names that the judges expect, and supporting material.

use std::io;
use std::path::Path;

use loopgate_api::command::JudgeSubject;
use loopgate_api::ids::safe_id;
use loopgate_api::launch::{Artifact, ArtifactType};
use loopgate_api::names::{PLAN_MD, PRD_MD};
use loopgate_home::untrusted::write_private;
use serde_json::{Value, json};

use super::context::inside;
use super::{FEATURE_MD, PROMPT_MD, StagedInputs, StagingDirs, code_context};
use crate::request::{LoopRequest, SupportingArtifact};

pub(super) fn stage(
    request: &LoopRequest,
    subject: JudgeSubject,
    site: &StagingDirs<'_>,
) -> io::Result<StagedInputs> {
    let mut inputs = Vec::new();
    let mut put = |path: std::path::PathBuf, bytes: &[u8]| -> io::Result<()> {
        write_private(&path, bytes)?;
        inputs.push(path);
        Ok(())
    };
    for (name, text) in subjects(request, subject)? {
        put(site.work_dir.join(name), text.as_bytes())?;
    }
    let directory = site.context();
    if let Some(prompt) = &request.prompt {
        put(directory.join(PROMPT_MD), prompt.as_bytes())?;
    }
    if request.repo.is_some() || request.local_repo_path.is_some() {
        let mut info = json!({});
        add(&mut info, "repo", request.repo.as_ref().and_then(|repo| serde_json::to_value(repo).ok()));
        add(&mut info, "localRepoPath", request.local_repo_path.clone().map(Value::from));
        put(directory.join("repo-info.json"), &serde_json::to_vec_pretty(&info)?)?;
    }
    if let Some(summaries) = &request.prior_loop_summaries {
        put(directory.join("prior-loop-summaries.json"), &serde_json::to_vec_pretty(summaries)?)?;
    }
    let artifacts = directory.join("artifacts");
    for (index, artifact) in request.supporting_artifacts.iter().enumerate() {
        put(inside(&artifacts, &supporting_name(index, artifact))?, artifact.content.as_bytes())?;
    }
    if subject == JudgeSubject::Code {
        let context = code_context::document(request, site.detected.as_ref());
        put(directory.join("code-context.json"), &serde_json::to_vec_pretty(&context)?)?;
    }
    Ok(StagedInputs { inputs, ..StagedInputs::default() })
}

/// Returns the documents to evaluate, and those to evaluate them against.
fn subjects(request: &LoopRequest, subject: JudgeSubject) -> io::Result<Vec<(&'static str, String)>> {
    let text = |artifact: &Artifact| artifact.content.clone();
    let plan = || {
        let plan = primary(request, ArtifactType::ImplementationPlan).map(text);
        plan.map(|text| (PLAN_MD, text))
    };
    let requirements = || {
        let requirements =
            requirements_document(request, subject).map(text).or_else(|| request.prompt.clone());
        requirements.filter(|text| !text.trim().is_empty()).map(|text| (PRD_MD, text))
    };
    Ok(match subject {
        JudgeSubject::Prd => requirements().into_iter().collect(),
        JudgeSubject::Plan => requirements().into_iter().chain(plan()).collect(),
        JudgeSubject::Code => plan().into_iter().collect(),
        JudgeSubject::Feature => {
            let missing =
                || io::Error::new(io::ErrorKind::InvalidInput, "the request has no FEATURE artifact");
            let feature = primary(request, ArtifactType::Feature).map(text).ok_or_else(missing)?;
            // The judges of a feature read it as requirements and as the subject.
            vec![(PRD_MD, feature.clone()), (FEATURE_MD, feature)]
        }
    })
}

/// Returns the primary document of the request, regardless of its type, or the last document of the type.
fn primary(request: &LoopRequest, kind: ArtifactType) -> Option<&Artifact> {
    primary_document(request).or_else(|| request.artifacts_of(kind).last())
}

fn primary_document(request: &LoopRequest) -> Option<&Artifact> {
    let id = request.primary_artifact_id.as_deref()?;
    request.artifacts.iter().find(|artifact| artifact.id == id)
}

/// Returns the requirements. When a plan is evaluated, the primary document may be the plan itself, which
/// cannot be its own requirements.
fn requirements_document(request: &LoopRequest, subject: JudgeSubject) -> Option<&Artifact> {
    let document = primary_document(request).filter(|artifact| {
        subject != JudgeSubject::Plan || artifact.kind != ArtifactType::ImplementationPlan
    });
    document
        .or_else(|| request.artifacts_of(ArtifactType::Prd).last())
        .or_else(|| request.artifacts_of(ArtifactType::Feature).last())
}

/// Returns `NNN-<kind>-<id>.<extension>`. The index keeps the order and makes the names unique.
fn supporting_name(index: usize, artifact: &SupportingArtifact) -> String {
    let file_name = ["filename", "fileName"].iter().find_map(|name| artifact.other.get(*name)?.as_str());
    let ending = file_name
        .and_then(|name| Path::new(name).extension()?.to_str())
        .filter(|ending| !ending.is_empty() && ending.chars().all(|letter| letter.is_ascii_alphanumeric()));
    let (kind, id) = (safe_id(&artifact.kind.to_lowercase()), safe_id(&artifact.id.to_lowercase()));
    format!("{index:03}-{kind}-{id}.{}", ending.unwrap_or("md"))
}

fn add(document: &mut Value, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        document[name] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(command: &str, change: Value) -> std::collections::BTreeMap<String, String> {
        let dir = tempfile::tempdir().unwrap();
        let documents = json!([{"id": "f", "type": "FEATURE", "title": "F", "content": "feature"},
            {"id": "p", "type": "PRD", "title": "P", "content": "requirements"},
            {"id": "i", "type": "IMPLEMENTATION_PLAN", "title": "I", "content": "# Plan"}]);
        let mut body = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": command,
            "loopgateAuthToken": "t", "artifacts": documents, "repo": {"fullName": "acme/api"}});
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        let request = LoopRequest::parse(body.to_string().as_bytes()).unwrap();
        let root = dir.path();
        let site = StagingDirs { root, work_dir: root, peers: &[], detected: None, targets: Vec::new() };
        let staged = super::super::stage(&request, &site).unwrap();
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        staged.inputs.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
    }

    #[test]
    fn primary_artifact_selects_the_evaluated_document() {
        let files = staged("EVALUATE_PRD", json!({}));
        assert_eq!(files["prd.md"], "requirements");
        let files = staged("EVALUATE_PRD", json!({"primaryArtifactId": "f"}));
        assert_eq!(files["prd.md"], "feature");
        let files = staged("EVALUATE_FEATURE", json!({}));
        assert_eq!((files["prd.md"].as_str(), files["feature.md"].as_str()), ("feature", "feature"));
        let files = staged("EVALUATE_PLAN", json!({"primaryArtifactId": "i"}));
        assert_eq!((files["prd.md"].as_str(), files["plan.md"].as_str()), ("requirements", "# Plan"));
        let files = staged("EVALUATE_CODE", json!({}));
        assert_eq!(files["plan.md"], "# Plan");
        assert!(!files.contains_key("prd.md"));
    }

    #[test]
    fn supporting_artifacts_get_safe_file_names() {
        let files = staged(
            "EVALUATE_CODE",
            json!({"prompt": "Be kind", "priorLoopSummaries": [{"a": 1}], "artifactSlug": "PLAN-1",
                "supportingArtifacts": [{"content": "x", "type": "Log File", "id": "../7", "filename": "a/b.TXT"},
                                        {"content": "y", "fileName": "a.t-x"}],
                "codeEvaluationContext": {"pullRequest": {"number": 7, "url": "u", "headBranch": "h",
                    "baseBranch": "main", "headSha": "s", "repositoryFullName": "acme/api"}}}),
        );
        let read = |name: &str| files[&format!(".loopgate/context/{name}")].clone();
        assert_eq!(read("prompt.md"), "Be kind");
        let names: Vec<&str> =
            files.keys().filter_map(|name| name.strip_prefix(".loopgate/context/artifacts/")).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names[0].starts_with("000-log") && names[0].ends_with(".TXT"), "{names:?}");
        assert!(names[1].starts_with("001-") && names[1].ends_with(".md"), "{names:?}");
        let context: Value = serde_json::from_str(&read("code-context.json")).unwrap();
        assert_eq!((&context["schemaVersion"], &context["artifactSlug"]), (&json!(1), &json!("PLAN-1")));
        assert_eq!(
            (&context["pullRequest"]["number"], &context["repo"]["fullName"]),
            (&json!(7), &json!("acme/api"))
        );
    }
}
