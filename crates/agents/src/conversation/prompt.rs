//! Prompt text around the user's message.

use loopgate_api::chat::{ChatMessage, ChatRole, CommentContext, FindingContext};
use loopgate_api::provider::ProviderId;

/// Characters of earlier messages in a prompt. Leaves most of a context window for the program's work.
const TRANSCRIPT_MAX: usize = 60_000;

/// Returns the earlier messages up to the last answer, oldest first; empty if there are none. Omits the
/// oldest messages above the limit, and questions after the last answer: those are in flight or failed.
pub(super) fn transcript(messages: &[ChatMessage], sender: impl Fn(&ChatMessage) -> ProviderId) -> String {
    let answered = messages.iter().rposition(|message| message.role == ChatRole::Assistant);
    let messages = &messages[..answered.map_or(0, |last| last + 1)];
    let mut lines = Vec::new();
    let mut length = 0;
    for message in messages.iter().rev().filter(|message| !message.content.trim().is_empty()) {
        let speaker = match message.role {
            ChatRole::User => "User".to_owned(),
            ChatRole::Assistant => capitalized(sender(message).as_str()),
        };
        let attached = message.attachments.iter().map(|path| format!("\n(attached: {path})"));
        let line = format!("{speaker}: {}{}\n\n", message.content.trim(), attached.collect::<String>());
        length += line.chars().count();
        if length > TRANSCRIPT_MAX {
            break;
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.reverse();
    format!("Earlier in this conversation:\n\n{}User: ", lines.concat())
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Describes the review comment that a conversation is about.
pub(super) fn about_comment(comment: &CommentContext) -> String {
    let file = comment.path.as_ref().map(|path| match comment.line {
        Some(line) => format!("File: {path}:{line}\n"),
        None => format!("File: {path}\n"),
    });
    format!("{}PR comment from @{}:\n{}\n\n", file.unwrap_or_default(), comment.author, comment.body)
}

/// Describes the finding that a conversation is about.
pub(super) fn about_finding(finding: &FindingContext) -> String {
    let mut lines = vec![format!("Review finding ({})", finding.severity)];
    lines.extend(finding.file.as_ref().map(|file| match finding.line {
        Some(line) => format!("File: {file}:{line}"),
        None => format!("File: {file}"),
    }));
    lines.push(finding.message.clone());
    lines.extend(finding.suggestion.as_ref().map(|suggestion| format!("Suggestion: {suggestion}")));
    format!("{}\n\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: ChatRole, content: &str) -> ChatMessage {
        ChatMessage::new(String::new(), role, content.to_owned(), String::new())
    }

    #[test]
    fn transcript_names_the_speakers_and_keeps_the_newest() {
        let sender = |_: &ChatMessage| ProviderId::REVIEWER;
        assert_eq!(transcript(&[], sender), "");
        let attachments = vec!["/w/a.png".to_owned()];
        let question = ChatMessage { attachments, ..message(ChatRole::User, "why?") };
        let messages = [question, message(ChatRole::Assistant, "because ")];
        let text = transcript(&messages, sender);
        let question = "User: why?\n(attached: /w/a.png)";
        assert_eq!(
            text,
            format!("Earlier in this conversation:\n\n{question}\n\nReviewer: because\n\nUser: ")
        );
        let long = "ä".repeat(TRANSCRIPT_MAX);
        let messages = [
            message(ChatRole::User, &long),
            message(ChatRole::Assistant, "last"),
            message(ChatRole::User, "x"),
        ];
        let text = transcript(&messages, sender);
        assert_eq!(text, "Earlier in this conversation:\n\nReviewer: last\n\nUser: ");
    }
}
