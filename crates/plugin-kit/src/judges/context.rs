//! `loopgate judges context`: collects the documents that judges of a plan or of code read, within a number of tokens.
//! All judges of a run read the same text, and its size does not depend on the size of the change.

use std::io;
use std::path::Path;

use loopgate_api::names::{PLAN_JSON, PRD_MD};
use loopgate_home::untrusted;
use serde::Serialize;

use super::compression::{CompressedText, TextStructure, compress, tokens};
use super::{Category, ContextArgs};
use crate::config_env::ConfigEnv;
use crate::project_git::BlockingGit;
use crate::repositories::project_root;
use crate::variables::{REPO_MAP, START_SHA};

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

/// Writes the context and returns the line to print.
///
/// # Errors
/// Returns the reason for which there is no context: the first document, which the judges evaluate, is missing, or the
/// kind of object has no context.
pub fn write(args: &ContextArgs) -> Result<String, String> {
    let (workdir, category) = (args.workdir.as_path(), args.category);
    super::report::check_workdir(workdir)?;
    let sources: &'static [ContextSource] = match category {
        Category::Plan => &PLAN,
        Category::Code => &CODE,
        Category::Prd | Category::Feature => {
            return Err(format!("Judges of {} read {PRD_MD} and need no context", category.name()));
        }
    };
    let mut metadata = ContextMetadata::default();
    let current = std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?;
    let texts = read(workdir, &project_root(&current, workdir), sources, &mut metadata)?;
    let context = within(category, &texts, MAX_TOKENS, metadata);
    let path = workdir.join(format!("{}-context.json", category.name()));
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
    project: &Path,
    sources: &'static [ContextSource],
    metadata: &mut ContextMetadata,
) -> Result<Vec<SourceText>, String> {
    let mut texts = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        let text = match source.name {
            GIT_DIFF => git_diff(workdir, project, &mut metadata.warnings),
            name => untrusted::read_text(&workdir.join(name)).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "the file does not exist".to_owned(),
                _ => error.to_string(),
            }),
        };
        match text {
            Ok(text) => texts.push(SourceText { source, text }),
            Err(reason) if index == 0 => return Err(format!("No context: {}: {reason}", source.name)),
            Err(reason) => {
                metadata.warnings.push(format!("{} is not in the context: {reason}", source.name));
                metadata.skipped_artifacts.push(SkippedArtifact {
                    artifact: source.name,
                    status: "skipped",
                    reason,
                });
            }
        }
    }
    Ok(texts)
}

/// Returns the changes of the project since the start of the loop, with files that are not committed. Without a start,
/// those since the commit before the last one.
fn git_diff(workdir: &Path, project: &Path, warnings: &mut Vec<String>) -> Result<String, String> {
    let settings =
        ConfigEnv::load(workdir).map_err(|error| format!("the settings cannot be read: {error}"))?;
    let start = settings.get(START_SHA).unwrap_or("HEAD~1");
    // The settings are in the working tree: an option of git in them must not reach git.
    if start.starts_with('-') {
        return Err(format!("the start of the loop is not a commit: {start}"));
    }
    let git = BlockingGit::new()?;
    let changes = || git.patch_between(project, start, &git.snapshot(project)?);
    let changes =
        changes().ok_or_else(|| format!("git cannot compare {} with {start}", project.display()))?;
    if settings.get(START_SHA).is_none() {
        warnings.push(format!(
            "{GIT_DIFF} has the changes since {start}, because the start of the loop is not known"
        ));
    }
    if settings.get(REPO_MAP).is_some() {
        warnings.push(format!("{GIT_DIFF} has no changes of the other repositories of the loop"));
    }
    Ok(if changes.is_empty() { format!("There are no changes since {start}.") } else { changes })
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
    let SourceText { source: ContextSource { name, kind, percent }, text } = text;
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
    use loopgate_testkit::git::git;
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
        let path = dir.path().join(format!("{}-context.json", category.name()));
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
    fn there_is_no_context_without_its_first_document() {
        let files = [("prd.md", "# Goals".to_owned())];
        let error = context(&files, Category::Plan).unwrap_err();
        assert_eq!(error, "No context: plan.json: the file does not exist");
        assert!(context(&files, Category::Prd).unwrap_err().contains("need no context"));
    }

    #[test]
    fn diff_has_all_changes_since_the_start_of_the_loop() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path();
        let commit = |text: &str| {
            std::fs::write(project.join("a.txt"), text).unwrap();
            git(project, &["add", "-A"]).unwrap();
            git(project, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"])
                .unwrap();
            git(project, &["rev-parse", "HEAD"]).unwrap().trim().to_owned()
        };
        git(project, &["init", "--quiet"]).unwrap();
        let start = commit("one\n");
        let workdir = project.join(".loopgate/work");
        let set = |value: &str| {
            let mut settings = ConfigEnv::default();
            settings.set(START_SHA, value);
            settings.save(&workdir).unwrap();
        };
        set(&start);
        std::fs::write(project.join(".gitignore"), ".loopgate\n").unwrap();
        commit("two\n");
        commit("three\n");
        std::fs::write(project.join("new.txt"), "not committed\n").unwrap();
        let mut warnings = Vec::new();
        let diff = git_diff(&workdir, project, &mut warnings).unwrap();
        for line in ["\n-one", "\n+three", "\n+not committed"] {
            assert!(diff.contains(line), "{diff}");
        }
        assert!(warnings.is_empty(), "{warnings:?}");
        set("");
        let diff = git_diff(&workdir, project, &mut warnings).unwrap();
        assert!(diff.contains("\n-two") && diff.contains("\n+not committed"), "{diff}");
        assert!(
            warnings[0].contains("since HEAD~1, because the start of the loop is not known"),
            "{warnings:?}"
        );
        set("--output=x");
        assert!(
            git_diff(&workdir, project, &mut warnings).unwrap_err().contains("is not a commit: --output=x")
        );
        set("0000000000000000000000000000000000000000");
        assert!(git_diff(&workdir, project, &mut warnings).unwrap_err().contains("git cannot compare"));
    }

    #[test]
    fn shares_of_an_object_are_all_tokens() {
        for sources in [&PLAN[..], &CODE[..]] {
            assert_eq!(sources.iter().map(|source| source.percent).sum::<usize>(), 100);
        }
    }
}
