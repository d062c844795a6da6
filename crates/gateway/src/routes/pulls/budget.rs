//! How much of a conversation one answer carries: the newest comments, each up to a length, until
//! the answer is full. What is left out is counted.

use loopgate_tools::code_host::Discussion;
use serde::Serialize;
use utoipa::ToSchema;

use super::comment::{MAX_BODY, PullRequestComment};

/// Comments in an answer.
const MAX_COMMENTS: usize = 100;
/// Bytes of an answer.
const MAX_ANSWER: usize = 524_288;

/// The limits, and what they cost.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Budget {
    max_comments: usize,
    page_size: usize,
    max_body_bytes: usize,
    max_response_bytes: usize,
    /// The code host has more.
    provider_truncated: bool,
    /// Comments were left out to keep the answer small.
    response_truncated: bool,
    /// Comments that are known to be missing; at least so many.
    omitted_comments: usize,
    /// Comments of which only the beginning is there.
    body_truncated_count: usize,
}

/// The comments that an answer carries, newest first, and what it cost.
pub(super) struct CommentSelection {
    pub(super) comments: Vec<PullRequestComment>,
    pub(super) budget: Budget,
    pub(super) state: &'static str,
}

/// Fits a conversation into an answer of which `frame` bytes are taken.
pub(super) fn fit(
    conversation: Discussion,
    frame: usize,
    shown: impl Fn(loopgate_tools::code_host::Comment) -> PullRequestComment,
) -> CommentSelection {
    let collected = conversation.comments.len();
    let provider_truncated = conversation.truncated || collected > MAX_COMMENTS;
    let unseen = usize::from(provider_truncated);
    let mut omitted = collected.checked_sub(MAX_COMMENTS).filter(|more| *more > 0).unwrap_or(unseen);
    let mut found = conversation.comments;
    found.sort_by(|one, other| other.created_at.cmp(&one.created_at));
    found.truncate(MAX_COMMENTS);
    let mut comments: Vec<_> = found.into_iter().map(shown).collect();
    comments.iter_mut().for_each(PullRequestComment::shorten);

    // Each is counted with the comma after it.
    let mut sizes: Vec<usize> = comments.iter().map(|comment| length(comment) + 1).collect();
    let mut size = frame + sizes.iter().sum::<usize>();
    let mut response_truncated = false;
    while size > MAX_ANSWER && comments.pop().is_some() {
        size -= sizes.pop().unwrap_or_default();
        omitted += 1;
        response_truncated = true;
    }
    let state = match (provider_truncated || response_truncated, comments.is_empty()) {
        (true, _) => "over_limit_truncated",
        (false, true) => "synced_empty",
        (false, false) => "populated",
    };
    let budget = Budget {
        max_comments: MAX_COMMENTS,
        page_size: 50,
        max_body_bytes: MAX_BODY,
        max_response_bytes: MAX_ANSWER,
        provider_truncated,
        response_truncated,
        omitted_comments: omitted,
        body_truncated_count: comments.iter().filter(|comment| comment.is_short()).count(),
    };
    CommentSelection { comments, budget, state }
}

fn length(comment: &PullRequestComment) -> usize {
    serde_json::to_vec(comment).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use loopgate_tools::code_host::{Comment, CommentKind};
    use proptest::prelude::*;

    use super::super::comment::cut;
    use super::*;

    fn conversation(bodies: &[String], truncated: bool) -> Discussion {
        let comment = |(at, body): (usize, &String)| Comment {
            id: format!("IC_{at}"),
            number: Some(at as u64 + 1),
            kind: CommentKind::Conversation,
            thread: None,
            reply_to: None,
            path: None,
            line: None,
            resolved: None,
            author: None,
            body: body.clone(),
            created_at: format!("2030-05-01T10:{:02}:{:02}Z", at / 60, at % 60),
            url: None,
        };
        let comments = bodies.iter().enumerate().map(comment).collect();
        Discussion { url: None, comments, truncated }
    }

    fn fitted(bodies: &[String], truncated: bool) -> CommentSelection {
        fit(conversation(bodies, truncated), 1000, |comment| PullRequestComment::new(comment, false))
    }

    #[test]
    fn newest_hundred_come() {
        let all = fitted(&vec!["x".to_owned(); 103], false);
        assert_eq!((all.comments.len(), all.budget.omitted_comments), (100, 3));
        assert!(all.budget.provider_truncated && !all.budget.response_truncated);
        assert_eq!(all.state, "over_limit_truncated");
        let more = fitted(&["x".to_owned()], true);
        assert_eq!((more.state, more.budget.omitted_comments), ("over_limit_truncated", 1));
        assert_eq!(fitted(&[], false).state, "synced_empty");
        assert_eq!(fitted(&["x".to_owned()], false).state, "populated");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let mut text = "ä".repeat(MAX_BODY);
        assert!(cut(&mut text));
        assert_eq!(text.len(), MAX_BODY);
        let mut text = format!("x{}", "ä".repeat(MAX_BODY));
        assert!(cut(&mut text));
        assert_eq!(text.len(), MAX_BODY - 1);
        let long = fitted(&["y".repeat(MAX_BODY + 1), "z".repeat(MAX_BODY)], false);
        assert_eq!((long.budget.body_truncated_count, long.state), (1, "populated"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_answer_is_too_large(bodies in prop::collection::vec((".{0,4}", 0usize..20_000), 0..60)) {
            let bodies: Vec<_> = bodies.iter().map(|(text, times)| text.repeat(times / 2)).collect();
            let fitting = fitted(&bodies, false);
            let size: usize = fitting.comments.iter().map(|comment| length(comment) + 1).sum();
            prop_assert!(size + 1000 <= MAX_ANSWER);
            prop_assert_eq!(fitting.comments.len() + fitting.budget.omitted_comments, bodies.len());
            prop_assert_eq!(fitting.budget.response_truncated, fitting.comments.len() < bodies.len());
        }
    }
}
