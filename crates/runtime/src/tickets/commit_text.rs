//! Commit messages for the work on a ticket, written by the assistant from the diff.
//!
//! Never fails: without a worktree, changes or a valid answer, a generic title is returned.

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

/// Timeout of the assistant.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Timeout of the git commands.
const DIFF_TIME: Duration = Duration::from_secs(10);
/// Size limit of the diff in bytes; a larger one is not described.
const DIFF_CAP: usize = 1024 * 1024;
/// Limit of the diff in the prompt, in characters.
const DIFF_SHOWN: usize = 15_000;
const CUT: &str = "\n\n[The rest of the changes is left out]";
/// Delays between retries while the assistant's executable is missing, for example during its update.
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
    /// One line without product names.
    pub title: String,
    /// Description; may be empty.
    pub description: String,
    /// Whether the assistant wrote it.
    pub written: bool,
}

impl CommitText {
    /// Returns the generic commit text of a ticket.
    #[must_use]
    pub fn plain(ticket: &TicketId) -> Self {
        Self { title: plain_title(ticket), description: String::new(), written: false }
    }
}

fn plain_title(ticket: &TicketId) -> String {
    format!("Work on {}", ticket.as_str())
}

/// Writes commit messages with the assistant.
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

    /// Writes a commit message for the uncommitted work in a worktree.
    pub async fn write(&self, worktree: &Path, ticket: &TicketId) -> CommitText {
        let Some(changes) = self.changes(worktree).await else { return CommitText::plain(ticket) };
        let answer = match self.request_text(worktree, &format!("{PROMPT}{changes}")).await {
            Ok(output) => read_answer(&output.stdout_text(), ticket),
            Err(error) => {
                tracing::info!(%error, "cannot write a commit message");
                None
            }
        };
        answer.unwrap_or_else(|| CommitText::plain(ticket))
    }

    /// Returns the statistics and the diff of tracked files; `None` without changes.
    async fn changes(&self, worktree: &Path) -> Option<String> {
        let diff = async |args: &'static [&'static str]| {
            let command = self.git.reader(worktree).await.ok()?.args(args);
            let output = command.run(Limits::time(DIFF_TIME).output(DIFF_CAP)).await.ok()?;
            output.status.success().then(|| output.stdout_text().into_owned())
        };
        // Diff drivers and text converters are programs that the repository configures, so both are disabled.
        let summary =
            diff(&["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD", "--stat"])
                .await?;
        let full =
            diff(&["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD"]).await?;
        if full.trim().is_empty() {
            return None;
        }
        let text = format!("{summary}---\n{full}");
        let truncated = text.char_indices().nth(DIFF_SHOWN).map(|(at, _)| format!("{}{CUT}", &text[..at]));
        Some(truncated.unwrap_or(text))
    }

    /// Requests one answer from the assistant. The diff is passed on standard input, because other users can
    /// read arguments.
    async fn request_text(&self, worktree: &Path, prompt: &str) -> Result<Output, StartError> {
        let mut pauses = TRIES.into_iter();
        loop {
            let (environment, guard) = self.environment.guarded(&[worktree]).await;
            let assistant = self.programs.command(Program::Assistant).await;
            let command = assistant
                .environment(environment)
                .args(&guard.args)
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
                result => return result,
            }
        }
    }
}

/// Parses the largest JSON object in a text that contains both members.
fn read_answer(text: &str, ticket: &TicketId) -> Option<CommitText> {
    let title = text.find("\"title\"")?;
    let begin = text[..title].find('{')?;
    let description = title + text[title..].find("\"description\"")?;
    let end = description + text[description..].rfind('}')?;
    let answer: Value = serde_json::from_str(&text[begin..=end]).ok()?;
    let member = |name: &str| without_product_names(answer[name].as_str().unwrap_or_default());
    let title = Some(member("title")).filter(|title| !title.is_empty());
    Some(CommitText {
        title: title.unwrap_or_else(|| plain_title(ticket)),
        description: member("description"),
        written: true,
    })
}

/// Removes names of products and models, and the gaps that they leave.
fn without_product_names(text: &str) -> String {
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
