//! `loopgate plan amend …`: the conversation about changes of a plan, and their application.
//!
//! The session is stored in `amend-session.json` until its changes are applied. Then it becomes an entry in
//! the plan's `amendments`, and the critics' reviews of the previous plan are deleted.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use loopgate_api::names::STATE_JSON;
use loopgate_home::{expand_home, untrusted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::{self, PlanLock};
use super::paths::plan_path;
use super::sync;
use crate::clock::now;
use crate::command_line::{CommandLine, END_OF_OPTIONS};
use crate::variables as var;

/// Format version of the session file.
const VERSION: &str = "1.0";
/// Name of a plan of older loops that exists as Markdown only.
const MARKDOWN_PLAN: &str = "implementation-plan.md";

/// File name of the session in a work directory.
const SESSION: &str = "amend-session.json";
/// Work directory unless an argument or the environment sets one.
const DEFAULT_WORKDIR: &str = ".loopgate/work";

/// Record the conversation about a plan, and apply the agreed changes
#[derive(Debug, clap::Subcommand)]
pub enum AmendCommand {
    /// Print the session as JSON
    Load {
        #[command(flatten)]
        session: SessionFile,
        /// Work directory of the plan
        #[arg(long)]
        run_dir: Option<PathBuf>,
    },
    /// Replace the session with the given JSON
    Save {
        #[command(flatten)]
        session: SessionFile,
        /// The whole session as JSON
        #[arg(long)]
        state_json: String,
    },
    /// Append a message to the conversation
    AddMessage {
        #[command(flatten)]
        session: SessionFile,
        /// Author of the message
        #[arg(long, value_enum)]
        role: MessageAuthor,
        /// Text of the message
        #[arg(long)]
        content: String,
    },
    /// Record a change that is agreed but not applied yet
    AddChange {
        #[command(flatten)]
        session: SessionFile,
        /// Description of the change
        #[arg(long)]
        description: String,
        /// Id of the affected task
        #[arg(long)]
        task_id: Option<String>,
    },
    /// Discard the recorded changes
    ClearChanges {
        #[command(flatten)]
        session: SessionFile,
    },
    /// Record the changes in the plan and end the session
    Apply {
        #[command(flatten)]
        session: SessionFile,
        /// Work directory of the plan
        #[arg(long)]
        run_dir: PathBuf,
        /// Format of the plan
        #[arg(long, value_enum, default_value = "md")]
        plan_format: PlanFormat,
    },
    /// Print the conversation as plain text
    Context {
        #[command(flatten)]
        session: SessionFile,
    },
}

/// Argument that selects the session file.
#[derive(Debug, clap::Args)]
pub struct SessionFile {
    /// Session file [default: amend-session.json of the work directory]
    #[arg(long)]
    state_file: Option<PathBuf>,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum MessageAuthor {
    /// User of the loop
    User,
    /// Model of the assistant
    Assistant,
}

/// Format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Markdown plan in implementation-plan.md
    Md,
    /// Structured plan in plan.json
    Json,
}

/// Content of the session file; its members are sorted by name.
#[derive(Debug, Serialize, Deserialize)]
struct AmendSession {
    conversation: Vec<Message>,
    created_at: String,
    pending_changes: Vec<Change>,
    run_dir: String,
    status: SessionStatus,
    updated_at: String,
    version: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SessionStatus {
    Discussing,
    Applied,
}

#[derive(Debug, Serialize, Deserialize)]
struct Message {
    content: String,
    role: MessageAuthor,
    timestamp: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Change {
    description: String,
    discussed_at: String,
    task_id: Option<String>,
}

impl SessionFile {
    fn path(&self) -> PathBuf {
        self.state_file.clone().unwrap_or_else(|| {
            let workdir = var::text(var::WORKDIR).unwrap_or_else(|| DEFAULT_WORKDIR.to_owned());
            Path::new(&workdir).join(SESSION)
        })
    }

    /// Loads the session; a missing file yields a new one.
    fn load(&self, run_dir: Option<&Path>) -> Result<AmendSession, String> {
        let path = self.path();
        if untrusted::kind(&path).is_some() {
            return untrusted::read_json(&path)
                .ok_or_else(|| format!("Error: {} is malformed", path.display()));
        }
        let run_dir = run_dir.or_else(|| path.parent()).unwrap_or(Path::new("."));
        Ok(AmendSession {
            conversation: Vec::new(),
            created_at: now(),
            pending_changes: Vec::new(),
            run_dir: run_dir.display().to_string(),
            status: SessionStatus::Discussing,
            updated_at: now(),
            version: VERSION.to_owned(),
        })
    }

    /// Modifies the session under the lock, saves it and returns its text.
    fn change(&self, change: impl FnOnce(&mut AmendSession)) -> Result<String, String> {
        let path = self.path();
        // The lock of the session's directory serializes concurrent messages; for the default file it is that
        // of the plan.
        let _lock = PlanLock::take(path.parent().unwrap_or(Path::new(".")))?;
        let mut session = self.load(None)?;
        change(&mut session);
        session.updated_at = now();
        self.save(&session)?;
        text(&session)
    }

    fn save(&self, session: &AmendSession) -> Result<(), String> {
        untrusted::write(&self.path(), format!("{}\n", text(session)?).as_bytes())
            .map_err(|error| format!("Error: cannot write the session: {error}"))
    }
}

fn text(session: &AmendSession) -> Result<String, String> {
    serde_json::to_string_pretty(session).map_err(|error| format!("Error: {error}"))
}

impl AmendCommand {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns the line to print.
    pub fn apply(self) -> Result<String, String> {
        match self {
            Self::Load { session, run_dir } => text(&session.load(run_dir.as_deref())?),
            Self::Save { session, state_json } => {
                let new: AmendSession = serde_json::from_str(&state_json)
                    .map_err(|error| format!("Error: invalid session JSON: {error}"))?;
                session.save(&new)?;
                Ok(json!({"saved": true}).to_string())
            }
            Self::AddMessage { session, role, content } => session
                .change(|session| session.conversation.push(Message { content, role, timestamp: now() })),
            Self::AddChange { session, description, task_id } => session.change(|session| {
                session.pending_changes.push(Change { description, discussed_at: now(), task_id });
            }),
            Self::ClearChanges { session } => session.change(|session| session.pending_changes.clear()),
            Self::Apply { session, run_dir, plan_format } => apply(&session, &run_dir, plan_format),
            Self::Context { session } => Ok(context(&session.load(None)?)),
        }
    }
}

/// Appends the message of `/code:amend-plan` to the conversation, and returns the text for the command's page. The
/// arguments are `--workdir`, by default that of the project's open loop, `--state-file`, and the message, with or without
/// `--message` before it.
///
/// # Errors
/// Returns the line to print.
pub fn prepare(arguments: &str, project: &Path) -> Result<String, String> {
    let mut line = CommandLine::typed(arguments);
    let (mut workdir, mut state_file) = (None, None);
    loop {
        // Options count only before the message, which may contain their names.
        if line.take_if("--workdir") {
            workdir = Some(line.take_path(project).ok_or("Error: --workdir requires a directory path")?);
        } else if line.take_if("--state-file") {
            state_file = Some(line.take_path(project).ok_or("Error: --state-file requires a file path")?);
        } else {
            break;
        }
    }
    let _ = line.take_if("--message") || line.take_if(END_OF_OPTIONS);
    let path = workdir.or_else(|| var::text(var::WORKDIR));
    let workdir = match path {
        Some(path) => project.join(expand_home(&path)),
        None => crate::setup::open_loop(project).unwrap_or_else(|| project.join(DEFAULT_WORKDIR)),
    };
    if !workdir.is_dir() {
        return Err(format!("Error: workdir does not exist: {}", workdir.display()));
    }
    if untrusted::kind(&plan_path(&workdir)).is_none() {
        return Err(format!("Error: there is no plan.json in {}", workdir.display()));
    }
    let file = state_file.map(|path| project.join(expand_home(&path)));
    let session = SessionFile { state_file: Some(file.unwrap_or_else(|| workdir.join(SESSION))) };
    let content = line.rest().to_owned();
    if !content.is_empty() {
        session.change(|session| {
            session.conversation.push(Message { content, role: MessageAuthor::User, timestamp: now() });
        })?;
    }
    Ok(format!(
        "WORKDIR: {}\nSTATE_FILE: {}\n\nConversation so far:\n{}",
        workdir.display(),
        session.path().display(),
        context(&session.load(Some(&workdir))?)
    ))
}

fn context(session: &AmendSession) -> String {
    let mut text = String::new();
    for message in &session.conversation {
        let speaker = if message.role == MessageAuthor::User { "User" } else { "Assistant" };
        let _ = write!(text, "{speaker}: {}\n\n", message.content);
    }
    text.trim_end().to_owned()
}

fn apply(file: &SessionFile, run_dir: &Path, format: PlanFormat) -> Result<String, String> {
    let _lock = PlanLock::take(run_dir)?;
    let session = file.load(Some(run_dir))?;
    let changes: Vec<&str> =
        session.pending_changes.iter().map(|change| change.description.as_str()).collect();
    let amendment = json!({"timestamp": now(), "changes": changes, "conversation": session.conversation});
    let (plan_file, name) = match format {
        PlanFormat::Json => (plan_path(run_dir), "plan.json"),
        PlanFormat::Md => (run_dir.join(MARKDOWN_PLAN), MARKDOWN_PLAN),
    };
    // Not an error for the prompt: it reads the JSON object and reports it to the user.
    if untrusted::kind(&plan_file).is_none() {
        return Ok(json!({"error": format!("No {name} found to amend"), "applied": false}).to_string());
    }
    match format {
        PlanFormat::Json => {
            let mut plan = sync::current(run_dir)?;
            append(plan.entry("amendments").or_insert_with(|| json!([])), amendment);
            document::write(run_dir, &plan)?;
        }
        PlanFormat::Md => {
            let path = run_dir.join(STATE_JSON);
            let mut state: Value =
                untrusted::read_json(&path).filter(Value::is_object).unwrap_or_else(|| json!({}));
            append(&mut state["amended"], amendment);
            untrusted::write(&path, state.to_string().as_bytes())
                .map_err(|error| format!("Error: cannot write the state: {error}"))?;
        }
    }
    remove_reviews(run_dir);
    // Removed last: if the plan could not be written, the session must not be lost.
    let deleted = untrusted::remove(&file.path()).is_ok();
    Ok(json!({"applied": true, "plan_file": plan_file, "state_file_deleted": deleted}).to_string())
}

fn append(list: &mut Value, entry: Value) {
    match list.as_array_mut() {
        Some(list) => list.push(entry),
        None => *list = json!([entry]),
    }
}

/// Deletes the reviews of the critics, which refer to the plan before the change.
fn remove_reviews(run_dir: &Path) {
    let reviews = run_dir.join("reviews");
    for entry in untrusted::entries(&reviews) {
        if entry.name.to_string_lossy().ends_with(".review.json") {
            // Best-effort: a review that remains is at worst merged into the plan again.
            let _ = untrusted::remove(&reviews.join(entry.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::from_markdown;
    use super::super::structure::tests::CONTENT;
    use super::*;

    fn session(dir: &Path) -> SessionFile {
        SessionFile { state_file: Some(dir.join("amend-session.json")) }
    }

    fn add_discussion(dir: &Path) {
        for (role, content) in
            [(MessageAuthor::User, "Drop the page"), (MessageAuthor::Assistant, "I can do that")]
        {
            AmendCommand::AddMessage { session: session(dir), role, content: content.into() }
                .apply()
                .unwrap();
        }
        let change = AmendCommand::AddChange {
            session: session(dir),
            description: "Drop it".into(),
            task_id: Some("T-1.1".into()),
        };
        change.apply().unwrap();
    }

    fn apply_to(dir: &Path, plan_format: PlanFormat) -> Value {
        let apply = AmendCommand::Apply { session: session(dir), run_dir: dir.to_owned(), plan_format };
        serde_json::from_str(&apply.apply().unwrap()).unwrap()
    }

    // PL-32
    #[test]
    fn applied_changes_become_an_amendment_of_the_plan() {
        let dir = tempfile::tempdir().unwrap();
        add_discussion(dir.path());
        let refused = apply_to(dir.path(), PlanFormat::Json);
        assert_eq!(refused, json!({"error": "No plan.json found to amend", "applied": false}));
        assert!(session(dir.path()).path().exists(), "the session is kept");

        let plan = from_markdown(CONTENT, serde_json::Map::new());
        std::fs::write(plan_path(dir.path()), Value::Object(plan).to_string()).unwrap();
        std::fs::create_dir(dir.path().join("reviews")).unwrap();
        std::fs::write(dir.path().join("reviews/tests.review.json"), "{}").unwrap();
        let applied = apply_to(dir.path(), PlanFormat::Json);
        assert_eq!((&applied["applied"], &applied["state_file_deleted"]), (&json!(true), &json!(true)));
        let plan = document::read(&plan_path(dir.path())).unwrap();
        assert_eq!(plan["amendments"].as_array().unwrap().len(), 1);
        assert_eq!(plan["amendments"][0]["changes"], json!(["Drop it"]));
        assert_eq!(plan["amendments"][0]["conversation"][1]["role"], "assistant");
        assert!(!dir.path().join("reviews/tests.review.json").exists());
        assert!(!session(dir.path()).path().exists());
    }

    #[test]
    fn message_of_the_command_is_added_to_the_conversation() {
        let project = tempfile::tempdir().unwrap();
        let missing = prepare("drop it", project.path()).unwrap_err();
        assert!(missing.starts_with("Error: workdir does not exist: "), "{missing}");
        let work = project.path().join("my work");
        std::fs::create_dir(&work).unwrap();
        let no_plan = prepare("--workdir my work --message x", project.path()).unwrap_err();
        assert!(no_plan.starts_with("Error: there is no plan.json in "), "{no_plan}");
        std::fs::write(plan_path(&work), "{}").unwrap();
        let text = prepare("--workdir my work --message drop $(id); it's \"large\"", project.path()).unwrap();
        assert!(text.starts_with(&format!("WORKDIR: {}\nSTATE_FILE: ", work.display())), "{text}");
        assert!(text.ends_with("Conversation so far:\nUser: drop $(id); it's \"large\""), "{text}");
        for (line, message) in [
            ("--workdir my work rename --message to --text", "rename --message to --text"),
            ("--workdir my work -- --workdir is ignored", "--workdir is ignored"),
        ] {
            let text = prepare(line, project.path()).unwrap();
            assert!(text.ends_with(&format!("User: {message}")), "{line}: {text}");
        }
    }

    #[test]
    fn amendment_of_a_markdown_plan_is_stored_in_the_state() {
        let dir = tempfile::tempdir().unwrap();
        add_discussion(dir.path());
        std::fs::write(dir.path().join(MARKDOWN_PLAN), "# Plan").unwrap();
        std::fs::write(dir.path().join(STATE_JSON), r#"{"phase":"x"}"#).unwrap();
        assert_eq!(apply_to(dir.path(), PlanFormat::Md)["applied"], true);
        let state: Value = untrusted::read_json(&dir.path().join(STATE_JSON)).unwrap();
        assert_eq!((&state["phase"], &state["amended"][0]["changes"]), (&json!("x"), &json!(["Drop it"])));
    }

    #[test]
    fn session_is_printed_as_json_and_as_text() {
        let dir = tempfile::tempdir().unwrap();
        add_discussion(dir.path());
        let loaded = AmendCommand::Load { session: session(dir.path()), run_dir: None }.apply().unwrap();
        let names: Vec<usize> =
            ["conversation", "created_at", "pending_changes", "run_dir", "status", "updated_at", "version"]
                .iter()
                .map(|name| loaded.find(&format!("  \"{name}\"")).unwrap())
                .collect();
        assert!(names.is_sorted());
        let context = AmendCommand::Context { session: session(dir.path()) }.apply().unwrap();
        assert_eq!(context, "User: Drop the page\n\nAssistant: I can do that");
        let cleared = AmendCommand::ClearChanges { session: session(dir.path()) }.apply().unwrap();
        assert!(cleared.contains("\"pending_changes\": []"));
        let saved = AmendCommand::Save { session: session(dir.path()), state_json: cleared }.apply().unwrap();
        assert_eq!(saved, r#"{"saved":true}"#);
        let broken = AmendCommand::Save { session: session(dir.path()), state_json: "{".into() };
        assert!(broken.apply().is_err());
    }
}
