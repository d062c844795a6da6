//! Reviews of the changes of a change request: comments of people on lines, and the answers of the loops that got them.
//!
//! A comment is a draft of its author until a review contains it. The loop of a review receives all its comments when
//! it is launched, and its last event contains the answers.

use std::collections::{BTreeMap, HashMap};

use loopgate_api::job::LoopStatus;
use loopgate_api::review_comments::{
    CommentAnswer, CommentPlace, ReviewAnswers, ReviewComment, ReviewComments,
};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{ConnectionTrait, DatabaseTransaction, QueryOrder as _, QuerySelect as _, QueryTrait as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::error::{ApiResult, ValidationIssues, conflict, not_found};
use crate::loops::view::{LoopUser, users};
use crate::store::column::StoredEnum;
use crate::store::entity::change_review::ReviewKind;
use crate::store::entity::{agent_loop, change_review, review_comment};
use crate::store::{iso, now, parse_json};

// Drafts of a user on a change request, and comments of a review.
const COMMENT_LIMIT: usize = 200;
// Longest comment or summary, in characters.
const TEXT_LIMIT: usize = 10_000;
// Largest place of a comment with its anchor, in bytes of JSON.
const PLACE_LIMIT: usize = 16 * 1024;
// Reviews in the view of a change request.
const REVIEWS_SHOWN: u64 = 50;

/// The text of a comment, and what it is about.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CommentText {
    /// Lines of a file, or the file.
    #[serde(flatten)]
    pub place: CommentPlace,
    /// Text of the comment, at most 10,000 characters.
    pub body: String,
}

/// A comment that its author has not sent yet.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommentDraft {
    /// Id of the comment.
    pub id: Uuid,
    /// Lines of a file, or the file.
    #[serde(flatten)]
    pub place: CommentPlace,
    /// Text of the comment.
    pub body: String,
    /// Time at which the comment was created, ISO 8601.
    pub created_at: String,
}

/// A comment of a review.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmittedComment {
    /// Id of the comment.
    pub id: Uuid,
    /// The comment with its number in the review.
    #[serde(flatten)]
    pub comment: ReviewComment,
    /// Answer of the loop; null without one.
    pub answer: Option<CommentAnswer>,
}

/// A finished review.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReview {
    /// Id of the review.
    pub id: Uuid,
    /// Result of the review.
    pub kind: ReviewKind,
    /// What the author says about the change as a whole; null without it.
    pub summary: Option<String>,
    /// Author of the review.
    pub user: Option<LoopUser>,
    /// Id of the loop that answers the comments; null without one.
    pub loop_id: Option<Uuid>,
    /// Status of that loop; null without one.
    pub loop_status: Option<LoopStatus>,
    /// Reviewed commit of each repository, by name.
    pub heads: BTreeMap<String, String>,
    /// Time of the review, ISO 8601.
    pub created_at: String,
    /// The comments in the order of their numbers.
    pub comments: Vec<SubmittedComment>,
}

/// Comments on the changes of a change request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeReviews {
    /// Comments of the caller that are not sent yet, oldest first.
    pub drafts: Vec<CommentDraft>,
    /// Newest 50 reviews of all users, newest first.
    pub reviews: Vec<ChangeReview>,
}

/// What a user sends at the end of a review.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewSubmission {
    /// Ids of drafts of the user in the order of their numbers, at most 200.
    pub comment_ids: Vec<Uuid>,
    /// What the user says about the change as a whole, at most 10,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Reviewed commit of each repository, by name.
    #[serde(default)]
    pub heads: BTreeMap<String, String>,
}

impl ReviewSubmission {
    /// Returns 400 for a submission without content, or with too much of it.
    pub fn check(&self, path: &str) -> ApiResult<()> {
        let mut issues = ValidationIssues::default();
        let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let (count, summary) = (self.comment_ids.len(), self.summary.as_deref().unwrap_or_default());
        issues.require(
            count > 0 || !summary.trim().is_empty(),
            &at("commentIds"),
            "must have a comment, or the review a summary",
        );
        issues.require(count <= COMMENT_LIMIT, &at("commentIds"), "must have at most 200 item(s)");
        issues.length(&at("summary"), summary, 0, TEXT_LIMIT);
        check_heads(&mut issues, &at("heads"), &self.heads);
        issues.into_result()
    }
}

/// Checks the commits of a review.
pub fn check_heads(issues: &mut ValidationIssues, path: &str, heads: &BTreeMap<String, String>) {
    let is_commit = |text: &String| text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let are_heads = heads.len() <= 10 && heads.values().all(is_commit);
    issues.require(are_heads, path, "must be commits of at most 10 repositories");
}

/// A review that starts a loop.
#[derive(Debug, Clone)]
pub enum LoopReview {
    /// The review is finished together with the start.
    New {
        /// The document that the change request begins with.
        document_id: Uuid,
        submission: ReviewSubmission,
        comments: ReviewComments,
    },
    /// The changes were approved. The loop only delivers them.
    Approval {
        /// The document that the change request begins with.
        document_id: Uuid,
        heads: BTreeMap<String, String>,
    },
    /// The review of an earlier loop, which this one replaces.
    Of(Uuid),
}

/// Returns the drafts of the caller, and the reviews of all users.
pub async fn list(db: &impl ConnectionTrait, caller: &Caller, document_id: Uuid) -> ApiResult<ChangeReviews> {
    use review_comment::Column;
    let drafts = drafts_of(caller, document_id).order_by_asc(Column::CreatedAt).order_by_asc(Column::Id);
    let drafts = drafts.all(db).await?;
    let reviews = change_review::Entity::find()
        .filter(change_review::Column::DocumentId.eq(document_id))
        .order_by_desc(change_review::Column::CreatedAt)
        .order_by_desc(change_review::Column::Id)
        .limit(REVIEWS_SHOWN)
        .all(db)
        .await?;
    let comments = review_comment::Entity::find()
        .filter(Column::ReviewId.is_in(reviews.iter().map(|review| review.id)))
        .order_by_asc(Column::Number)
        .all(db)
        .await?;
    let mut by_review: HashMap<Uuid, Vec<SubmittedComment>> = HashMap::new();
    for row in comments {
        let Some(review) = row.review_id else { continue };
        let answer = parse_json(row.answer.as_ref());
        let view = SubmittedComment { id: row.id, answer, comment: comment(row)? };
        by_review.entry(review).or_default().push(view);
    }
    let authors = users(db, reviews.iter().map(|review| review.user_id)).await?;
    let statuses: Vec<(Uuid, StoredEnum<LoopStatus>)> = agent_loop::Entity::find()
        .select_only()
        .columns([agent_loop::Column::Id, agent_loop::Column::Status])
        .filter(agent_loop::Column::Id.is_in(reviews.iter().filter_map(|review| review.loop_id)))
        .into_tuple()
        .all(db)
        .await?;
    let statuses: HashMap<Uuid, LoopStatus> =
        statuses.into_iter().map(|(id, status)| (id, status.0)).collect();
    let view = |row: change_review::Model| ChangeReview {
        id: row.id,
        kind: row.kind.0,
        summary: row.summary,
        user: authors.get(&row.user_id).cloned(),
        loop_id: row.loop_id,
        loop_status: row.loop_id.and_then(|id| statuses.get(&id).copied()),
        heads: parse_json(Some(&row.heads)).unwrap_or_default(),
        created_at: iso(row.created_at),
        comments: by_review.remove(&row.id).unwrap_or_default(),
    };
    Ok(ChangeReviews {
        drafts: drafts.into_iter().map(draft).collect::<ApiResult<_>>()?,
        reviews: reviews.into_iter().map(view).collect(),
    })
}

/// Creates a draft of the caller, or changes it. Returns 409 for a comment that was sent, and 404 for one of another
/// user.
pub async fn store_draft(
    tx: &DatabaseTransaction,
    caller: &Caller,
    document_id: Uuid,
    id: Uuid,
    text: CommentText,
) -> ApiResult<CommentDraft> {
    let place = serde_json::to_value(&text.place)?;
    let mut issues = ValidationIssues::default();
    issues.length("body", text.body.trim(), 1, TEXT_LIMIT);
    issues.require(!text.place.repository.is_empty(), "repository", "must not be empty");
    issues.require(!text.place.path.is_empty(), "path", "must not be empty");
    let is_range = text.place.lines.as_ref().is_none_or(|lines| (1..=lines.to).contains(&lines.from));
    issues.require(is_range, "lines", "must be a range of lines from 1");
    issues.require(place.to_string().len() <= PLACE_LIMIT, "lines.anchor", "is too large");
    issues.into_result()?;
    if let Some(stored) = find(tx, caller, document_id, id).await? {
        let row = review_comment::ActiveModel {
            id: Set(id),
            place: Set(place),
            body: Set(text.body),
            ..Default::default()
        };
        require_draft(&stored)?;
        return draft(row.update(tx).await?);
    }
    if drafts_of(caller, document_id).count(tx).await? >= COMMENT_LIMIT as u64 {
        return Err(conflict("You have 200 comments that are not sent. Send or delete some of them first."));
    }
    let row = review_comment::ActiveModel {
        id: Set(id),
        document_id: Set(document_id),
        user_id: Set(caller.user.id),
        review_id: Set(None),
        number: Set(None),
        place: Set(place),
        body: Set(text.body),
        answer: Set(None),
        created_at: Set(now()),
    };
    draft(review_comment::Entity::insert(row).exec_with_returning(tx).await?)
}

/// Deletes a draft of the caller. A no-op for a comment that does not exist.
pub async fn delete_draft(
    tx: &DatabaseTransaction,
    caller: &Caller,
    document_id: Uuid,
    id: Uuid,
) -> ApiResult<()> {
    if let Some(stored) = find(tx, caller, document_id, id).await? {
        require_draft(&stored)?;
        stored.delete(tx).await?;
    }
    Ok(())
}

/// Returns the comments of a submission with their numbers. Returns 409 unless all of them are drafts of the caller.
pub async fn submitted(
    db: &impl ConnectionTrait,
    caller: &Caller,
    document_id: Uuid,
    submission: &ReviewSubmission,
) -> ApiResult<ReviewComments> {
    let ids = submission.comment_ids.iter().copied();
    let rows = drafts_of(caller, document_id).filter(review_comment::Column::Id.is_in(ids)).all(db).await?;
    let mut rows: HashMap<Uuid, review_comment::Model> = rows.into_iter().map(|row| (row.id, row)).collect();
    let mut comments = Vec::new();
    for (number, id) in (1..).zip(&submission.comment_ids) {
        let row = rows.remove(id).ok_or_else(changed)?;
        comments.push(comment(review_comment::Model { number: Some(number), ..row })?);
    }
    let summary = submission.summary.clone().filter(|summary| !summary.trim().is_empty());
    Ok(ReviewComments { summary, comments })
}

/// Finishes a review: its comments are no longer drafts.
pub async fn finish(
    tx: &DatabaseTransaction,
    caller: &Caller,
    document_id: Uuid,
    kind: ReviewKind,
    submission: ReviewSubmission,
    loop_id: Option<Uuid>,
) -> ApiResult<()> {
    use review_comment::Column;
    let id = Uuid::now_v7();
    let review = change_review::ActiveModel {
        id: Set(id),
        document_id: Set(document_id),
        user_id: Set(caller.user.id),
        kind: Set(StoredEnum(kind)),
        summary: Set(submission.summary.filter(|summary| !summary.trim().is_empty())),
        loop_id: Set(loop_id),
        heads: Set(json!(submission.heads)),
        created_at: Set(now()),
    };
    change_review::Entity::insert(review).exec_without_returning(tx).await?;
    for (number, comment) in (1_i32..).zip(submission.comment_ids) {
        // A concurrent request may have sent or deleted the comment.
        let updated = review_comment::Entity::update_many()
            .col_expr(Column::ReviewId, Expr::value(id))
            .col_expr(Column::Number, Expr::value(number))
            .filter(Column::Id.eq(comment))
            .filter(Column::UserId.eq(caller.user.id))
            .filter(Column::DocumentId.eq(document_id))
            .filter(Column::ReviewId.is_null())
            .exec(tx)
            .await?;
        if updated.rows_affected == 0 {
            return Err(changed());
        }
    }
    Ok(())
}

/// Assigns the review of an earlier loop to another one.
pub async fn reassign(tx: &DatabaseTransaction, from: Uuid, to: Uuid) -> Result<(), DbErr> {
    change_review::Entity::update_many()
        .col_expr(change_review::Column::LoopId, Expr::value(to))
        .filter(change_review::Column::LoopId.eq(from))
        .exec(tx)
        .await?;
    Ok(())
}

/// Returns the comments that a loop has to answer; `None` without a review.
pub async fn of_loop(db: &impl ConnectionTrait, loop_id: Uuid) -> ApiResult<Option<ReviewComments>> {
    let review = find_of_loop(loop_id, ReviewKind::RequestChanges).one(db).await?;
    let Some(review) = review else { return Ok(None) };
    let comments = review_comment::Entity::find()
        .filter(review_comment::Column::ReviewId.eq(review.id))
        .order_by_asc(review_comment::Column::Number)
        .all(db)
        .await?;
    let comments = comments.into_iter().map(comment).collect::<ApiResult<_>>()?;
    Ok(Some(ReviewComments { summary: review.summary, comments }))
}

/// Returns the approved commits by repository of a loop that only delivers; `None` for other loops.
pub async fn approved_commits(
    db: &impl ConnectionTrait,
    loop_id: Uuid,
) -> Result<Option<BTreeMap<String, String>>, DbErr> {
    let review = find_of_loop(loop_id, ReviewKind::Approve).one(db).await?;
    Ok(review.map(|review| parse_json(Some(&review.heads)).unwrap_or_default()))
}

fn find_of_loop(loop_id: Uuid, kind: ReviewKind) -> Select<change_review::Entity> {
    use change_review::Column;
    change_review::Entity::find().filter(Column::LoopId.eq(loop_id)).filter(Column::Kind.eq(StoredEnum(kind)))
}

/// Stores the answers that the last event of a loop contains.
pub async fn store_answers(
    tx: &DatabaseTransaction,
    loop_id: Uuid,
    answers: Option<&Value>,
) -> ApiResult<()> {
    use review_comment::Column;
    let Some(answers) = answers else { return Ok(()) };
    let rows = of_review_of(loop_id).all(tx).await?;
    let number = |row: &review_comment::Model| row.number.and_then(|number| u32::try_from(number).ok());
    let numbers: Vec<u32> = rows.iter().filter_map(number).collect();
    let read = ReviewAnswers::read(&json!({"answers": answers}), &numbers);
    for entry in read.answers {
        let Some(row) = rows.iter().find(|row| number(row) == Some(entry.number)) else { continue };
        review_comment::Entity::update_many()
            .col_expr(Column::Answer, Expr::value(serde_json::to_value(&entry.answer)?))
            .filter(Column::Id.eq(row.id))
            .exec(tx)
            .await?;
    }
    Ok(())
}

/// Returns the number of comments that a loop should have answered, but has not.
pub async fn unanswered(db: &impl ConnectionTrait, loop_id: Uuid) -> Result<u64, DbErr> {
    of_review_of(loop_id).filter(review_comment::Column::Answer.is_null()).count(db).await
}

fn of_review_of(loop_id: Uuid) -> Select<review_comment::Entity> {
    let reviews = change_review::Entity::find()
        .select_only()
        .column(change_review::Column::Id)
        .filter(change_review::Column::LoopId.eq(loop_id));
    review_comment::Entity::find().filter(review_comment::Column::ReviewId.in_subquery(reviews.into_query()))
}

fn drafts_of(caller: &Caller, document_id: Uuid) -> Select<review_comment::Entity> {
    use review_comment::Column;
    review_comment::Entity::find()
        .filter(Column::DocumentId.eq(document_id))
        .filter(Column::UserId.eq(caller.user.id))
        .filter(Column::ReviewId.is_null())
}

/// Returns a comment by id. Returns 404 if it belongs to another user or change request.
async fn find(
    db: &impl ConnectionTrait,
    caller: &Caller,
    document_id: Uuid,
    id: Uuid,
) -> ApiResult<Option<review_comment::Model>> {
    let stored = review_comment::Entity::find_by_id(id).one(db).await?;
    match stored {
        Some(row) if row.user_id != caller.user.id || row.document_id != document_id => {
            Err(not_found("Comment"))
        }
        stored => Ok(stored),
    }
}

fn require_draft(row: &review_comment::Model) -> ApiResult<()> {
    if row.review_id.is_none() {
        return Ok(());
    }
    Err(conflict("This comment was already sent. Write another one.").code("comment_sent"))
}

fn changed() -> crate::error::ApiError {
    conflict("A comment of this review was already sent or deleted. Reload the page and check the comments.")
        .code("comments_changed")
}

fn draft(row: review_comment::Model) -> ApiResult<CommentDraft> {
    let created_at = iso(row.created_at);
    Ok(CommentDraft { id: row.id, place: serde_json::from_value(row.place)?, body: row.body, created_at })
}

fn comment(row: review_comment::Model) -> ApiResult<ReviewComment> {
    let number = row.number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
    Ok(ReviewComment { number, place: serde_json::from_value(row.place)?, body: row.body })
}
