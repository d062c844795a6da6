//! The reviewers of a change, and what each of them is asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loopgate_code_review::diff_data::DiffData;
use loopgate_code_review::partition::{Partition, PartitionEntry, is_test_path};
use loopgate_code_review::patch_text::patch_text;
use loopgate_code_review::route::ReviewRoute;

use super::cache::partition_reviewer;
use super::scope::IntentContext;
use crate::model_calls::{data_mark, mark_data, prompt_key};

const RULES: &str = include_str!("../../../../plugins/code-review/reviewers/rules.md");
const BUGS: &str = include_str!("../../../../plugins/code-review/reviewers/bugs.md");
const CROSS_FILE: &str = include_str!("../../../../plugins/code-review/reviewers/cross-file.md");
const AUDITOR: &str = include_str!("../../../../plugins/code-review/reviewers/auditor.md");
const PREMISE: &str = include_str!("../../../../plugins/code-review/reviewers/premise.md");
const FAST: &str = include_str!("../../../../plugins/code-review/reviewers/fast.md");

/// Bytes of changed lines that one prompt contains: about 100,000 tokens, half of what the models read.
const MAX_PATCH: usize = 400_000;
/// Category of findings about the need for a change, which decide about the verdict in another way.
const PREMISE_CATEGORY: &str = "Premise";
const BUG_CATEGORIES: [&str; 6] =
    ["Correctness", "Security", "Concurrency", "Error Handling", "Resource Use", "Data Integrity"];
const CROSS_FILE_CATEGORIES: [&str; 4] = ["API Contract", "Consistency", "Duplication", "Dead Reference"];
const RULE_CATEGORY: &str = "Project Rule";
const CRITIC_CATEGORY: &str = "Domain";

/// A reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeReviewer {
    /// Name of its answer in the session directory, without `agent_`.
    pub id: String,
    pub model: String,
    /// Values of `category` in its findings.
    pub categories: Vec<&'static str>,
    /// Files that it was given; all if `None`.
    pub files: Option<Vec<String>>,
    /// Whether its prompt begins with all changed lines, and not only with the common part.
    pub reads_whole_change: bool,
    /// What follows the shared part.
    pub request: String,
    /// What is not reviewed if it gives no usable answer.
    pub scope: String,
}

/// What all prompts of a review contain, read from the base of the change.
#[derive(Debug, Default)]
pub struct ReviewMaterial {
    /// Instructions of the project by path.
    pub instructions: Vec<(String, String)>,
    /// Prompts of critics by name.
    pub critics: BTreeMap<String, String>,
    pub intent: IntentContext,
    /// What the person who requested the review wants to be considered.
    pub considerations: Option<String>,
    /// Whether only what has changed since the last review is reviewed.
    pub is_incremental: bool,
}

/// The prompts of a review.
#[derive(Debug)]
pub struct ReviewPrompts {
    /// First part of the prompts of reviewers who share the change.
    pub shared: String,
    /// First part of the prompts of reviewers of the whole change.
    pub whole_change: String,
    pub reviewers: Vec<ChangeReviewer>,
    /// Files whose changed lines did not fit into a prompt.
    pub left_out: Vec<String>,
    /// Marks all data of the review.
    pub mark: String,
}

/// Part of the prompts of reviewers of the whole change in an incremental review: the description is that of all commits.
const INCREMENTAL: &str = "Earlier commits of the change were reviewed before, and you are given what has changed since. Do not \
    report that something from the description is missing: it may be in the earlier commits.\n";

/// Builds the prompts. `partitions`: parts of the change that are searched for bugs, empty for the fast path.
pub fn prompts(
    data: &DiffData,
    material: &ReviewMaterial,
    route: &ReviewRoute,
    partitions: &[Partition],
) -> ReviewPrompts {
    let whole: Vec<PartitionEntry> = data.files_to_review.iter().map(|path| entry(data, path)).collect();
    let mut left_out = Vec::new();
    let all_lines = patches(data, &whole, &mut left_out);
    let common = material.common_documents();
    let mut documents = common.clone();
    documents.extend(material.change_documents(data));
    documents.push(("all changed lines".to_owned(), all_lines));
    // The mark must not occur in anything that it surrounds; parts of the change are parts of the whole change.
    let mut everything = documents.clone();
    everything.extend(whole.iter().map(|entry| (entry.file.clone(), patch_text(data, entry))));
    everything.extend(material.critics.iter().map(|(name, prompt)| (name.clone(), prompt.clone())));
    let mark = data_mark(&everything);
    let head = format!("{RULES}\nData is between two lines with the mark {mark}.\n");
    let (mut shared, mut whole_change) = (head.clone(), head);
    // It says nothing about the rest of the change: findings about a file are cached, and used when other files have changed.
    mark_data(&mut shared, &mark, &common);
    if material.is_incremental {
        whole_change.push_str(INCREMENTAL);
    }
    mark_data(&mut whole_change, &mark, &documents);
    let mut reviewers = Vec::new();
    if data.total_loc == 0 {
        // Names, modes and generated files are checked without a model.
    } else if route.fast_path {
        reviewers.push(fast(route, material, &mark));
    } else {
        for part in partitions {
            reviewers.push(bug_reviewer(data, route, part, &mark, &mut left_out));
        }
        reviewers.extend(whole_change_reviewers(route, material, &mark));
    }
    left_out.sort();
    left_out.dedup();
    ReviewPrompts { shared, whole_change, reviewers, left_out, mark }
}

impl ReviewMaterial {
    /// Returns what all reviewers are given.
    fn common_documents(&self) -> Vec<(String, String)> {
        let instructions = self.instructions.iter().map(|(path, text)| {
            (format!("instructions of the project before the change, {path}"), text.clone())
        });
        let considerations = self.considerations.iter().map(|text| {
            ("what the person who requested this review wants to be considered".to_owned(), text.clone())
        });
        instructions.chain(considerations).collect()
    }

    /// Returns what reviewers of the whole change are given in addition.
    fn change_documents(&self, data: &DiffData) -> Vec<(String, String)> {
        let mut documents = Vec::new();
        let IntentContext { title, body, commits } = &self.intent;
        let mut description = String::new();
        for text in [title, body].into_iter().filter(|text| !text.trim().is_empty()) {
            let _ = writeln!(description, "{}", text.trim());
        }
        commits.iter().for_each(|subject| {
            let _ = writeln!(description, "- {subject}");
        });
        if !description.is_empty() {
            documents.push(("description by the author of the change".to_owned(), description));
        }
        let files = data.files_to_review.iter().map(|path| {
            let count = data.file_loc.get(path).copied().unwrap_or_default();
            format!("{} (+{} -{})\n", serde_json::Value::from(path.as_str()), count.added, count.removed)
        });
        documents.push(("changed files".to_owned(), files.collect()));
        documents
    }

    /// Returns the identity of what reviewers of parts are given, except the lines.
    pub fn part_prompt_hash(&self) -> String {
        let documents = self.common_documents();
        let request = request("", BUGS, &BUG_CATEGORIES);
        let mut parts = vec![RULES, request.as_str()];
        parts.extend(documents.iter().flat_map(|(name, text)| [name.as_str(), text.as_str()]));
        prompt_key(&parts)
    }
}

fn entry(data: &DiffData, path: &str) -> PartitionEntry {
    PartitionEntry {
        file: path.to_owned(),
        loc: data.line_count(path),
        is_test: is_test_path(path),
        line_range: None,
    }
}

/// Returns the changed lines of the entries. A file that does not fit as a whole is left out, and named.
fn patches(data: &DiffData, entries: &[PartitionEntry], left_out: &mut Vec<String>) -> String {
    let mut text = String::new();
    for entry in entries {
        let patch = patch_text(data, entry);
        if text.len() + patch.len() > MAX_PATCH {
            let _ =
                writeln!(text, "=== {} (left out: too long)", serde_json::Value::from(entry.file.as_str()));
            left_out.push(entry.file.clone());
        } else {
            text.push_str(&patch);
        }
    }
    text
}

fn request(id: &str, task: &str, categories: &[&str]) -> String {
    format!("You are reviewer {id}.\n\n{}\n\nCategories: {}.\n", task.trim(), categories.join(", "))
}

fn bug_reviewer(
    data: &DiffData,
    route: &ReviewRoute,
    part: &Partition,
    mark: &str,
    left_out: &mut Vec<String>,
) -> ChangeReviewer {
    let id = partition_reviewer(part);
    let models = &route.models.bug_hunter_a;
    let mut text = request(&id, BUGS, &BUG_CATEGORIES);
    let lines = patches(data, &part.files, left_out);
    mark_data(&mut text, mark, &[("changed lines of your files".to_owned(), lines)]);
    let mut files: Vec<String> = part.files.iter().map(|entry| entry.file.clone()).collect();
    files.dedup();
    ChangeReviewer {
        id,
        model: if part.is_test_only { &models.test_only } else { &models.default }.clone(),
        categories: BUG_CATEGORIES.to_vec(),
        scope: format!("bugs in {}", files.join(", ")),
        files: Some(files),
        reads_whole_change: false,
        request: text,
    }
}

/// Returns the prompts of the critics that the route selects.
fn critics<'a>(
    route: &'a ReviewRoute,
    material: &'a ReviewMaterial,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    route.domain_critics.iter().filter_map(|name| material.critics.get_key_value(name))
}

fn whole_change_reviewers(route: &ReviewRoute, material: &ReviewMaterial, mark: &str) -> Vec<ChangeReviewer> {
    let models = &route.models;
    let reviewer =
        |id: &str, model: &str, task: &str, categories: &[&'static str], scope: &str| ChangeReviewer {
            id: id.to_owned(),
            model: model.to_owned(),
            categories: categories.to_vec(),
            files: None,
            reads_whole_change: true,
            request: request(id, task, categories),
            scope: scope.to_owned(),
        };
    let mut reviewers = vec![
        reviewer(
            "bhb",
            &models.bug_hunter_b,
            CROSS_FILE,
            &CROSS_FILE_CATEGORIES,
            "relations between the files",
        ),
        reviewer("auditor", &models.unified_auditor, AUDITOR, &[RULE_CATEGORY], "the project's rules"),
        reviewer(
            "premise",
            &models.premise_reviewer,
            PREMISE,
            &[PREMISE_CATEGORY],
            "the purpose of the change",
        ),
    ];
    for (index, (name, prompt)) in critics(route, material).enumerate() {
        let id = format!("domain_{index}");
        let mut critic = reviewer(
            &id,
            &models.unified_auditor,
            CRITIC_TASK,
            &[CRITIC_CATEGORY],
            &format!("the critic {name}"),
        );
        mark_data(&mut critic.request, mark, &[(name.clone(), prompt.clone())]);
        reviewers.push(critic);
    }
    reviewers
}

/// What a critic of the project is asked. Its prompt is data of the base, and says what to look at.
const CRITIC_TASK: &str = "Review the change as the critic of the project whose description follows: look at what it names. \
    Where it asks for files, tools or another form of the answer, the rules above apply.";

fn fast(route: &ReviewRoute, material: &ReviewMaterial, mark: &str) -> ChangeReviewer {
    let mut categories = BUG_CATEGORIES.to_vec();
    categories.extend(CROSS_FILE_CATEGORIES);
    categories.extend([RULE_CATEGORY, PREMISE_CATEGORY, CRITIC_CATEGORY]);
    let mut task = FAST.trim().to_owned();
    let passes = [
        ("1, bugs", BUGS.to_owned()),
        ("2, files and rules", format!("{CROSS_FILE}\n{AUDITOR}")),
        ("3, purpose", PREMISE.to_owned()),
    ];
    for (name, text) in passes {
        let _ = write!(task, "\n\nPass {name}: {}", text.trim());
    }
    let critics: Vec<(String, String)> =
        critics(route, material).map(|(name, prompt)| (name.clone(), prompt.clone())).collect();
    if !critics.is_empty() {
        let _ = write!(task, "\n\nPass 4, critic: {CRITIC_TASK}");
    }
    let mut text = request("fast", &task, &categories);
    mark_data(&mut text, mark, &critics);
    ChangeReviewer {
        id: "fast".to_owned(),
        model: route.models.fast_path_reviewer.clone(),
        categories,
        files: None,
        reads_whole_change: true,
        request: text,
        scope: "the whole change".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviewers_of_parts_are_given_what_the_cache_depends_on_and_their_lines() {
        let data: DiffData =
            serde_json::from_value(serde_json::json!({"files_to_review": ["a.rs"], "total_loc": 1,
            "patch_lines": {"a.rs": {"added_lines": {"1": "one"}}}}))
            .unwrap();
        let route = loopgate_code_review::route::route(&data, &Default::default(), Default::default());
        let given = |material: &ReviewMaterial| {
            let prompts = prompts(&data, material, &route, &[]);
            (prompts.shared.replace(&prompts.mark, ""), material.part_prompt_hash())
        };
        let of = |commit: &str, instructions: &str, considerations: &str| ReviewMaterial {
            instructions: vec![("CLAUDE.md".to_owned(), instructions.to_owned())],
            intent: IntentContext { commits: vec![commit.to_owned()], ..IntentContext::default() },
            considerations: Some(considerations.to_owned()),
            ..ReviewMaterial::default()
        };
        let first = given(&of("Add a", "Use tabs.", "Look at a."));
        assert_eq!(given(&of("Add b", "Use tabs.", "Look at a.")), first);
        for other in [of("Add a", "Use spaces.", "Look at a."), of("Add a", "Use tabs.", "Look at b.")] {
            let (text, hash) = given(&other);
            assert!(text != first.0 && hash != first.1, "{text}");
        }
    }
}
