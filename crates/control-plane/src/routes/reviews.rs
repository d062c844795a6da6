//! Reviews of changes: drafts of comments, and reviews that start no loop.

use axum::extract::{Path, State};

use super::change_requests::find;
use crate::app::ControlPlaneState;
use crate::auth::UserAuth;
use crate::change_requests::reviews::{
    self, ChangeReviews, CommentDraft, CommentText, ReviewSubmission, submitted,
};
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt};
use crate::extract::{Body, Id};
use crate::store::entity::change_review::ReviewKind;

/// Returns the comments on the changes of a change request: those of the caller that are not sent yet, and all reviews.
#[utoipa::path(get, path = "/change-requests/{idOrSlug}/reviews", operation_id = "change_reviews", tag = "change-requests",
    params(("idOrSlug" = String, Path)),
    responses((status = 200, body = Data<ChangeReviews>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
) -> ApiResult<Data<ChangeReviews>> {
    let read = async {
        let (row, _) = find(&app, &caller, &id_or_slug).await?;
        reviews::list(app.store.reader(), &caller, row.document_id).await
    };
    read.await.context("Failed to fetch reviews").map(Data::new)
}

/// Creates a comment of the caller, or changes it. It is a draft until a review contains it. The client chooses the id.
#[utoipa::path(put, path = "/change-requests/{idOrSlug}/comments/{commentId}", operation_id = "store_comment", tag = "change-requests",
    params(("idOrSlug" = String, Path), ("commentId" = Uuid, Path)), request_body = CommentText,
    responses((status = 200, body = Data<CommentDraft>), ErrorResponses))]
pub async fn store_comment(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path((id_or_slug, id)): Path<(String, String)>,
    Body(body): Body<CommentText>,
) -> ApiResult<Data<CommentDraft>> {
    let stored = async {
        let (row, _) = find(&app, &caller, &id_or_slug).await?;
        let tx = app.store.begin().await?;
        let id = Id::of(&id).or_unknown("Comment")?;
        let draft = reviews::store_draft(&tx, &caller, row.document_id, id, body).await?;
        tx.commit().await?;
        Ok(draft)
    };
    stored.await.context("Failed to store comment").map(Data::new)
}

/// Deletes a comment of the caller that is not sent yet.
#[utoipa::path(delete, path = "/change-requests/{idOrSlug}/comments/{commentId}", operation_id = "delete_comment", tag = "change-requests",
    params(("idOrSlug" = String, Path), ("commentId" = Uuid, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete_comment(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path((id_or_slug, id)): Path<(String, String)>,
) -> ApiResult<Data<DeleteResponse>> {
    let deleted = async {
        let (row, _) = find(&app, &caller, &id_or_slug).await?;
        let tx = app.store.begin().await?;
        let id = Id::of(&id).or_unknown("Comment")?;
        reviews::delete_draft(&tx, &caller, row.document_id, id).await?;
        Ok(tx.commit().await?)
    };
    deleted.await.context("Failed to delete comment").map(|()| DeleteResponse::answer())
}

/// Finishes a review without starting a loop: its comments are notes, or were posted to a pull request.
#[utoipa::path(post, path = "/change-requests/{idOrSlug}/reviews", operation_id = "finish_review", tag = "change-requests",
    params(("idOrSlug" = String, Path)), request_body = ReviewSubmission,
    responses((status = 200, body = Data<ChangeReviews>), ErrorResponses))]
pub async fn finish(
    State(app): State<ControlPlaneState>,
    UserAuth(caller): UserAuth,
    Path(id_or_slug): Path<String>,
    Body(body): Body<ReviewSubmission>,
) -> ApiResult<Data<ChangeReviews>> {
    let finished = async {
        let (row, _) = find(&app, &caller, &id_or_slug).await?;
        let tx = app.store.begin().await?;
        body.check("")?;
        // Fails for comments that are no drafts of the caller.
        submitted(&tx, &caller, row.document_id, &body).await?;
        reviews::finish(&tx, &caller, row.document_id, ReviewKind::Comment, body, None).await?;
        tx.commit().await?;
        reviews::list(app.store.reader(), &caller, row.document_id).await
    };
    finished.await.context("Failed to finish review").map(Data::new)
}
