//! `loopgate judges context`: collects the documents that judges of a plan or of code read, within a number of tokens.
//! All judges of a run read the same text, and its size does not depend on the size of the change.

use std::io;
use std::path::Path;

use loopgate_api::names::{PLAN_JSON, PLAN_MD, PRD_MD};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};

use super::compression::{CompressedText, TextStructure, compress, tokens};
use super::project::JudgedProject;
use super::{Category, ContextArgs, plan_document};

/// Maximum number of tokens of the artifacts in the file, as judges read them.
const MAX_TOKENS: usize = 30_000;
/// How tokens are counted: without the vendor's service, which needs a key and the network.
const COUNTING: &str = "estimated";
/// Name of the artifact with the change of the code.
const GIT_DIFF: &str = "git_diff";

/// An artifact of a context.
struct ContextSource {
    name: &'static str,
    kind: TextStructure,
    /// Share of the tokens.
    percent: usize,
}

const fn source(name: &'static str, kind: TextStructure, percent: usize) -> ContextSource {
    ContextSource { name, kind, percent }
}

const PLAN: [ContextSource; 3] = [
    source(PLAN_JSON, TextStructure::Json, 50),
    source(PRD_MD, TextStructure::Markdown, 35),
    source("investigation-log.md", TextStructure::Markdown, 15),
];
const CODE: [ContextSource; 6] = [
    source(GIT_DIFF, TextStructure::Diff, 40),
    source(".learnings/changed-files.json", TextStructure::Json, 10),
    source(PLAN_JSON, TextStructure::Json, 20),
    source("investigation-log.md", TextStructure::Markdown, 10),
    source(".learnings/build-result.json", TextStructure::Json, 10),
    source(".learnings/outcomes.log", TextStructure::Log, 10),
];

/// A document of a context, complete.
struct SourceText {
    source: &'static ContextSource,
    /// Name of the document, which for a plan may be that of its text.
    name: &'static str,
    kind: TextStructure,
    text: String,
}

/// The stored context.
#[derive(Debug, Serialize)]
struct JudgeContext {
    artifact_type: &'static str,
    /// Tokens of `artifacts` in this file.
    total_tokens: usize,
    /// Whether the documents together had more tokens than judges read.
    budget_ceiling_enforced: bool,
    artifacts: Vec<ContextArtifact>,
    metadata: ContextMetadata,
}

#[derive(Debug, Serialize)]
struct ContextArtifact {
    artifact_name: &'static str,
    raw_tokens: usize,
    compacted_tokens: usize,
    token_count_method: &'static str,
    truncated: bool,
    content: String,
}

#[derive(Debug, Default, Serialize)]
struct ContextMetadata {
    skipped_artifacts: Vec<SkippedArtifact>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SkippedArtifact {
    artifact: &'static str,
    status: &'static str,
    reason: String,
}

/// The members of a stored context that a report repeats.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StoredContext {
    metadata: StoredMetadata,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StoredMetadata {
    warnings: Vec<String>,
}

/// Returns what the stored context of a work directory does not contain.
pub fn omissions(workdir: &Path, category: Category) -> Vec<String> {
    untrusted::read_json::<StoredContext>(&workdir.join(file_name(category)))
        .map(|context| context.metadata.warnings)
        .unwrap_or_default()
}

/// Returns the name of the context in a work directory.
pub fn file_name(category: Category) -> String {
    format!("{}-context.json", category.name())
}

/// Writes the context and returns the line to print.
///
/// # Errors
/// As [`write_of`].
pub fn write(args: &ContextArgs) -> Result<String, String> {
    super::report::check_workdir(&args.workdir)?;
    let project = JudgedProject::find(&args.workdir, None, args.category)?;
    write_of(&args.workdir, args.category, &project)
}

/// Writes the context of a project and returns the lines to print.
///
/// # Errors
/// Returns the reason for which there is no context: the first document, which the judges evaluate, is missing, or the
/// kind of object has no context.
pub fn write_of(workdir: &Path, category: Category, project: &JudgedProject) -> Result<String, String> {
    let sources: &'static [ContextSource] = match category {
        Category::Plan => &PLAN,
        Category::Code => &CODE,
        Category::Prd | Category::Feature => {
            return Err(format!("Judges of {} read {PRD_MD} and need no context", category.name()));
        }
    };
    let mut metadata = ContextMetadata::default();
    let texts = read(workdir, project, sources, &mut metadata)?;
    let context = within(category, &texts, MAX_TOKENS, metadata);
    let path = workdir.join(file_name(category));
    let json = serde_json::to_string(&context).map_err(|error| error.to_string())?;
    untrusted::write(&path, json.as_bytes())
        .map_err(|error| format!("Cannot write {}: {error}", path.display()))?;
    let mut text = format!(
        "Context with {} artifacts and about {} tokens: {}",
        context.artifacts.len(),
        context.total_tokens,
        path.display()
    );
    for warning in &context.metadata.warnings {
        text = format!("{text}\nWarning: {warning}");
    }
    Ok(text)
}

/// Reads the documents. Missing ones are skipped with a warning, except the first.
fn read(
    workdir: &Path,
    project: &JudgedProject,
    sources: &'static [ContextSource],
    metadata: &mut ContextMetadata,
) -> Result<Vec<SourceText>, String> {
    let mut texts = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        // Without the tasks of a plan, its text counts.
        let (name, kind) = match source.name {
            PLAN_JSON if plan_document(workdir) == Some(PLAN_MD) => (PLAN_MD, TextStructure::Markdown),
            name => (name, source.kind),
        };
        let text = match name {
            GIT_DIFF => project.patch(&mut metadata.warnings),
            name => untrusted::read_text(&workdir.join(name)).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "the file does not exist".to_owned(),
                _ => error.to_string(),
            }),
        };
        match text {
            Ok(text) => texts.push(SourceText { source, name, kind, text }),
            Err(reason) if index == 0 => return Err(format!("No context: {name}: {reason}")),
            Err(reason) => {
                metadata.warnings.push(format!("{name} is not in the context: {reason}"));
                metadata.skipped_artifacts.push(SkippedArtifact {
                    artifact: name,
                    status: "skipped",
                    reason,
                });
            }
        }
    }
    Ok(texts)
}

/// Shortens the documents until the artifacts have at most `max_tokens` tokens as they are stored. The shares are reduced
/// when encoding as JSON makes the texts longer than their shares.
fn within(
    category: Category,
    texts: &[SourceText],
    max_tokens: usize,
    metadata: ContextMetadata,
) -> JudgeContext {
    let raw: usize = texts.iter().map(|text| tokens(&text.text)).sum();
    let mut budget = max_tokens;
    let (artifacts, total_tokens) = loop {
        let artifacts: Vec<ContextArtifact> = texts.iter().map(|text| artifact(text, budget)).collect();
        let total = serde_json::to_string(&artifacts).map_or(0, |json| tokens(&json));
        if total <= max_tokens || budget == 0 {
            break (artifacts, total);
        }
        budget = (budget * max_tokens / total).min(budget - 1);
    };
    let mut metadata = metadata;
    for artifact in artifacts.iter().filter(|artifact| artifact.compacted_tokens < artifact.raw_tokens) {
        metadata.warnings.push(format!(
            "{} was shortened from about {} to {} tokens",
            artifact.artifact_name, artifact.raw_tokens, artifact.compacted_tokens
        ));
    }
    if budget < max_tokens / 2 {
        metadata
            .warnings
            .push(format!("all artifacts were reduced to {}% of their share", budget * 100 / max_tokens));
    }
    JudgeContext {
        artifact_type: category.name(),
        total_tokens,
        budget_ceiling_enforced: raw > max_tokens || budget < max_tokens,
        artifacts,
        metadata,
    }
}

fn artifact(text: &SourceText, budget: usize) -> ContextArtifact {
    let SourceText { source: ContextSource { percent, .. }, name, kind, text } = text;
    let CompressedText { text: content, is_truncated } = compress(*kind, name, text, budget * percent / 100);
    ContextArtifact {
        artifact_name: name,
        raw_tokens: tokens(text),
        compacted_tokens: tokens(&content),
        token_count_method: COUNTING,
        truncated: is_truncated,
        content,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn context(files: &[(&str, String)], category: Category) -> Result<(String, Value), String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let text = write(&ContextArgs { workdir: dir.path().to_owned(), category })?;
        let path = dir.path().join(file_name(category));
        Ok((text, serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()))
    }

    fn prose(count: usize) -> String {
        (0..count).map(|at| format!("- Requirement \"{at}\" of the list\n\n")).collect()
    }

    // PR-09
    #[test]
    fn context_of_large_documents_is_within_its_tokens() {
        let tasks: Vec<Value> = (0..2000).map(|at| json!({"id": at, "text": "x".repeat(100)})).collect();
        // As objects: arrays are shortened so much that the plan fits.
        let plan: serde_json::Map<String, Value> =
            tasks.into_iter().enumerate().map(|(at, task)| (format!("T-{at}"), task)).collect();
        let plan = Value::Object(plan).to_string();
        let (requirements, log) = (prose(2000), prose(1000));
        assert!(tokens(&plan) + tokens(&requirements) + tokens(&log) > 60_000);
        let files = [("plan.json", plan), ("prd.md", requirements), ("investigation-log.md", log)];
        let (text, context) = context(&files, Category::Plan).unwrap();
        let total = context["total_tokens"].as_u64().unwrap();
        assert!((20_000..=30_000).contains(&total), "{total}");
        assert!(tokens(&context["artifacts"].to_string()) <= 30_000);
        assert_eq!(context["budget_ceiling_enforced"], true);
        for artifact in context["artifacts"].as_array().unwrap() {
            let name = artifact["artifact_name"].as_str().unwrap();
            assert!(artifact["compacted_tokens"].as_u64() < artifact["raw_tokens"].as_u64(), "{name}");
            assert!(artifact["truncated"] == true, "{name}");
            assert!(artifact["content"].as_str().unwrap().ends_with(&format!(" tokens of {name} omitted]")));
            assert!(text.contains(&format!("\nWarning: {name} was shortened from about ")), "{text}");
        }
    }

    #[test]
    fn small_documents_are_unchanged_and_missing_ones_are_named() {
        let files = [("plan.json", "{ \"a\": 1 }".to_owned()), ("prd.md", "# Goals\n\nText".to_owned())];
        let (text, context) = context(&files, Category::Plan).unwrap();
        assert_eq!(context["artifacts"][0]["content"], "{ \"a\": 1 }");
        assert_eq!(context["artifacts"][1]["content"], "# Goals\n\nText");
        assert_eq!(
            (&context["budget_ceiling_enforced"], &context["artifact_type"]),
            (&json!(false), &json!("plan"))
        );
        let reason = "the file does not exist";
        let skipped = json!([{"artifact": "investigation-log.md", "status": "skipped", "reason": reason}]);
        assert_eq!(context["metadata"]["skipped_artifacts"], skipped);
        assert!(
            text.ends_with("\nWarning: investigation-log.md is not in the context: the file does not exist"),
            "{text}"
        );
    }

    #[test]
    fn text_of_a_plan_counts_without_its_tasks() {
        let files = [("plan.md", "# Plan".to_owned()), ("prd.md", "# Goals".to_owned())];
        let (_, text) = context(&files, Category::Plan).unwrap();
        assert_eq!(
            (&text["artifacts"][0]["artifact_name"], &text["artifacts"][0]["content"]),
            (&json!("plan.md"), &json!("# Plan"))
        );
        let both = [files.as_slice(), &[("plan.json", "{}".to_owned())]].concat();
        let (_, tasks) = context(&both, Category::Plan).unwrap();
        assert_eq!(tasks["artifacts"][0]["artifact_name"], "plan.json");
    }

    #[test]
    fn there_is_no_context_without_its_first_document() {
        let files = [("prd.md", "# Goals".to_owned())];
        let error = context(&files, Category::Plan).unwrap_err();
        assert_eq!(error, "No context: plan.json: the file does not exist");
        assert!(context(&files, Category::Prd).unwrap_err().contains("need no context"));
    }

    #[test]
    fn shares_of_an_object_are_all_tokens() {
        for sources in [&PLAN[..], &CODE[..]] {
            assert_eq!(sources.iter().map(|source| source.percent).sum::<usize>(), 100);
        }
    }
}
