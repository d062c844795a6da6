//! The debate: the assistant writes a plan, the user may read it, the reviewer reviews it, the assistant
//! revises it.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use loopgate_tools::process::{Command, Limits, ProcessStatus};
use loopgate_tools::programs::find_on_path;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::INTERRUPTED;
use super::options::{DebateOptions, ReviewOptions};
use super::reviewer_step::{self, PROGRAM as REVIEWER, ReviewVerdict};
use super::state::{DebateState, Phase, sidecar};
use crate::console::{print_error, print_line};
use crate::loop_run::{plugin_dirs, stop};
use crate::variables as var;

/// Time limit of one turn of the assistant.
const TURN_LIMIT: Duration = Duration::from_hours(2);
/// Upper bound of the stored standard error of a turn, in bytes.
const STDERR_CAP: usize = 64 * 1024;
/// Tools that the assistant may use without permission while planning.
const TOOLS: &str = "Read,Write,Edit,Bash(ls:*),Bash(git log:*),Agent(code:plan-agent)";
/// Substrings of the error message of an assistant that no longer has its session.
const SESSION_ERRORS: [&str; 4] = ["session", "not found", "invalid", "resume"];

/// Runs a debate to its end, or resumes an interrupted one.
///
/// # Errors
/// Returns the line to print.
pub async fn run(options: DebateOptions) -> Result<ExitCode, String> {
    let assistant = var::text(var::ASSISTANT_BIN).unwrap_or_else(|| "claude".to_owned());
    // Checked at the start: a missing reviewer would otherwise show only after the plan is written.
    for program in [assistant.as_str(), REVIEWER] {
        if !is_available(program) {
            return Err(format!("Error: {program} is required but not found"));
        }
    }
    let stop = CancellationToken::new();
    stop::on_signals(stop.clone()).map_err(|error| format!("Error: cannot start: {error}"))?;
    let plugins = plugin_dirs().map_err(|error| format!("Error: cannot unpack the plugins: {error}"))?;
    let mut debate = Debate::open(options, assistant, plugins, stop);
    match debate.finish().await {
        Err(_) if debate.stop.is_cancelled() => {
            let plan = debate.options.plan_file.display();
            print_error(format!(
                "The debate was interrupted. The current plan is {plan}; run the same command to resume."
            ));
            Ok(ExitCode::from(INTERRUPTED))
        }
        other => other.map(|()| ExitCode::SUCCESS),
    }
}

fn is_available(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    if program.contains('/') { Path::new(program).is_file() } else { find_on_path(&path, program).is_some() }
}

struct Debate {
    options: DebateOptions,
    assistant: String,
    /// Directories of the plugins with the agent that writes the plan.
    plugins: Vec<PathBuf>,
    stop: CancellationToken,
    state: DebateState,
    /// Whether the plan exists from an earlier run.
    resumed: bool,
}

impl Debate {
    fn open(
        options: DebateOptions,
        assistant: String,
        plugins: Vec<PathBuf>,
        stop: CancellationToken,
    ) -> Self {
        let saved = std::fs::read_to_string(sidecar(&options.plan_file, ".state")).ok();
        let saved = saved.and_then(|text| DebateState::parse(&text)).filter(|_| options.plan_file.is_file());
        let resumed = saved.is_some();
        let fresh = || DebateState {
            session: Uuid::new_v4().to_string(),
            reviewer_session: None,
            round: 1,
            phase: Phase::UserReview,
            log_id: None,
        };
        Self { state: saved.unwrap_or_else(fresh), options, assistant, plugins, stop, resumed }
    }

    async fn finish(&mut self) -> Result<(), String> {
        if self.resumed {
            print_line(format!("The debate resumes in round {}", self.state.round));
        } else {
            self.write_plan().await?;
        }
        // Entering the next phase saves the state, so that an interrupted debate does not repeat this one.
        if self.state.phase == Phase::UserReview {
            self.user_review().await?;
            self.enter(Phase::ReviewerReview)?;
        }
        let approved = self.debate().await?;
        // Best-effort: a leftover state file only makes the next debate on this plan resume.
        for ending in [".state", ".feedback"] {
            let _ = std::fs::remove_file(sidecar(&self.options.plan_file, ending));
        }
        let plan = self.options.plan_file.display();
        print_line(if approved {
            format!("The reviewer approves the plan in round {}: {plan}", self.state.round)
        } else {
            format!(
                "The reviewer has not approved the plan within {} rounds: {plan}",
                self.options.max_rounds
            )
        });
        Ok(())
    }

    async fn write_plan(&mut self) -> Result<(), String> {
        print_line("The assistant writes the plan");
        let session: [OsString; 2] = ["--session-id".into(), self.state.session.clone().into()];
        self.assistant_turn(&session, &creation(&self.options)).await.map_err(|failure| failure.message)?;
        if !self.options.plan_file.is_file() {
            return Err(format!(
                "Error: the assistant wrote no plan to {}",
                self.options.plan_file.display()
            ));
        }
        self.enter(Phase::UserReview)
    }

    /// Lets the user talk with the assistant until they accept the plan. Skipped without a terminal.
    async fn user_review(&self) -> Result<(), String> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(());
        }
        loop {
            let program = self.assistant.clone();
            let mut args: Vec<OsString> = vec!["-r".into(), self.state.session.clone().into()];
            args.extend(self.plugin_args());
            // The session takes over the terminal and blocks until the user leaves it.
            let result = tokio::task::spawn_blocking(move || open_session(&program, &args)).await;
            result
                .map_err(io::Error::other)
                .flatten()
                .map_err(|error| format!("Error: the assistant cannot be run: {error}"))?;
            print!("Is the plan ready for the reviewer? [Y/n] ");
            let _ = io::stdout().flush();
            let mut answer = String::new();
            io::stdin().read_line(&mut answer).map_err(|error| format!("Error: {error}"))?;
            if !matches!(answer.trim().to_lowercase().as_str(), "n" | "no") {
                return Ok(());
            }
        }
    }

    /// Alternates review and revision up to the limit. Returns whether the reviewer approved.
    async fn debate(&mut self) -> Result<bool, String> {
        while self.state.round <= self.options.max_rounds {
            if self.state.phase == Phase::ReviewerReview {
                match self.review().await? {
                    ReviewVerdict::Approved => return Ok(true),
                    ReviewVerdict::Failed(reason) => {
                        return Err(format!("Error: the reviewer failed: {reason}"));
                    }
                    // The next round asks again; the plan is not revised without findings.
                    ReviewVerdict::Empty => {
                        print_line(format!("Round {}: the reviewer returned no answer", self.state.round))
                    }
                    // After the last round there is no review that could approve a revision, so none is made.
                    ReviewVerdict::NeedsChanges if self.state.round < self.options.max_rounds => {
                        self.enter(Phase::AssistantRevision)?;
                    }
                    ReviewVerdict::NeedsChanges => {}
                }
            }
            if self.state.phase == Phase::AssistantRevision {
                self.revise().await?;
            }
            self.state.round += 1;
            self.enter(Phase::ReviewerReview)?;
        }
        self.state.round = self.options.max_rounds;
        Ok(false)
    }

    async fn review(&mut self) -> Result<ReviewVerdict, String> {
        print_line(format!("Round {}: the reviewer reads the plan", self.state.round));
        let plan = self.options.plan_file.clone();
        let review = reviewer_step::review(
            &ReviewOptions {
                round: self.state.round,
                session: self.state.reviewer_session.clone(),
                log_id: self.state.log_id.clone(),
                ..ReviewOptions::of(plan.clone(), sidecar(&plan, ".feedback"), &self.options.reviewer_model)
            },
            &self.stop,
        )
        .await?;
        (self.state.reviewer_session, self.state.log_id) = (review.session, review.log_id);
        self.save()?;
        Ok(review.verdict)
    }

    async fn revise(&mut self) -> Result<(), String> {
        print_line(format!("Round {}: the assistant revises the plan", self.state.round));
        let resume: [OsString; 2] = ["-r".into(), self.state.session.clone().into()];
        let prompt = revision(&self.options);
        let Err(failure) = self.assistant_turn(&resume, &prompt).await else { return Ok(()) };
        let session_lost = SESSION_ERRORS.iter().any(|word| failure.stderr.to_lowercase().contains(word));
        if !session_lost {
            return Err(failure.message);
        }
        // Start a new session, which needs the original request again because it does not contain the
        // old one.
        self.state.session = Uuid::new_v4().to_string();
        self.save()?;
        let fresh: [OsString; 2] = ["--session-id".into(), self.state.session.clone().into()];
        let prompt = format!("{prompt}\nThe plan was written for this request:\n\n{}", self.options.prompt);
        self.assistant_turn(&fresh, &prompt).await.map_err(|failure| failure.message)
    }

    async fn assistant_turn(&self, session: &[OsString], prompt: &str) -> Result<(), TurnFailure> {
        let mut args: Vec<OsString> = vec!["-p".into(), prompt.into()];
        args.extend_from_slice(session);
        args.extend(
            ["--permission-mode", "acceptEdits", "--allowed-tools", TOOLS, "--model"].map(OsString::from),
        );
        args.push(self.options.model.clone().into());
        args.extend(self.plugin_args());
        for dir in &self.options.add_dirs {
            args.extend(["--add-dir".into(), dir.into()]);
        }
        let format = if self.options.verbose { "stream-json" } else { "text" };
        args.extend(["--output-format", format].map(OsString::from));
        if self.options.verbose {
            args.push("--verbose".into());
        }
        let limits = Limits { grace: Duration::from_secs(1), ..Limits::time(TURN_LIMIT).output(STDERR_CAP) };
        let print = |piece: &[u8]| {
            let _ = io::stdout().write_all(piece).and_then(|()| io::stdout().flush());
            None
        };
        let result = Command::new(&self.assistant).args(&args).stream(limits, &self.stop, print).await;
        let output = result.map_err(|error| TurnFailure::new(format!("Error: {error}"), String::new()))?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status {
            Some(ProcessStatus::Exited(0)) => Ok(()),
            None => Err(TurnFailure::new("interrupted".to_owned(), stderr)),
            Some(_) => {
                let last =
                    stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output").to_owned();
                Err(TurnFailure::new(format!("Error: the assistant failed: {last}"), stderr))
            }
        }
    }

    fn plugin_args(&self) -> impl Iterator<Item = OsString> {
        self.plugins.iter().flat_map(|dir| ["--plugin-dir".into(), dir.into()])
    }

    fn enter(&mut self, phase: Phase) -> Result<(), String> {
        self.state.phase = phase;
        self.save()
    }

    fn save(&self) -> Result<(), String> {
        let path = sidecar(&self.options.plan_file, ".state");
        loopgate_home::untrusted::write(&path, self.state.render().as_bytes())
            .map_err(|error| format!("Error: cannot write {}: {error}", path.display()))
    }
}

/// Failed turn of the assistant.
struct TurnFailure {
    message: String,
    stderr: String,
}

impl TurnFailure {
    const fn new(message: String, stderr: String) -> Self {
        Self { message, stderr }
    }
}

fn creation(options: &DebateOptions) -> String {
    format!(
        "Let the agent code:plan-agent write a plan for the request below into {}. Pass the request on word for word. The \
         agent changes no other file.\n\n{}",
        absolute(&options.plan_file).display(),
        options.prompt
    )
}

fn revision(options: &DebateOptions) -> String {
    let plan = absolute(&options.plan_file);
    format!(
        "A reviewer has read the plan {}. Let the agent code:plan-agent judge the findings in {} on their merits, revise the \
         plan, and say which findings it accepted, re-scoped or rejected, each with the reason.",
        plan.display(),
        sidecar(&plan, ".feedback").display()
    )
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Opens a session of the assistant interactively in the user's terminal.
#[expect(clippy::disallowed_methods, reason = "the session takes over the user's terminal")]
fn open_session(program: &str, args: &[OsString]) -> io::Result<()> {
    std::process::Command::new(program).args(args).status().map(|_| ())
}
