//! Hooks that deliver messages of a person to the running loop: after a tool, at the start of a session, and when the
//! assistant is about to end it.

use std::path::Path;

use serde_json::{Value, json};

use super::input::HookInput;
use crate::messages::{Mailbox, PendingMessages};
use crate::variables as var;

/// What the assistant has to do with a message that arrives when it is about to end.
const CONTINUE: &str = "Act on it before you end. Then give your complete final answer again, with the promise if \
    everything is done.";

/// An answer of a hook, with the messages that it contains.
#[derive(Debug)]
pub struct Delivery {
    /// Answer for the assistant.
    pub answer: Value,
    /// Messages to settle after the answer was printed.
    pub messages: Option<PendingMessages>,
}

/// Returns the mailbox of the driver's session. Only the main session receives messages: an agent would end with them.
fn mailbox(input: &HookInput) -> Option<Mailbox> {
    let directory = var::text(var::MESSAGES).filter(|_| input.agent_id.is_empty())?;
    Mailbox::at(Path::new(&directory))
}

/// Delivers the pending messages after the use of a tool.
pub fn after_tool(input: &HookInput) -> Option<Delivery> {
    let pending = mailbox(input)?.pending()?;
    let answer = context("PostToolUse", &pending.text());
    Some(Delivery { answer, messages: Some(pending) })
}

/// Delivers the pending messages to a new session, and repeats those of earlier sessions, which it does not know.
pub fn at_start(input: &HookInput) -> Option<Delivery> {
    let mailbox = mailbox(input)?;
    let earlier = (input.source != "resume").then(|| mailbox.delivered_text()).flatten();
    let pending = mailbox.pending();
    let texts: Vec<String> = earlier.into_iter().chain(pending.as_ref().map(PendingMessages::text)).collect();
    if texts.is_empty() {
        return None;
    }
    Some(Delivery { answer: context("SessionStart", &texts.join("\n\n")), messages: pending })
}

/// Continues a session that is about to end with pending messages.
pub fn at_stop(input: &HookInput) -> Option<Delivery> {
    let pending = mailbox(input)?.pending()?;
    let answer = json!({"decision": "block", "reason": format!("{}\n\n{CONTINUE}", pending.text())});
    Some(Delivery { answer, messages: Some(pending) })
}

fn context(event: &str, text: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
}
