//! One comment of a pull request, as answers carry it.

use loopgate_tools::code_host::{Comment, CommentKind};
use serde::Serialize;
use utoipa::ToSchema;

/// Bytes of UTF-8 in a comment.
pub(super) const MAX_BODY: usize = 16_384;

/// Something that was said.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullRequestComment {
    id: String,
    provider_node_id: String,
    /// Its number; null for a review's text.
    #[schema(required)]
    provider_comment_id: Option<String>,
    /// `issue` in the conversation, `review` in a review or on a line, `review_reply` in answer.
    kind: &'static str,
    #[schema(required)]
    thread_id: Option<String>,
    /// Number of what it answers.
    #[schema(required)]
    in_reply_to_id: Option<String>,
    #[schema(required)]
    path: Option<String>,
    #[schema(required)]
    line: Option<u64>,
    /// Whether its thread is settled.
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
    /// Only the beginning of the text is there.
    body_truncated: bool,
    /// Its number, 0 for a review's text; only for a clone's pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    database_id: Option<u64>,
    /// Whether it belongs to a review; only for a clone's pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_review: Option<bool>,
    /// Its place on the web, or nothing; only for a clone's pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Who said it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommentAuthor {
    /// `unknown` when the account is gone.
    login: String,
    #[schema(required)]
    display_name: Option<String>,
    #[schema(required)]
    avatar_url: Option<String>,
    #[schema(required)]
    profile_url: Option<String>,
}

impl PullRequestComment {
    /// `local` adds the members that tell a clone's pull request.
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
            database_id: local.then_some(comment.number.unwrap_or(0)),
            is_review: local.then_some(comment.kind != CommentKind::Conversation),
            url: local.then(|| comment.url.clone().unwrap_or_default()),
            provider_url: comment.url,
        }
    }

    pub(super) fn shorten(&mut self) {
        self.body_truncated |= cut(&mut self.body);
    }

    pub(super) const fn is_short(&self) -> bool {
        self.body_truncated
    }
}

/// Cuts a text to the length that a comment may have; whether anything was cut.
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
