//! What a commit of a ticket's work may be called: the assistant reads the changes and says so.
//!
//! Never fails: without a worktree, changes or an answer there is a plain title.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use loopgate_api::ids::TicketId;
use loopgate_home::Program;
use loopgate_tools::git::Git;
use loopgate_tools::process::{Limits, Output, StartError, Stdin};
use loopgate_tools::programs::Programs;
use regex::Regex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use loopgate_tools::environment::ProcessEnvironment;

/// How long the assistant may take.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// How long git may take.
const DIFF_TIME: Duration = Duration::from_secs(10);
/// Bytes of changes; more cannot be summed up.
const DIFF_CAP: usize = 1024 * 1024;
/// Characters of changes that the assistant reads.
const DIFF_SHOWN: usize = 15_000;
const CUT: &str = "\n\n[The rest of the changes is left out]";
/// Pauses before another try, when the program is not there for a moment.
const TRIES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(500)];
const MODEL: &str = "haiku";
const PROMPT: &str = "Write a commit message for these changes. Answer with nothing but a JSON object \
    with two strings: \"title\", one line of at most 72 characters in the imperative, and \
    \"description\", what changed and why, in a few plain sentences. Do not name any tool or author.\n\n";

static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r"(?i)claude code|claude|opus|sonnet|haiku|anthropic|AI assistant").expect("constant pattern")
});
static BLANKS: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r"[ \t]+").expect("constant pattern")
});

/// Title and description of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitText {
    /// One line.
    pub title: String,
    /// May be empty.
    pub description: String,
    /// Whether the assistant wrote it.
    pub written: bool,
}

impl CommitText {
    /// What is said when nothing better is known.
    #[must_use]
    pub fn plain(ticket: &TicketId) -> Self {
        Self { title: plain_title(ticket), description: String::new(), written: false }
    }
}

fn plain_title(ticket: &TicketId) -> String {
    format!("Work on {}", ticket.as_str())
}

/// Writes commit messages.
pub struct CommitTextWriter {
    git: Git,
    programs: Arc<Programs>,
    environment: ProcessEnvironment,
    stop: CancellationToken,
}

impl CommitTextWriter {
    pub(crate) const fn new(
        git: Git,
        programs: Arc<Programs>,
        environment: ProcessEnvironment,
        stop: CancellationToken,
    ) -> Self {
        Self { git, programs, environment, stop }
    }

    /// What the uncommitted work in a worktree may be called.
    pub async fn write(&self, worktree: &Path, ticket: &TicketId) -> CommitText {
        let Some(changes) = self.changes(worktree).await else { return CommitText::plain(ticket) };
        let answer = match self.ask(worktree, &format!("{PROMPT}{changes}")).await {
            Ok(output) => read_answer(&output.stdout_text(), ticket),
            Err(error) => {
                tracing::info!(%error, "no commit message was written");
                None
            }
        };
        answer.unwrap_or_else(|| CommitText::plain(ticket))
    }

    /// The changes of tracked files, summed up and whole.
    async fn changes(&self, worktree: &Path) -> Option<String> {
        let diff = async |args: &'static [&'static str]| {
            let command = self.git.reader(worktree).await.ok()?.args(args);
            let output = command.run(Limits::time(DIFF_TIME).output(DIFF_CAP)).await.ok()?;
            output.status.success().then(|| output.stdout_text().into_owned())
        };
        let summary =
            diff(&["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD", "--stat"])
                .await?;
        let whole =
            diff(&["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD"]).await?;
        if whole.trim().is_empty() {
            return None;
        }
        let text = format!("{summary}---\n{whole}");
        let cut = text.char_indices().nth(DIFF_SHOWN).map(|(at, _)| format!("{}{CUT}", &text[..at]));
        Some(cut.unwrap_or(text))
    }

    /// Has the assistant answer once; the changes are read from its input, where nobody else sees
    /// them.
    async fn ask(&self, worktree: &Path, prompt: &str) -> Result<Output, StartError> {
        let mut pauses = TRIES.into_iter();
        loop {
            let (environment, guard) = self.environment.guarded(&[worktree]).await;
            let assistant = self.programs.command(Program::Assistant).await;
            let command = assistant
                .environment(environment)
                .args(guard.args)
                .args(["--model", MODEL, "-p"])
                .directory(worktree)
                .stdin(Stdin::Bytes(prompt.as_bytes().to_vec()))
                .session();
            match command.run(Limits::time(ANSWER_TIME)).await {
                Err(StartError::NotFound(name)) => {
                    let pause = pauses.next().filter(|_| !self.stop.is_cancelled());
                    let Some(pause) = pause else { return Err(StartError::NotFound(name)) };
                    tokio::time::sleep(pause).await;
                }
                ended => return ended,
            }
        }
    }
}

/// The largest object in a text that has both members.
fn read_answer(text: &str, ticket: &TicketId) -> Option<CommitText> {
    let title = text.find("\"title\"")?;
    let begin = text[..title].find('{')?;
    let description = title + text[title..].find("\"description\"")?;
    let end = description + text[description..].rfind('}')?;
    let answer: Value = serde_json::from_str(&text[begin..=end]).ok()?;
    let member = |name: &str| cleaned(answer[name].as_str().unwrap_or_default());
    let title = Some(member("title")).filter(|title| !title.is_empty());
    Some(CommitText {
        title: title.unwrap_or_else(|| plain_title(ticket)),
        description: member("description"),
        written: true,
    })
}

/// Without names of products and models, and without the gaps that they leave.
fn cleaned(text: &str) -> String {
    BLANKS.replace_all(&NAMES.replace_all(text, ""), " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        read_answer(text, &TicketId::new("SHOP-7")).map(|text| (text.title, text.description))
    }

    #[test]
    fn answer_is_found_in_noise_and_cleaned() {
        let text =
            "Sure! {\"title\": \"Add  Claude Code cache\", \"description\": \"By HAIKU,\\ta cache.\"}\nBye";
        assert_eq!(read(text), Some(("Add cache".to_owned(), "By , a cache.".to_owned())));
        assert_eq!(
            read("{\"title\": 5, \"description\": \"d\"}"),
            Some(("Work on SHOP-7".to_owned(), "d".to_owned()))
        );
        for text in [
            "",
            "no",
            "{\"description\":\"d\",\"title\":\"t\"",
            "{\"title\":\"t\"}",
            "\"title\" \"description\"",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
