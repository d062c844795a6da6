//! Size limits of a conversation in a response: the newest comments, each truncated to a maximum length, as
//! long as the response stays below its limit. Omitted comments are counted.

use loopgate_tools::code_host::Discussion;
use serde::Serialize;
use utoipa::ToSchema;

use super::comment::{MAX_BODY, PullRequestComment};

/// Maximum number of comments in a response; older ones are omitted.
const MAX_COMMENTS: usize = 100;
/// Maximum bytes of a response: bounds the memory that a page and the link need for it.
const MAX_RESPONSE: usize = 524_288;

/// Size limits, and what was omitted because of them.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Budget {
    max_comments: usize,
    page_size: usize,
    max_body_bytes: usize,
    max_response_bytes: usize,
    /// Whether the code host has more comments than were fetched.
    provider_truncated: bool,
    /// Whether comments were omitted because of `maxResponseBytes`.
    response_truncated: bool,
    /// Number of omitted comments that are known: a lower bound.
    omitted_comments: usize,
    /// Number of comments with a truncated text.
    body_truncated_count: usize,
}

/// Comments that fit into a response, newest first.
pub(super) struct CommentSelection {
    pub(super) comments: Vec<PullRequestComment>,
    pub(super) budget: Budget,
    pub(super) state: &'static str,
}

/// Fits a conversation into a response in which `frame` bytes are already used.
pub(super) fn fit(
    conversation: Discussion,
    frame: usize,
    convert: impl Fn(loopgate_tools::code_host::Comment) -> PullRequestComment,
) -> CommentSelection {
    let collected = conversation.comments.len();
    let provider_truncated = conversation.truncated || collected > MAX_COMMENTS;
    // A truncated page does not report how many comments follow; it is at least one.
    let unfetched = usize::from(provider_truncated);
    let mut omitted = collected.checked_sub(MAX_COMMENTS).filter(|more| *more > 0).unwrap_or(unfetched);
    let mut newest = conversation.comments;
    newest.sort_by(|one, other| other.created_at.cmp(&one.created_at));
    newest.truncate(MAX_COMMENTS);
    let mut comments: Vec<_> = newest.into_iter().map(convert).collect();
    // Before the sizes are determined, so that one long comment does not displace many short ones.
    comments.iter_mut().for_each(PullRequestComment::shorten);

    // Plus one byte for the comma that follows each comment.
    let mut sizes: Vec<usize> = comments.iter().map(|comment| json_length(comment) + 1).collect();
    let mut size = frame + sizes.iter().sum::<usize>();
    let mut response_truncated = false;
    // Comments are sorted newest first, so this drops the oldest ones.
    while size > MAX_RESPONSE && comments.pop().is_some() {
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
        max_response_bytes: MAX_RESPONSE,
        provider_truncated,
        response_truncated,
        omitted_comments: omitted,
        body_truncated_count: comments.iter().filter(|comment| comment.is_truncated()).count(),
    };
    CommentSelection { comments, budget, state }
}

fn json_length(comment: &PullRequestComment) -> usize {
    // Cannot fail: the type contains only strings, numbers and booleans.
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
    fn newest_hundred_comments_are_included() {
        // Three more than the limit.
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
    fn long_text_is_truncated_at_a_character_boundary() {
        let mut text = "ä".repeat(MAX_BODY);
        assert!(cut(&mut text));
        assert_eq!(text.len(), MAX_BODY);
        // The leading byte shifts the limit into the middle of a two-byte character.
        let mut text = format!("x{}", "ä".repeat(MAX_BODY));
        assert!(cut(&mut text));
        assert_eq!(text.len(), MAX_BODY - 1);
        let long = fitted(&["y".repeat(MAX_BODY + 1), "z".repeat(MAX_BODY)], false);
        assert_eq!((long.budget.body_truncated_count, long.state), (1, "populated"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        // Characters that JSON escapes, such as control characters, take more bytes in the response than in
        // the text.
        fn response_never_exceeds_its_limit(bodies in prop::collection::vec((".{0,4}", 0usize..20_000), 0..60)) {
            let bodies: Vec<_> = bodies.iter().map(|(text, times)| text.repeat(times / 2)).collect();
            let fitting = fitted(&bodies, false);
            let size: usize = fitting.comments.iter().map(|comment| json_length(comment) + 1).sum();
            prop_assert!(size + 1000 <= MAX_RESPONSE);
            prop_assert_eq!(fitting.comments.len() + fitting.budget.omitted_comments, bodies.len());
            prop_assert_eq!(fitting.budget.response_truncated, fitting.comments.len() < bodies.len());
        }
    }
}
