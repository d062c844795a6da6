//! `judge-input.json`: what a run of the judges evaluates, and which files they may read. The file is written by a
//! prompt, so it is checked before a judge starts: a judge with a wrong file evaluates something else and does not
//! notice.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use loopgate_api::names::{PLAN_JSON, PLAN_MD, PRD_MD};
use loopgate_home::untrusted::{self, MAX_DOCUMENT};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Category, CheckInputArgs};

/// Name of the file in a work directory.
pub const JUDGE_INPUT: &str = "judge-input.json";

/// Documents that judges of plans and code read in the prepared context. They are accepted in the fallback mode only.
const CONTEXT_SOURCES: [&str; 3] = [PLAN_JSON, PLAN_MD, PRD_MD];

/// A valid `judge-input.json`.
#[derive(Debug)]
pub struct JudgeInput {
    /// What the judges are to evaluate.
    pub task: String,
    /// The primary artifact, the supporting ones in priority order, and those of the fallback mode.
    pub artifacts: Vec<InputArtifact>,
    /// Ids of the artifacts that count when artifacts contradict each other.
    pub source_of_truth: Vec<String>,
    /// Why judges read other documents than the context; empty if they read it.
    pub fallback_reason: String,
}

/// A file that judges read.
#[derive(Debug)]
pub struct InputArtifact {
    pub id: String,
    /// Absolute, or relative to the work directory.
    pub path: String,
    pub is_required: bool,
}

/// The members of `fallback_mode`.
#[derive(Debug, Default)]
struct FallbackMode {
    is_active: bool,
    reason: String,
    /// Ids of the artifacts in the list, also of those that the list itself defines.
    ids: Vec<String>,
    artifacts: Vec<InputArtifact>,
}

/// Checks the file and returns the line to print.
///
/// # Errors
/// Returns the faults, for standard error.
pub fn check(args: &CheckInputArgs) -> Result<String, String> {
    let input = JudgeInput::load(&args.workdir, args.category)?;
    let path = args.workdir.join(JUDGE_INPUT);
    Ok(format!("Valid judge input with {} artifacts: {}", input.artifacts.len(), path.display()))
}

impl JudgeInput {
    /// Reads and checks the file. `category`: kind of the object that the judges are to evaluate; `None` accepts any.
    ///
    /// # Errors
    /// Returns all faults in one text, with one line for each.
    pub fn load(workdir: &Path, category: Option<Category>) -> Result<Self, String> {
        let path = workdir.join(JUDGE_INPUT);
        let text = untrusted::read_text(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("Judge input does not exist: {}", path.display()),
            _ => format!("Cannot read {}: {error}", path.display()),
        })?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("Invalid JSON: {error}"))?;
        let mut faults = InputFaults::default();
        let input = faults.input(&value, workdir, category);
        match input {
            Some(input) if faults.0.is_empty() => Ok(input),
            _ => Err(format!("Validation errors in {}:\n- {}", path.display(), faults.0.join("\n- "))),
        }
    }

    /// Returns the paths of the files that judges read, in priority order.
    pub fn paths(&self, workdir: &Path) -> Vec<PathBuf> {
        self.artifacts.iter().map(|artifact| workdir.join(&artifact.path)).collect()
    }
}

/// Collects the faults while the document is read: a prompt that has to correct the file needs all of them.
#[derive(Debug, Default)]
struct InputFaults(Vec<String>);

impl InputFaults {
    fn add(&mut self, fault: impl Into<String>) {
        self.0.push(fault.into());
    }

    fn input(&mut self, value: &Value, workdir: &Path, category: Option<Category>) -> Option<JudgeInput> {
        const MEMBERS: [&str; 7] = [
            "evaluation_type",
            "task",
            "primary_artifact",
            "supporting_artifacts",
            "source_of_truth",
            "fallback_mode",
            "metadata",
        ];
        let input = self.object(value, "the document", &MEMBERS, Some(&[]))?;
        let evaluation_type: Option<Category> = self.member(input, "", "evaluation_type");
        if let (Some(category), Some(found)) = (category, evaluation_type)
            && category != found
        {
            self.add(format!(
                "evaluation_type is {}, but the judges of {} are to run",
                found.name(),
                category.name()
            ));
        }
        let task = self.text(input, "", "task");
        let primary =
            input.get("primary_artifact").and_then(|value| self.artifact(value, "primary_artifact"));
        let supporting = input.get("supporting_artifacts").and_then(|list| {
            let list = self.list(list, "supporting_artifacts")?;
            let artifacts = list.iter().enumerate();
            Some(
                artifacts
                    .filter_map(|(index, value)| {
                        self.artifact(value, &format!("supporting_artifacts[{index}]"))
                    })
                    .collect::<Vec<_>>(),
            )
        });
        let fallback = input.get("fallback_mode").and_then(|value| self.fallback_mode(value));
        let evidence: Option<Vec<String>> = self.member(input, "", "source_of_truth");
        if let Some(metadata) = input.get("metadata") {
            self.metadata(metadata);
        }
        let is_complete = self.0.is_empty();
        let has_fallback = fallback.is_some();
        let fallback = fallback.unwrap_or_default();
        let artifacts: Vec<InputArtifact> =
            primary.into_iter().chain(supporting.unwrap_or_default()).chain(fallback.artifacts).collect();
        self.unique_ids(&artifacts);
        self.files(&artifacts, workdir);
        let evidence = evidence.unwrap_or_default();
        // With a malformed artifact, an id that names it would be a second fault with the same cause.
        if is_complete {
            self.ids(&artifacts, "source_of_truth", &evidence);
            self.ids(&artifacts, "fallback_mode.fallback_artifacts", &fallback.ids);
        }
        // Requirements and features have no prepared context: `prd.md` is what their judges evaluate.
        if has_fallback && matches!(evaluation_type?, Category::Plan | Category::Code) {
            self.context_sources(&artifacts, fallback.is_active, &fallback.ids);
        }
        let fallback_reason = if fallback.is_active { fallback.reason } else { String::new() };
        Some(JudgeInput { task: task?, artifacts, source_of_truth: evidence, fallback_reason })
    }

    fn artifact(&mut self, value: &Value, at: &str) -> Option<InputArtifact> {
        let artifact = self.object(value, at, &["id", "path", "type", "required"], Some(&["description"]))?;
        let id = self.text(artifact, at, "id");
        let path = self.text(artifact, at, "path");
        self.text(artifact, at, "type");
        let is_required = self.member(artifact, at, "required");
        if artifact.contains_key("description") {
            self.member::<String>(artifact, at, "description");
        }
        Some(InputArtifact { id: id?, path: path?, is_required: is_required? })
    }

    fn fallback_mode(&mut self, value: &Value) -> Option<FallbackMode> {
        const AT: &str = "fallback_mode";
        let fallback = self.object(value, AT, &["active", "reason", "fallback_artifacts"], Some(&[]))?;
        let is_active = self.member(fallback, AT, "active");
        let reason = self.member(fallback, AT, "reason");
        let at = "fallback_mode.fallback_artifacts";
        let list = fallback.get("fallback_artifacts").and_then(|list| self.list(list, at))?;
        let (mut ids, mut artifacts) = (Vec::new(), Vec::new());
        for (index, value) in list.iter().enumerate() {
            if let Some(id) = value.as_str() {
                ids.push(id.to_owned());
            } else if let Some(artifact) = self.artifact(value, &format!("{at}[{index}]")) {
                ids.push(artifact.id.clone());
                artifacts.push(artifact);
            }
        }
        Some(FallbackMode { is_active: is_active?, reason: reason?, ids, artifacts })
    }

    fn metadata(&mut self, value: &Value) {
        let Some(metadata) = self.object(value, "metadata", &["run_id"], None) else { return };
        self.text(metadata, "metadata", "run_id");
        if metadata.contains_key("generated_at") {
            let time = self.member::<String>(metadata, "metadata", "generated_at");
            if time.is_some_and(|time| time.parse::<Timestamp>().is_err()) {
                self.add("metadata.generated_at is not a date-time such as 2026-01-02T03:04:05Z");
            }
        }
    }

    /// Reports missing and unknown members. `optional`: `None` accepts further members.
    fn object<'a>(
        &mut self,
        value: &'a Value,
        at: &str,
        required: &[&str],
        optional: Option<&[&str]>,
    ) -> Option<&'a Map<String, Value>> {
        let Some(object) = value.as_object() else {
            self.add(format!("{at} is not an object"));
            return None;
        };
        for name in required.iter().filter(|name| !object.contains_key(**name)) {
            self.add(format!("{at} has no member {name}"));
        }
        if let Some(optional) = optional {
            let is_known = |name: &str| required.contains(&name) || optional.contains(&name);
            for name in object.keys().filter(|name| !is_known(name)) {
                self.add(format!("{at} has an unknown member {name}"));
            }
        }
        Some(object)
    }

    fn list<'a>(&mut self, value: &'a Value, at: &str) -> Option<&'a Vec<Value>> {
        let list = value.as_array();
        if list.is_none() {
            self.add(format!("{at} is not a list"));
        }
        list
    }

    /// Reads a member. A missing one was reported by [`Self::object`].
    fn member<T: DeserializeOwned>(
        &mut self,
        object: &Map<String, Value>,
        at: &str,
        name: &str,
    ) -> Option<T> {
        match T::deserialize(object.get(name)?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(format!("{}: {error}", member_path(at, name)));
                None
            }
        }
    }

    fn text(&mut self, object: &Map<String, Value>, at: &str, name: &str) -> Option<String> {
        let text: String = self.member(object, at, name)?;
        if text.trim().is_empty() {
            self.add(format!("{} is empty", member_path(at, name)));
        }
        Some(text)
    }

    fn ids(&mut self, artifacts: &[InputArtifact], at: &str, ids: &[String]) {
        for id in ids.iter().filter(|id| !artifacts.iter().any(|artifact| artifact.id == **id)) {
            self.add(format!("{at} names an unknown artifact {id}"));
        }
    }

    fn unique_ids(&mut self, artifacts: &[InputArtifact]) {
        let mut ids = BTreeSet::new();
        for artifact in artifacts.iter().filter(|artifact| !ids.insert(&artifact.id)) {
            self.add(format!("The id {} belongs to several artifacts", artifact.id));
        }
    }

    /// A judge that reads the whole plan instead of the context may exceed its budget and evaluates other text than
    /// the others.
    fn context_sources(&mut self, artifacts: &[InputArtifact], is_active: bool, ids: &[String]) {
        let is_source = |artifact: &&InputArtifact| {
            let name = Path::new(&artifact.path).file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| CONTEXT_SOURCES.contains(&name))
        };
        for artifact in artifacts.iter().filter(is_source) {
            if !is_active {
                self.add(format!(
                    "Artifact {} is {}, which is accepted only if fallback_mode.active is true",
                    artifact.id, artifact.path
                ));
            } else if !ids.contains(&artifact.id) {
                self.add(format!(
                    "Artifact {} is {}, which fallback_mode.fallback_artifacts does not list",
                    artifact.id, artifact.path
                ));
            }
        }
    }

    fn files(&mut self, artifacts: &[InputArtifact], workdir: &Path) {
        for InputArtifact { id, path, is_required } in artifacts {
            if Path::new(path).components().any(|part| part == Component::ParentDir) {
                self.add(format!("The path of artifact {id} contains `..`: {path}"));
            } else if *is_required {
                let file = workdir.join(path);
                if let Err(error) = untrusted::read(&file, MAX_DOCUMENT) {
                    self.add(format!("Cannot read the required artifact {id}: {}: {error}", file.display()));
                }
            }
        }
    }
}

fn member_path(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn example() -> Value {
        json!({
            "evaluation_type": "code",
            "task": "Assess the change against the plan",
            "primary_artifact":
                {"id": "code_context", "path": "code-context.json", "type": "json", "required": true},
            "supporting_artifacts": [{"id": "log", "path": "log.md", "type": "markdown", "required": false}],
            "source_of_truth": ["code_context"],
            "fallback_mode": {"active": false, "reason": "", "fallback_artifacts": []},
            "metadata": {"run_id": "20260102-030405-0a0b0c0d", "other": 1}
        })
    }

    fn load(input: &str, category: Option<Category>) -> Result<JudgeInput, String> {
        let dir = tempfile::tempdir().unwrap();
        for name in ["code-context.json", "plan.json", "prd.md"] {
            std::fs::write(dir.path().join(name), "{}").unwrap();
        }
        std::fs::write(dir.path().join(JUDGE_INPUT), input).unwrap();
        JudgeInput::load(dir.path(), category)
    }

    fn faults(change: impl FnOnce(&mut Value)) -> String {
        let mut input = example();
        change(&mut input);
        load(&input.to_string(), None).unwrap_err()
    }

    // PR-06
    #[test]
    fn input_with_missing_or_unknown_members_is_invalid() {
        assert!(load(&example().to_string(), Some(Category::Code)).is_ok());
        let missing = faults(|input| drop(input.as_object_mut().unwrap().remove("fallback_mode")));
        assert!(missing.ends_with(":\n- the document has no member fallback_mode"), "{missing}");
        let unknown = faults(|input| input["notes"] = json!("x"));
        assert!(unknown.ends_with(":\n- the document has an unknown member notes"), "{unknown}");
        for at in ["/primary_artifact", "/supporting_artifacts/0", "/fallback_mode"] {
            let unknown = faults(|input| input.pointer_mut(at).unwrap()["more"] = json!(1));
            assert!(unknown.contains("has an unknown member more"), "{at}: {unknown}");
        }
        assert!(load("{", None).unwrap_err().starts_with("Invalid JSON: "));
        let missing = JudgeInput::load(Path::new("/nonexistent"), None).unwrap_err();
        assert_eq!(missing, "Judge input does not exist: /nonexistent/judge-input.json");
    }

    #[test]
    fn each_fault_has_its_line() {
        let text = faults(|input| {
            input["task"] = json!(" ");
            input["evaluation_type"] = json!("poem");
            input["primary_artifact"]["required"] = json!("yes");
            input["supporting_artifacts"][0]["path"] = json!(7);
            let more = json!({"id": "more", "path": "missing.md", "type": "markdown", "required": true});
            input["supporting_artifacts"].as_array_mut().unwrap().push(more);
            input["metadata"] = json!({"generated_at": "yesterday"});
        });
        for fault in [
            "Cannot read the required artifact more",
            "task is empty",
            "evaluation_type: unknown variant `poem`",
            "primary_artifact.required: ",
            "supporting_artifacts[0].path: ",
            "metadata has no member run_id",
            "metadata.generated_at is not a date-time",
        ] {
            assert!(text.contains(&format!("\n- {fault}")), "{fault}: {text}");
        }
        assert_eq!(text.lines().count(), 8, "{text}");
    }

    #[test]
    fn artifacts_must_be_known_readable_and_unique() {
        for (at, to, fault) in [
            (
                "/primary_artifact/path",
                json!("other.json"),
                "Cannot read the required artifact code_context: ",
            ),
            ("/primary_artifact/path", json!("."), "Cannot read the required artifact code_context: "),
            ("/primary_artifact/path", json!("a/../x"), "The path of artifact code_context contains `..`: "),
            ("/supporting_artifacts/0/id", json!("code_context"), "The id code_context belongs to several"),
            ("/source_of_truth/0", json!("plan"), "source_of_truth names an unknown artifact plan"),
            (
                "/fallback_mode/fallback_artifacts",
                json!(["plan"]),
                "fallback_mode.fallback_artifacts names an unknown artifact plan",
            ),
        ] {
            let text = faults(|input| *input.pointer_mut(at).unwrap() = to);
            assert!(text.contains(&format!("\n- {fault}")), "{fault}: {text}");
            assert_eq!(text.lines().count(), 2, "{text}");
        }
        let other = load(&example().to_string(), Some(Category::Plan)).unwrap_err();
        assert!(other.contains("evaluation_type is code, but the judges of plan are to run"), "{other}");
    }

    #[cfg(unix)]
    #[test]
    fn required_artifact_must_not_be_a_link_or_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(JUDGE_INPUT), example().to_string()).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join("code-context.json")).unwrap();
        assert!(
            JudgeInput::load(dir.path(), None).unwrap_err().contains("Cannot read the required artifact")
        );
    }

    #[test]
    fn documents_of_the_context_need_the_fallback_mode() {
        let source = |active: bool, list: Value| {
            move |input: &mut Value| {
                input["primary_artifact"]["path"] = json!("plan.json");
                input["fallback_mode"] = json!({"active": active, "reason": "", "fallback_artifacts": list});
            }
        };
        let refused = faults(source(false, json!(["code_context"])));
        assert!(refused.contains("accepted only if fallback_mode.active is true"), "{refused}");
        let refused = faults(source(true, json!([])));
        assert!(refused.contains("fallback_mode.fallback_artifacts does not list"), "{refused}");
        let mut input = example();
        source(true, json!(["code_context"]))(&mut input);
        assert!(load(&input.to_string(), None).is_ok());
        // A further document, defined in the list itself.
        let document = json!({"id": "prd", "path": "prd.md", "type": "markdown", "required": true});
        input["fallback_mode"]["fallback_artifacts"] = json!(["code_context", document]);
        assert_eq!(load(&input.to_string(), None).unwrap().artifacts.len(), 3);
        let mut requirements = example();
        requirements["evaluation_type"] = json!("prd");
        requirements["primary_artifact"]["path"] = json!("prd.md");
        assert!(load(&requirements.to_string(), None).is_ok());
    }
}
