//! Verdict on a change: requested in the session of its review and parsed from the answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use loopgate_agents::run::{RunAnnouncement, RunEnd, RunOutcome};
use loopgate_agents::{Provider, RunHandle, RunRequest, RunStore, TurnOutput, TurnRequest};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_api::review::Verdict;
use loopgate_home::{JsonFile, JsonFileError};
use serde_json::Map;

use crate::files::ReviewDirectory;
use crate::prompt;
use crate::reviews::Reviews;
use crate::state::ReviewState;

/// Run kind. No factory is registered for it, so after a restart these runs are terminated: their caller no
/// longer exists.
const KIND: &str = "verdict";
/// Timeout of a verdict. The provider may read code again before it answers.
const TIME_LIMIT: Duration = Duration::from_mins(10);
/// Tools of the provider: read-only.
const TOOLS: &str = "Read,Glob,Grep";
/// The assistant's model for verdicts, as an alias for the current version.
const ASSISTANT_MODEL: &str = "sonnet";

const OPENING: &str = "<pr_verdict>";
const CLOSING: &str = "</pr_verdict>";

/// Result of requesting a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictAnswer {
    /// The verdict; `None` if the answer contains no valid one.
    pub verdict: Option<Verdict>,
    /// Error message if there is no complete answer.
    pub error: Option<String>,
}

impl Reviews {
    /// Requests a verdict from the provider in the session of its review. Joins a request for the same
    /// session that is in flight. The request continues when the caller disconnects, and the verdict is stored
    /// in the state of the review.
    ///
    /// # Errors
    /// Fails when the provider cannot be started.
    pub async fn verdict(
        &self,
        directory: &ReviewDirectory,
        provider: Arc<dyn Provider>,
        session: String,
    ) -> io::Result<VerdictAnswer> {
        let key = (directory.worktree(), provider.id().clone(), session.clone());
        let run = {
            // Concurrent requests must find the run that the first of them starts.
            let _lock = self.preparing().lock(directory.sandboxed_worktree().canonical()).await;
            let in_flight = self.verdicts().get(&key).cloned();
            match in_flight {
                Some(run) => run,
                None => {
                    let run = self.start_verdict(directory, provider, session).await?;
                    self.verdicts().insert(key, run.clone());
                    run
                }
            }
        };
        let outcome = run.outcome().await.ok_or_else(|| io::Error::other("Loopgate is shutting down"))?;
        Ok(answer(&outcome))
    }

    async fn start_verdict(
        &self,
        directory: &ReviewDirectory,
        provider: Arc<dyn Provider>,
        session: String,
    ) -> io::Result<RunHandle> {
        let worktree = directory.sandboxed_worktree().clone();
        let store = VerdictStore { state: directory.state(provider.id()), session: session.clone() };
        let is_assistant = *provider.id() == ProviderId::ASSISTANT;
        let turn = TurnRequest {
            prompt: prompt::VERDICT.to_owned(),
            session: Some(session),
            model: is_assistant.then(|| ASSISTANT_MODEL.to_owned()),
            tools: TOOLS.to_owned(),
            ..TurnRequest::default()
        };
        let request = RunRequest {
            provider,
            turn,
            fallback: None,
            directories: vec![worktree.as_path().to_owned()],
            directory: worktree,
            time_limit: TIME_LIMIT,
            announcement: RunAnnouncement::default(),
            kind: KIND,
            owner: Map::new(),
            store: Box::new(store),
        };
        self.runs().start(request).await
    }
}

/// Stores a verdict in the state of its review.
struct VerdictStore {
    state: JsonFile<ReviewState>,
    session: String,
}

impl RunStore for VerdictStore {
    fn store(&mut self, output: &TurnOutput, _: &[ChatEvent], end: Option<&RunEnd>) -> io::Result<()> {
        let verdict = end.filter(|end| end.success).and_then(|_| parse_verdict(&output.text));
        // Without a state file, `update` would create its directory.
        if verdict.is_none() || self.state.read()?.is_none() {
            return Ok(());
        }
        self.state.update(|state| {
            // A later review has another session.
            if let Some(state) =
                state.as_mut().filter(|state| state.session_id.as_ref() == Some(&self.session))
            {
                state.verdict = verdict;
            }
            Ok::<_, JsonFileError>(())
        })?;
        Ok(())
    }
}

fn answer(outcome: &RunOutcome) -> VerdictAnswer {
    let end = &outcome.end;
    if end.timed_out {
        let error = format!("timed out: no verdict within {} seconds", TIME_LIMIT.as_secs());
        return VerdictAnswer { verdict: None, error: Some(error) };
    }
    if !end.success {
        let error = end.error.clone().unwrap_or_else(|| format!("exit code {}", end.exit_code));
        return VerdictAnswer { verdict: None, error: Some(error) };
    }
    VerdictAnswer { verdict: parse_verdict(&outcome.output.text), error: None }
}

/// Returns the last valid verdict in a text: `<pr_verdict>{"verdict": …, "reason": …}</pr_verdict>` with a
/// reason that is not blank. Earlier ones may be the example of the prompt, or quoted code.
#[must_use]
pub fn parse_verdict(text: &str) -> Option<Verdict> {
    let tags = text.rmatch_indices(OPENING).map(|(start, _)| &text[start + OPENING.len()..]);
    tags.filter_map(|tag| serde_json::from_str::<Verdict>(tag.split_once(CLOSING)?.0).ok())
        .find(|verdict| !verdict.reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use loopgate_api::review::VerdictKind;
    use proptest::prelude::*;

    use super::*;

    fn tag(json: &str) -> String {
        format!("{OPENING}{json}{CLOSING}")
    }

    fn reason(text: &str) -> Option<String> {
        parse_verdict(text).map(|verdict| verdict.reason)
    }

    // RC-32
    #[test]
    fn last_valid_verdict_is_returned() {
        let valid = tag(r#"{"verdict":"needs_attention","reason":"two races"}"#);
        let verdict = parse_verdict(&format!("Text.\n{valid}\n")).unwrap();
        assert_eq!((verdict.verdict, verdict.reason.as_str()), (VerdictKind::NeedsAttention, "two races"));
        let example = tag(r#"{"verdict":"approve","reason":"…"}"#);
        assert_eq!(reason(&format!("{example} then {valid}")).as_deref(), Some("two races"));
        for invalid in [
            tag(r#"{"verdict":"perhaps","reason":"x"}"#),
            tag(r#"{"verdict":"approve","reason":" "}"#),
            tag(r#"{"verdict":"approve"}"#),
            tag(r#"{"verdict":"approve","reason":5}"#),
            tag("{\"verdict\":"),
            format!(r#"{OPENING}{{"verdict":"approve","reason":"x"}}"#),
            String::new(),
        ] {
            assert_eq!(parse_verdict(&invalid), None, "{invalid}");
            assert_eq!(reason(&format!("{valid}{invalid}")).as_deref(), Some("two races"), "{invalid}");
        }
    }

    proptest! {
        #[test]
        fn verdict_has_a_reason_in_any_text(parts in proptest::collection::vec(
            prop_oneof![Just(OPENING.to_owned()), Just(CLOSING.to_owned()), ".{0,8}",
                "\\{\"verdict\":\"(approve|decline|no)\",\"reason\":\"[ a]{0,2}\"\\}"], 0..12,
        )) {
            let verdict = parse_verdict(&parts.concat());
            prop_assert!(verdict.is_none_or(|verdict| !verdict.reason.trim().is_empty()));
        }

        #[test]
        fn verdict_is_found_in_any_text(before in "[^<]*", after in "[^<]*", reason in "\\PC*[a-z]") {
            let json = serde_json::json!({"verdict": "decline", "reason": reason}).to_string();
            let verdict = parse_verdict(&format!("{before}{}{after}", tag(&json)));
            // A reason that contains the closing tag is truncated there, so it is excluded.
            prop_assume!(!reason.contains(CLOSING));
            prop_assert_eq!(verdict.map(|verdict| verdict.reason), Some(reason));
        }
    }
}
