//! `.loopgate/loopgate-loop.local.md`: the persisted state of a loop, from which it is resumed.
//!
//! Front matter with one `key: value` per line, then the prompt of each iteration. The reader tolerates
//! missing keys; every write replaces the file atomically.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::{LOOP_STATE, STATE_DIR};
use loopgate_api::usd::Usd;
use loopgate_home::untrusted;

use super::options::LoopOptions;
use crate::quoting::quote;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopState {
    /// Current or next iteration, starting at 1.
    pub iteration: u64,
    /// Iteration limit; 0 = no limit.
    pub max_iterations: u64,
    /// Spending limit; 0 = no limit.
    pub max_spend: Usd,
    /// Amount spent so far.
    pub spent: Usd,
    /// Length in bytes of the part of the stream file whose runs are included in `spent`.
    pub counted_output: u64,
    /// Text inside the promise tag.
    pub completion_promise: String,
    /// Absolute path of the work directory.
    pub workdir: PathBuf,
    /// Requirements file exactly as passed, or empty.
    pub prd_file: String,
    /// Id of the run; names the archived stream file.
    pub run_id: String,
    /// Commit checked out at the start of the loop, or empty.
    pub start_sha: String,
    /// Whether learnings are captured.
    pub self_learning: bool,
    /// Name of the prompt, or empty.
    pub command: String,
    /// Start time in UTC, with whole seconds.
    pub started_at: String,
    /// Session that the iteration resumes after a rate limit, or empty.
    pub session: String,
    /// Prompt of each iteration; starts with the slash command.
    pub prompt: String,
}

/// Returns the path of a project's state file.
#[must_use]
pub fn path(project_root: &Path) -> PathBuf {
    project_root.join(STATE_DIR).join(LOOP_STATE)
}

/// Reason for which a loop cannot be resumed.
#[derive(Debug, PartialEq, Eq)]
pub enum StateFileError {
    /// The project has no state file.
    Absent,
    /// The state file is invalid; contains the message to print.
    Invalid(String),
}

impl LoopState {
    /// Reads the state file of a project.
    ///
    /// # Errors
    /// Fails when the file is missing or invalid; see [`StateFileError`].
    pub fn load(project_root: &Path) -> Result<Self, StateFileError> {
        let text = untrusted::read_text(&path(project_root)).map_err(|_| StateFileError::Absent)?;
        Self::parse(&text).map_err(StateFileError::Invalid)
    }

    /// Parses the content of a state file.
    ///
    /// # Errors
    /// Returns the message to print when a number is invalid or the prompt is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (front, prompt) = split(text);
        let field = |key: &str| field(front, key);
        let number = |key: &str| -> Result<u64, String> {
            let value = field(key);
            value.parse().map_err(|_| format!("Error: Invalid {key} in state file: {value}"))
        };
        let amount = |key: &str| -> Result<Usd, String> {
            let value = Some(field(key)).filter(|value| !value.is_empty());
            value.map_or(Ok(Usd::default()), |value| {
                value.parse().map_err(|_| format!("Error: Invalid {key} in state file: {value}"))
            })
        };
        // Files written before a key existed lack it; such a loop still resumes with the default.
        let state = Self {
            iteration: number("iteration")?,
            max_iterations: number("max_iterations")?,
            max_spend: amount("max_spend_usd")?,
            spent: amount("spent_usd")?,
            counted_output: field("counted_output").parse().unwrap_or_default(),
            completion_promise: Some(field("completion_promise"))
                .filter(|promise| !promise.is_empty())
                .unwrap_or_else(|| "COMPLETE".to_owned()),
            workdir: PathBuf::from(field("workdir")),
            prd_file: field("prd_file"),
            run_id: field("run_id"),
            start_sha: field("start_sha"),
            self_learning: field("self_learning") == "true",
            command: field("command"),
            started_at: field("started_at"),
            session: field("session"),
            prompt: prompt.trim().to_owned(),
        };
        if state.prompt.is_empty() {
            return Err("Error: No prompt found in state file".to_owned());
        }
        Ok(state)
    }

    /// Formats the content of the state file.
    #[must_use]
    pub fn render(&self) -> String {
        format!(
            "---\nactive: true\niteration: {}\nmax_iterations: {}\nmax_spend_usd: {}\nspent_usd: {}\n\
             counted_output: {}\ncompletion_promise: \"{}\"\nworkdir: \"{}\"\n\
             prd_file: \"{}\"\nrun_id: \"{}\"\nstart_sha: \"{}\"\nself_learning: \"{}\"\ncommand: \"{}\"\n\
             started_at: \"{}\"\nsession: \"{}\"\n---\n{}\n",
            self.iteration,
            self.max_iterations,
            self.max_spend,
            self.spent,
            self.counted_output,
            self.completion_promise,
            self.workdir.display(),
            self.prd_file,
            self.run_id,
            self.start_sha,
            self.self_learning,
            self.command,
            self.started_at,
            self.session,
            self.prompt,
        )
    }

    /// Replaces the state file of a project.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn save(&self, project_root: &Path) -> io::Result<()> {
        untrusted::write(&path(project_root), self.render().as_bytes())
    }
}

/// Builds the slash command of a new loop. The assistant passes the arguments to a shell, so they are quoted
/// for it.
#[must_use]
pub fn prompt_line(workdir: &Path, options: &LoopOptions) -> String {
    let mut line = format!("/code:code {}", quote(&workdir.to_string_lossy()));
    let mut add = |flag: &str, value: &str| {
        let _ = write!(line, " {flag} {}", quote(value));
    };
    if let Some(name) = &options.prompt {
        add("--prompt", name);
    }
    if let Some(prd) = &options.prd {
        add("--prd", prd);
    }
    for dir in &options.add_dirs {
        add("--add-dir", dir);
    }
    line
}

/// Splits a state file into front matter and prompt.
fn split(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return ("", text) };
    rest.split_once("\n---\n").unwrap_or((rest, ""))
}

/// Returns the value of the first line that starts with `<key>:`, without surrounding double quotes.
fn field(front: &str, key: &str) -> String {
    let value =
        front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).unwrap_or_default().trim();
    // Values are not escaped; arguments with line breaks are rejected when they are parsed.
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::options::{ParsedArguments, parse};
    use super::*;

    fn state() -> LoopState {
        LoopState {
            iteration: 2,
            max_iterations: 150,
            max_spend: "5".parse().unwrap(),
            spent: "1.25".parse().unwrap(),
            counted_output: 4096,
            completion_promise: "COMPLETE".into(),
            workdir: "/a/My Work".into(),
            prd_file: String::new(),
            run_id: "20260102-030405-1a2b3c4d".into(),
            start_sha: String::new(),
            self_learning: false,
            command: String::new(),
            started_at: "2026-01-02T03:04:05Z".into(),
            session: String::new(),
            prompt: "/code:code \"/a/My Work\"".into(),
        }
    }

    #[test]
    fn state_round_trips_through_its_file() {
        assert_eq!(LoopState::parse(&state().render()), Ok(state()));
    }

    // PL-39
    #[test]
    fn state_without_command_is_resumed() {
        let text = state().render().replace("command: \"\"\n", "");
        assert_eq!(LoopState::parse(&text), Ok(state()));
    }

    #[test]
    fn state_without_amounts_has_no_spending_limit() {
        let keys = ["max_spend_usd", "spent_usd", "counted_output"];
        let text = state().render();
        let lines = text.lines().filter(|line| !keys.iter().any(|key| line.starts_with(key)));
        let parsed = LoopState::parse(&lines.collect::<Vec<_>>().join("\n")).unwrap();
        let none = Usd::default();
        assert_eq!(parsed, LoopState { max_spend: none, spent: none, counted_output: 0, ..state() });
        assert_eq!(parsed.remaining_budget(), None);
    }

    #[test]
    fn invalid_value_is_reported_with_its_key() {
        let broken =
            |from: &str, to: &str| LoopState::parse(&state().render().replace(from, to)).unwrap_err();
        assert_eq!(broken("\niteration: 2", "\niteration: x"), "Error: Invalid iteration in state file: x");
        assert_eq!(
            broken("max_iterations: 150", "max_iterations: -1"),
            "Error: Invalid max_iterations in state file: -1"
        );
        assert_eq!(
            broken("spent_usd: 1", "spent_usd: x"),
            "Error: Invalid spent_usd in state file: x.250000"
        );
        assert_eq!(broken("/code:code \"/a/My Work\"", ""), "Error: No prompt found in state file");
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let words = ["w", "--prd", "/a/$x \"y\".md"].map(str::to_owned);
        let Ok(ParsedArguments::Run(options)) = parse(words) else { panic!("not a run") };
        assert_eq!(
            prompt_line(Path::new("/a/My Work"), &options),
            r#"/code:code "/a/My Work" --prd "/a/\$x \"y\".md""#
        );
    }
}
