//! Writes the inputs of a loop into its work directory. Each file is written to a temporary name and renamed.
//!
//! A plan on disk with the same text as the document of the request is kept, because it records completed tasks: a second
//! loop in a worktree that answers comments of a review does not repeat them.

mod amendment;
mod code_context;
mod context;
mod judged;
pub(crate) mod learnings;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::{Inputs, Peers};
use loopgate_api::ids::slug;
use loopgate_api::launch::{Artifact, ArtifactType};
use loopgate_api::names::{
    EXECUTION_RESULT, IMPORTED_PLAN, PLAN_JSON, PLAN_MD, PRD_MD, REVIEW_ANSWERS, REVIEW_COMMENTS, STATE_DIR,
};
use loopgate_api::plan::{self, PlanTasks};
use loopgate_home::Directory;
use loopgate_home::untrusted::{self, make_private_directory, write_private};
use serde_json::{Map, Value};

pub(crate) use code_context::detect;

use crate::commands::bootstrap::{BootstrapTarget, MANIFEST};
use crate::commands::review::VERDICT;
use crate::messages;
use crate::request::{DetectedContext, LoopRequest};
use crate::workspace::MountedPeer;

// Text of a plan that came without tasks, for REQUEST_CHANGES.
const PLAN_SOURCE: &str = "plan-source.md";
/// Directory of context documents, relative to the current directory of the loop.
pub(crate) const CONTEXT_DIR: &str = ".loopgate/context";
// Directory of a working tree in which the assistant searches for agents.
const AGENTS: &str = ".claude/agents";
// The user's request.
const PROMPT_MD: &str = "prompt.md";
// What the worktree lacks.
const WORKTREE_MD: &str = "worktree.md";
// Feature under evaluation.
const FEATURE_MD: &str = "feature.md";

/// Origin of the plan of an EXECUTE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanSource {
    /// The request contained the plan with its tasks.
    RawArtifact,
    /// The plan on disk has the same text as the request, possibly with more completed tasks.
    LocalPlanJson,
    /// Only the Markdown text is available.
    ImportedPlan,
}

/// Files that were staged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StagedInputs {
    /// Markdown plan, passed as `LOOPGATE_PLAN_FILE`.
    pub plan_file: Option<PathBuf>,
    /// Path of the requirements, if any.
    pub prd: Option<PathBuf>,
    /// Origin of the plan, for commands with one.
    pub plan_source: Option<PlanSource>,
    /// Staged files to list in the prompt.
    pub inputs: Vec<PathBuf>,
    /// Repositories of a BOOTSTRAP.
    pub targets: Vec<BootstrapTarget>,
}

/// Directories that the inputs are staged in, and the state of the repositories.
#[derive(Debug, Clone)]
pub(crate) struct StagingDirs<'a> {
    /// Current directory of the loop.
    pub root: &'a Path,
    /// Directory for the files of the run.
    pub work_dir: &'a Path,
    pub peers: &'a [MountedPeer],
    /// State of the primary clone according to git, for EVALUATE_CODE.
    pub detected: Option<DetectedContext>,
    /// Repositories of a BOOTSTRAP.
    pub targets: Vec<BootstrapTarget>,
}

impl StagingDirs<'_> {
    fn context(&self) -> PathBuf {
        self.root.join(CONTEXT_DIR)
    }
}

/// Stages the inputs of a request. Performs blocking I/O.
///
/// # Errors
/// Fails on any I/O error, and when the name of a document would leave its directory.
pub(crate) fn stage(request: &LoopRequest, site: &StagingDirs<'_>) -> io::Result<StagedInputs> {
    let work_dir = site.work_dir;
    make_private_directory(work_dir)?;
    // Those of an earlier loop in the worktree do not concern this one.
    messages::clear(work_dir)?;
    let mut staged = match request.command.spec().inputs {
        Inputs::Requirements => stage_plan(request, work_dir)?,
        Inputs::Plan => stage_execute(request, work_dir)?,
        Inputs::Amendment => amendment::stage(request, work_dir)?,
        Inputs::Context => context::stage(request, site)?,
        Inputs::JudgeSubject(subject) => judged::stage(request, subject, site)?,
        Inputs::Review => stage_review(request, work_dir)?,
        Inputs::Repositories => stage_targets(&site.targets, work_dir)?,
    };
    let prd = work_dir.join(PRD_MD);
    staged.prd = untrusted::is_file(&prd).then_some(prd);
    if staged.inputs.is_empty() {
        let candidates =
            [PRD_MD, FEATURE_MD, PLAN_JSON, IMPORTED_PLAN, PLAN_SOURCE, PLAN_MD, PROMPT_MD, REVIEW_COMMENTS];
        let candidates = candidates.map(|name| work_dir.join(name));
        staged.inputs = candidates.into_iter().filter(|path| untrusted::is_file(path)).collect();
    }
    Ok(staged)
}

/// Stages what the worktrees of a loop lack, and removes the list of an earlier loop. Performs blocking I/O.
///
/// # Errors
/// Fails on any I/O error.
pub(crate) fn stage_gaps(gaps: &[String], work_dir: &Path, staged: &mut StagedInputs) -> io::Result<()> {
    let path = work_dir.join(WORKTREE_MD);
    if gaps.is_empty() {
        return remove_if_exists(&path);
    }
    let lines: String = gaps.iter().map(|gap| format!("- {gap}\n")).collect();
    let text = format!("# The worktree is incomplete\n\nBuilds and tests may fail because of it.\n\n{lines}");
    write_private(&path, text.as_bytes())?;
    staged.inputs.push(path);
    Ok(())
}

/// Creates the work directory of a peer repository, and removes the result of an earlier loop from it.
/// Performs blocking I/O.
///
/// # Errors
/// Fails on any I/O error.
pub(crate) fn prepare_peer(request: &LoopRequest, work_dir: &Path) -> io::Result<()> {
    make_private_directory(work_dir)?;
    if request.command.spec().peers == Peers::ReadWrite {
        remove_if_exists(&work_dir.join(EXECUTION_RESULT))?;
    }
    Ok(())
}

/// Stages the requirements. Reviews never modify the plan.
fn stage_review(request: &LoopRequest, work_dir: &Path) -> io::Result<StagedInputs> {
    remove_if_exists(&work_dir.join(VERDICT))?;
    stage_requirements(request, work_dir)?;
    stage_prompt(request, work_dir)?;
    Ok(StagedInputs::default())
}

fn stage_targets(targets: &[BootstrapTarget], work_dir: &Path) -> io::Result<StagedInputs> {
    write_private(&work_dir.join(MANIFEST), &serde_json::to_vec_pretty(targets)?)?;
    Ok(StagedInputs { targets: targets.to_vec(), ..StagedInputs::default() })
}

fn stage_requirements(request: &LoopRequest, work_dir: &Path) -> io::Result<()> {
    for artifact in
        request.artifacts.iter().filter(|artifact| artifact.kind != ArtifactType::ImplementationPlan)
    {
        write_private(&work_dir.join(PRD_MD), artifact.content.as_bytes())?;
    }
    Ok(())
}

/// Stages the prompt, and removes the prompt of an earlier loop.
fn stage_prompt(request: &LoopRequest, directory: &Path) -> io::Result<()> {
    let path = directory.join(PROMPT_MD);
    match &request.prompt {
        Some(prompt) => write_private(&path, prompt.as_bytes()),
        None => remove_if_exists(&path),
    }
}

fn stage_plan(request: &LoopRequest, work_dir: &Path) -> io::Result<StagedInputs> {
    let first = |kind| request.artifacts_of(kind).next().map(|artifact| artifact.content.clone());
    let mut prd = request
        .prompt
        .clone()
        .or_else(|| first(ArtifactType::Prd))
        .or_else(|| first(ArtifactType::Feature))
        .unwrap_or_default();
    if let Some(context) = &request.user_context {
        if !prd.is_empty() {
            prd.push_str("\n\n");
        }
        prd.push_str("---\n\n## User Context / Additional Constraints\n\n");
        prd.push_str(context);
        prd.push('\n');
    }
    if !prd.trim().is_empty() {
        write_private(&work_dir.join(PRD_MD), prd.as_bytes())?;
    }
    Ok(StagedInputs::default())
}

fn stage_execute(request: &LoopRequest, work_dir: &Path) -> io::Result<StagedInputs> {
    remove_if_exists(&work_dir.join(EXECUTION_RESULT))?;
    let mut staged = StagedInputs::default();
    for artifact in request.artifacts_of(ArtifactType::ImplementationPlan) {
        // A loop that answers comments, or delivers approved changes, does not execute the plan again.
        let continues = request.review_comments.is_some() || request.approved_commits.is_some();
        staged = stage_plan_document(artifact, work_dir, continues)?;
    }
    stage_requirements(request, work_dir)?;
    let has_task =
        [PRD_MD, PLAN_JSON, IMPORTED_PLAN].iter().any(|name| untrusted::is_file(&work_dir.join(name)));
    if let Some(prompt) = request.prompt.as_ref().filter(|_| !has_task) {
        // The prompt is the only description of the task. It never replaces a plan or requirements.
        write_private(&work_dir.join(PRD_MD), prompt.as_bytes())?;
    }
    stage_prompt(request, work_dir)?;
    stage_review_comments(request, work_dir)?;
    Ok(staged)
}

/// Stages the comments of a review, and removes the comments and answers of an earlier one.
fn stage_review_comments(request: &LoopRequest, work_dir: &Path) -> io::Result<()> {
    remove_if_exists(&work_dir.join(REVIEW_ANSWERS))?;
    let path = work_dir.join(REVIEW_COMMENTS);
    match &request.review_comments {
        Some(comments) => write_private(&path, &serde_json::to_vec_pretty(comments)?),
        None => remove_if_exists(&path),
    }
}

/// Stages a plan. `continues`: tasks that an earlier loop has completed stay completed.
fn stage_plan_document(artifact: &Artifact, work_dir: &Path, continues: bool) -> io::Result<StagedInputs> {
    let (plan, imported) = (work_dir.join(PLAN_JSON), work_dir.join(IMPORTED_PLAN));
    // A Markdown plan of an earlier loop must not be mistaken for the plan of this one.
    remove_if_exists(&imported)?;
    let same = |plan: &Map<String, Value>| content(plan) == Some(artifact.content.as_str());
    let local = untrusted::read_text(&plan).ok().and_then(|text| plan::parse(&text).ok());
    let local = local.as_ref().and_then(Value::as_object);
    let is_continued = continues && local.is_some_and(|local| is_in_progress(local, &artifact.content));
    if let Some(raw) = artifact.raw.as_ref().filter(|raw| same(raw) && !is_continued) {
        write_private(&plan, &serde_json::to_vec_pretty(raw)?)?;
        return Ok(StagedInputs { plan_source: Some(PlanSource::RawArtifact), ..StagedInputs::default() });
    }
    if is_continued || local.is_some_and(same) {
        return Ok(StagedInputs { plan_source: Some(PlanSource::LocalPlanJson), ..StagedInputs::default() });
    }
    // The plan on disk belongs to another version of the document.
    remove_if_exists(&plan)?;
    write_private(&imported, artifact.content.as_bytes())?;
    Ok(StagedInputs {
        plan_file: Some(imported),
        plan_source: Some(PlanSource::ImportedPlan),
        ..StagedInputs::default()
    })
}

fn content(plan: &Map<String, Value>) -> Option<&str> {
    plan.get("content")?.as_str()
}

/// Returns whether a plan on disk is the document, apart from the tasks that were completed since.
fn is_in_progress(local: &Map<String, Value>, document: &str) -> bool {
    let is_same_plan =
        content(local).is_some_and(|text| plan::without_ticks(text) == plan::without_ticks(document));
    is_same_plan && !PlanTasks::of(local).completed.is_empty()
}

/// Writes the agents and critic gates of a request into a worktree. Files that the repository tracks are not
/// overwritten. Performs blocking I/O.
///
/// # Errors
/// Fails on any I/O error.
pub fn materialize(
    request: &LoopRequest,
    repository: Option<&str>,
    worktree: &Path,
    tracked: &dyn Fn(&str) -> bool,
) -> io::Result<()> {
    let worktree_handle = Directory::of(worktree)?;
    for agent in request.agent_definitions() {
        let name = slug(&agent.slug);
        // A slug without letters or digits names no file.
        if name.trim_matches('-').is_empty() {
            continue;
        }
        let relative = format!("{AGENTS}/{name}.md");
        if tracked(&relative) {
            tracing::info!(agent = name, "keeping the repository's agent of the same name");
            continue;
        }
        let text = format!("{}\n", agent.prompt.trim_end_matches('\n'));
        let agents = worktree_handle.create_directory(Path::new(AGENTS))?;
        agents.replace_public(OsStr::new(&format!("{name}.md")), text.as_bytes())?;
    }
    let gates = request.repo_configs.iter().find(|config| Some(config.repo_full_name.as_str()) == repository);
    if let Some(gates) = gates {
        let path = worktree.join(STATE_DIR).join("settings").join("critic-gates.json");
        untrusted::write(&path, &serde_json::to_vec_pretty(&gates.critic_gates)?)?;
    }
    Ok(())
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match untrusted::remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct StagingFixture(tempfile::TempDir);

    impl StagingFixture {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn stage(&self, body: Value) -> StagedInputs {
            let mut request = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": "EXECUTE",
                "loopgateAuthToken": "t", "artifacts": [], "repo": {"fullName": "acme/api"}});
            for (name, value) in body.as_object().unwrap() {
                request[name] = value.clone();
            }
            let request = LoopRequest::parse(request.to_string().as_bytes()).unwrap();
            let root = self.0.path();
            stage(
                &request,
                &StagingDirs { root, work_dir: root, peers: &[], detected: None, targets: Vec::new() },
            )
            .unwrap()
        }

        fn read(&self, name: &str) -> Option<String> {
            std::fs::read_to_string(self.0.path().join(name)).ok()
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.0.path().join(name), text).unwrap();
        }
    }

    fn plan(content: &str, raw: Value) -> Value {
        json!({"artifacts": [{"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": content, "raw": raw}]})
    }

    // LR-21
    #[test]
    fn plan_with_tasks_replaces_another_plan() {
        let fixture = StagingFixture::new();
        fixture.write("plan.json", r#"{"content":"other"}"#);
        fixture.write("imported-plan.md", "old");
        fixture.write("execution-result.json", "{}");
        let staged = fixture.stage(plan("# P", json!({"content": "# P", "tasks": [1]})));
        assert_eq!(staged.plan_source, Some(PlanSource::RawArtifact));
        assert_eq!(staged.plan_file, None);
        assert!(fixture.read("plan.json").unwrap().contains("tasks"));
        assert_eq!((fixture.read("imported-plan.md"), fixture.read("execution-result.json")), (None, None));
    }

    // LR-22
    #[test]
    fn equal_plan_is_not_rewritten() {
        let fixture = StagingFixture::new();
        let text = r##"{ "content":"# P", "completedTasks":[{"id":"1"}], }"##;
        fixture.write("plan.json", text);
        let staged = fixture.stage(plan("# P", Value::Null));
        assert_eq!(staged.plan_source, Some(PlanSource::LocalPlanJson));
        assert_eq!(fixture.read("plan.json").as_deref(), Some(text));
    }

    #[test]
    fn completed_tasks_of_the_same_plan_are_kept() {
        let (open, ticked) = (
            "# P\n- [ ] **T-1.1**: a\n- [ ] **T-1.2**: b\n",
            "# P\n- [x] **T-1.1**: a\n- [ ] **T-1.2**: b\n",
        );
        let local = json!({"content": ticked, "pendingTasks": [{"id": "T-1.2"}], "completedTasks": [{"id": "T-1.1"}]});
        let raw = json!({"content": open, "pendingTasks": [{"id": "T-1.1"}, {"id": "T-1.2"}], "completedTasks": []});
        for raw in [raw, Value::Null] {
            let fixture = StagingFixture::new();
            fixture.write("plan.json", &local.to_string());
            let mut request = plan(open, raw);
            request["reviewComments"] = json!({"comments": []});
            let staged = fixture.stage(request);
            assert_eq!(staged.plan_source, Some(PlanSource::LocalPlanJson));
            assert_eq!(fixture.read("plan.json"), Some(local.to_string()));
        }
        // The plan is executed again.
        let fixture = StagingFixture::new();
        fixture.write("plan.json", &local.to_string());
        let staged = fixture.stage(plan(open, json!({"content": open, "pendingTasks": []})));
        assert_eq!(staged.plan_source, Some(PlanSource::RawArtifact));
        // The text of a task has changed.
        let fixture = StagingFixture::new();
        fixture.write("plan.json", &local.to_string());
        let changed = open.replace(": a", ": another");
        let mut request = plan(&changed, json!({"content": changed, "pendingTasks": []}));
        request["reviewComments"] = json!({"comments": []});
        let staged = fixture.stage(request);
        assert_eq!(staged.plan_source, Some(PlanSource::RawArtifact));
    }

    // LR-23
    #[test]
    fn changed_plan_is_staged_as_markdown() {
        let fixture = StagingFixture::new();
        fixture.write("plan.json", r#"{"content":"stale"}"#);
        let staged = fixture.stage(plan("# P", json!({"content": "changed"})));
        assert_eq!(staged.plan_file, Some(fixture.0.path().join("imported-plan.md")));
        assert_eq!(fixture.read("plan.json"), None);
        assert_eq!(fixture.read("imported-plan.md").as_deref(), Some("# P"));
    }

    #[test]
    fn review_comments_are_staged_and_those_of_an_earlier_review_removed() {
        let fixture = StagingFixture::new();
        fixture.write("review-answers.json", r#"{"answers":[]}"#);
        let comments = json!({"summary": "Almost done.", "comments": [{"number": 1, "repository": "acme/api",
            "path": "a.rs", "lines": {"side": "new", "from": 3, "to": 4}, "body": "Name the limit."}]});
        fixture.stage(json!({"prompt": "x", "reviewComments": comments}));
        let staged: Value = serde_json::from_str(&fixture.read("review-comments.json").unwrap()).unwrap();
        assert_eq!((staged, fixture.read("review-answers.json")), (comments, None));
        fixture.stage(json!({"prompt": "x"}));
        assert_eq!(fixture.read("review-comments.json"), None);
    }

    #[test]
    fn prompt_takes_precedence_over_documents_and_context_is_appended() {
        let fixture = StagingFixture::new();
        let staged = fixture
            .stage(json!({"command": "PLAN", "prompt": "Add a cart", "userContext": "No jQuery",
            "artifacts": [{"id": "1", "type": "PRD", "title": "t", "content": "doc"}]}));
        let prd = fixture.read("prd.md").unwrap();
        assert!(prd.starts_with("Add a cart\n\n---\n\n## User Context / Additional Constraints"), "{prd}");
        assert!(prd.contains("No jQuery") && staged.prd.is_some());
        let empty = StagingFixture::new();
        assert_eq!(empty.stage(json!({"command": "PLAN"})).prd, None);
        let feature = StagingFixture::new();
        feature.stage(json!({"command": "PLAN",
            "artifacts": [{"id": "1", "type": "FEATURE", "title": "t", "content": "f"},
                          {"id": "2", "type": "PRD", "title": "t", "content": "p"}]}));
        assert_eq!(feature.read("prd.md").as_deref(), Some("p"));
    }

    #[test]
    fn prompt_of_an_execution_becomes_its_requirements_only_when_none_exist() {
        let fixture = StagingFixture::new();
        fixture.stage(json!({"prompt": "Add a cart"}));
        assert_eq!(fixture.read("prd.md").as_deref(), Some("Add a cart"));
        fixture.stage(json!({"prompt": "Something else"}));
        assert_eq!(fixture.read("prd.md").as_deref(), Some("Add a cart"));
        let planned = StagingFixture::new();
        planned.write("plan.json", "{}");
        planned.stage(json!({"prompt": "Add a cart"}));
        assert_eq!(planned.read("prd.md"), None);
    }

    #[test]
    fn agents_never_replace_tracked_files() {
        let fixture = StagingFixture::new();
        let body = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": "PLAN",
            "loopgateAuthToken": "t", "artifacts": [], "repo": {"fullName": "acme/api"},
            "agents": [{"slug": "Mine", "name": "n", "prompt": "p"}, {"slug": "theirs", "name": "n", "prompt": "p"},
                       {"slug": "../..", "name": "n", "prompt": "p"}, {"slug": "x"}],
            "repoConfigs": [{"repoFullName": "acme/api", "criticGates": {"a": 1}}]});
        let request = LoopRequest::parse(body.to_string().as_bytes()).unwrap();
        let tracked = |path: &str| path.ends_with("theirs.md");
        materialize(&request, Some("acme/api"), fixture.0.path(), &tracked).unwrap();
        assert_eq!(fixture.read(".claude/agents/mine.md").as_deref(), Some("p\n"));
        assert_eq!(std::fs::read_dir(fixture.0.path().join(".claude/agents")).unwrap().count(), 1);
        assert!(fixture.read(".loopgate/settings/critic-gates.json").unwrap().contains("\"a\": 1"));
    }

    #[test]
    fn staging_does_not_follow_links() {
        for (link, shown) in [(".loopgate", "work"), (".loopgate/work", "")] {
            let dir = tempfile::tempdir().unwrap();
            let (root, outside) = (dir.path().join("tree"), dir.path().join("outside"));
            std::fs::create_dir_all(outside.join(shown)).unwrap();
            std::fs::write(outside.join(shown).join(EXECUTION_RESULT), "theirs").unwrap();
            let link = root.join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            let work_dir = root.join(".loopgate/work");
            let body = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": "EXECUTE",
                "loopgateAuthToken": "t", "prompt": "Add a cart", "repo": {"fullName": "acme/api"},
                "artifacts": []});
            let request = LoopRequest::parse(body.to_string().as_bytes()).unwrap();
            let site =
                StagingDirs { root: &root, work_dir: &work_dir, peers: &[], detected: None, targets: vec![] };
            assert!(stage(&request, &site).is_err() && prepare_peer(&request, &work_dir).is_err());
            assert!(crate::process::spawn::reset_output_files(&work_dir).is_err());
            assert_eq!(std::fs::read_dir(outside.join(shown)).unwrap().count(), 1);
        }
    }

    #[test]
    fn agents_and_gates_do_not_follow_links() {
        let body = json!({"loopId": "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718", "command": "PLAN",
            "loopgateAuthToken": "t", "artifacts": [], "repo": {"fullName": "acme/api"},
            "agents": [{"slug": "mine", "name": "n", "prompt": "p"}],
            "repoConfigs": [{"repoFullName": "acme/api", "criticGates": {"a": 1}}]});
        let request = LoopRequest::parse(body.to_string().as_bytes()).unwrap();
        for link in [".claude", ".claude/agents", ".loopgate", ".loopgate/settings"] {
            let dir = tempfile::tempdir().unwrap();
            let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
            std::fs::create_dir_all(&outside).unwrap();
            std::fs::create_dir_all(tree.join(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&outside, tree.join(link)).unwrap();
            assert!(materialize(&request, Some("acme/api"), &tree, &|_| false).is_err(), "{link}");
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{link}");
        }
    }
}
