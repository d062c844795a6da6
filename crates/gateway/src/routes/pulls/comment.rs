//! The JSON form of a pull-request comment.

use loopgate_tools::code_host::{Comment, CommentKind};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum bytes of UTF-8 in a comment's text: one long log in a comment must not fill the response.
pub(super) const MAX_BODY: usize = 16_384;

/// A comment of a pull request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullRequestComment {
    id: String,
    provider_node_id: String,
    /// Numeric id; null for the text of a review.
    #[schema(required)]
    provider_comment_id: Option<String>,
    /// `issue` for the conversation, `review` for a review or a line, `review_reply` for a reply in a thread.
    kind: &'static str,
    #[schema(required)]
    thread_id: Option<String>,
    /// Numeric id of the comment to which this one replies.
    #[schema(required)]
    in_reply_to_id: Option<String>,
    #[schema(required)]
    path: Option<String>,
    #[schema(required)]
    line: Option<u64>,
    /// Whether the thread is resolved.
    #[schema(required)]
    resolved: Option<bool>,
    author: CommentAuthor,
    body: String,
    created_at: String,
    #[schema(required)]
    updated_at: Option<String>,
    #[schema(required)]
    provider_url: Option<String>,
    stale: bool,
    /// Whether the text was truncated.
    body_truncated: bool,
    /// Numeric id, 0 for the text of a review; only for the pull request of a clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    database_id: Option<u64>,
    /// Whether the comment belongs to a review; only for the pull request of a clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_review: Option<bool>,
    /// URL of the comment, or an empty string; only for the pull request of a clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Author of a comment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentAuthor {
    /// Login; `unknown` for a deleted account.
    login: String,
    #[schema(required)]
    display_name: Option<String>,
    #[schema(required)]
    avatar_url: Option<String>,
    #[schema(required)]
    profile_url: Option<String>,
}

impl PullRequestComment {
    /// Converts a comment. `local` adds the members that are only present for the pull request of a clone.
    pub(super) fn new(comment: Comment, local: bool) -> Self {
        let kind = match comment.kind {
            CommentKind::Conversation => "issue",
            CommentKind::Review => "review",
            CommentKind::Reply => "review_reply",
        };
        let login = comment.author.unwrap_or_else(|| "unknown".to_owned());
        Self {
            provider_node_id: comment.id.clone(),
            id: comment.id,
            provider_comment_id: comment.number.map(|number| number.to_string()),
            kind,
            thread_id: comment.thread,
            in_reply_to_id: comment.reply_to.map(|number| number.to_string()),
            path: comment.path,
            line: comment.line,
            resolved: comment.resolved,
            author: CommentAuthor { login, display_name: None, avatar_url: None, profile_url: None },
            body: comment.body,
            created_at: comment.created_at,
            updated_at: None,
            stale: false,
            body_truncated: false,
            // The text of a review has no number; clients of this form expect 0.
            database_id: local.then_some(comment.number.unwrap_or(0)),
            is_review: local.then_some(comment.kind != CommentKind::Conversation),
            url: local.then(|| comment.url.clone().unwrap_or_default()),
            provider_url: comment.url,
        }
    }

    pub(super) fn shorten(&mut self) {
        self.body_truncated |= cut(&mut self.body);
    }

    pub(super) const fn is_truncated(&self) -> bool {
        self.body_truncated
    }
}

/// Truncates a text to the maximum length at a character boundary. Returns whether it was truncated.
pub(super) fn cut(text: &mut String) -> bool {
    let too_long = text.len() > MAX_BODY;
    if too_long {
        let mut end = MAX_BODY;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    too_long
}
