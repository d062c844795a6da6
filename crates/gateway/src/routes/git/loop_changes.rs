//! `/api/gateway/git/loop-changes/{loopId}`: what a loop has changed in its worktrees so far, committed or not. The list
//! of files is one response; patches are requested for the files that a page displays.

use axum::Json;
use axum::extract::{Path, State};
use loopgate_api::error::ErrorBody;
use loopgate_api::ids::{BranchName, LoopId};
use loopgate_home::SandboxedPath;
use loopgate_runtime::jobs::JobRepository;
use loopgate_tools::git::{ChangeRange, FilePatch, GitError, ObjectHash, PatchOptions, Patches};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::change_list::RepositoryChanges;
use super::comment_lines::{LocatedLine, RequestedLine, locate};
use crate::app::App;
use crate::approval::{At, Source};
use crate::blocking::spawn_blocking;
use crate::error::{HttpError, JsonResult};
use crate::extract::{JsonBody, QueryMembers};
use crate::lenient;
use crate::route::Endpoint;

/// Largest number of paths in a request for patches. Bounds the memory for their content.
const MAX_PATHS: usize = 40;
/// Largest number of lines in a request. Bounds the number of files that are read for them.
const MAX_LINES: usize = 200;
/// Number of unchanged lines around each change, unless the request has another one.
const CONTEXT: u32 = 3;
const ERROR: &str = "Failed to compare";

/// Query of the list.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "describes the query in the OpenAPI document; it is read member by member")]
struct RangeQuery {
    /// Name of one repository, as the complete list has it. Required with `since` and `commit`
    #[param(example = "acme/shop")]
    repository: Option<String>,
    /// Full hash of a commit: compares it, instead of the base, with the working tree
    #[param(example = "de980441c3ab03a8c07dda1ad27b8a11f39deb1e")]
    since: Option<String>,
    /// Full hash of a commit: lists what this commit changed
    #[param(example = "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade")]
    commit: Option<String>,
}

/// What a loop has changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"repositories": [crate::routes::git::change_list::example()]}))]
pub(crate) struct LoopChanges {
    /// The loop's repositories, the primary one first.
    repositories: Vec<RepositoryChanges>,
}

/// The files whose patches are requested.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"repository": "acme/shop", "paths": ["README.md"]}))]
struct PatchesRequest {
    /// Name of the repository, as the list has it.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    repository: Option<String>,
    /// Full hash of a commit to compare with the working tree, instead of the base.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    since: Option<String>,
    /// Full hash of the commit whose changes are requested.
    #[serde(default, deserialize_with = "lenient::non_empty")]
    commit: Option<String>,
    /// Paths of at most 40 files, as the list has them. For a renamed file, both of its paths.
    #[serde(default, deserialize_with = "lenient::elements")]
    #[schema(required)]
    paths: Vec<String>,
    /// At most 200 lines of comments to find in the comparison.
    #[serde(default, deserialize_with = "lenient::elements")]
    lines: Vec<RequestedLine>,
    /// Number of unchanged lines around each change; 3 by default.
    #[serde(default, deserialize_with = "lenient::any")]
    context: Option<u32>,
    /// Whether lines that differ only in white space count as equal; false by default.
    #[serde(default, deserialize_with = "lenient::any")]
    ignore_white_space: Option<bool>,
}

/// Patches of the requested files.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"patches": [{"path": "README.md", "patch": "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Shop\n+# The shop\n"}], "remaining": []}))]
pub(crate) struct LoopPatches {
    /// Patches in the order of the list. A file that no longer differs has none.
    patches: Vec<LoopPatch>,
    /// Paths of files whose patches have to be requested again, because the response would be too large.
    remaining: Vec<String>,
    /// The requested lines, in the order of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    lines: Vec<LocatedLine>,
}

/// The patch of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"path": "README.md", "patch": ""}))]
struct LoopPatch {
    path: String,
    /// The patch as `git diff` prints it; empty if the file differs only in white space, which is ignored.
    patch: String,
}

/// List what a loop has changed
///
/// Compares the working tree, with uncommitted and untracked files, with the base: the commit at which the loop's branch
/// left its base branch, else the commit at which the loop started. Changes nothing in the repository, and starts no
/// program that the repository names.
#[utoipa::path(get, path = "/api/gateway/git/loop-changes/{loopId}", operation_id = "loop_changes", tag = "git",
    params(("loopId" = String, Path, description = "Id of the loop", example = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718"), RangeQuery),
    responses(
        (status = 200, body = LoopChanges, description = "The changed files of each repository"),
        (status = 400, body = ErrorBody, description = "A commit is not a full hash", example = json!(ErrorBody::new(400, "since must be a full commit hash"))),
        (status = 404, body = ErrorBody, description = "This machine has no record of the loop, or the loop has no worktree", example = json!(ErrorBody::new(404, "This machine has no worktree of the loop"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "Failed to compare: git diff failed"))),
        (status = 501, body = ErrorBody, description = "The gateway runs without a runtime", example = json!(ErrorBody::not_implemented())),
    ))]
async fn changes(
    State(app): State<App>,
    Path(loop_id): Path<String>,
    query: QueryMembers,
) -> JsonResult<LoopChanges> {
    let range = RequestedComparison::parse(query.get("since"), query.get("commit"))?;
    let wanted = query.get("repository").filter(|name| !name.is_empty());
    if wanted.is_none() && range != RequestedComparison::Base {
        return Err(HttpError::missing_field("repository is required with since and commit"));
    }
    let _permit = app.diffs.acquire().await?;
    let mut repositories = Vec::new();
    for repository in repositories_of(&app, &loop_id, wanted).await? {
        repositories.push(changes_of(&app, &repository, &range).await?);
    }
    Ok(Json(LoopChanges { repositories }))
}

/// Return patches of files that a loop has changed
#[utoipa::path(post, path = "/api/gateway/git/loop-changes/{loopId}", operation_id = "loop_patches", tag = "git",
    params(("loopId" = String, Path, description = "Id of the loop", example = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718")),
    request_body = PatchesRequest,
    responses(
        (status = 200, body = LoopPatches, description = "The patches"),
        (status = 400, body = ErrorBody, description = "A member is missing or invalid", example = json!(ErrorBody::missing_field("repository and paths are required"))),
        (status = 403, body = ErrorBody, description = "The worktree is outside the sandbox", example = json!(ErrorBody::directory_not_allowed())),
        (status = 404, body = ErrorBody, description = "The loop has no such repository on this machine", example = json!(ErrorBody::new(404, "This machine has no worktree of the loop"))),
        (status = 500, body = ErrorBody, description = "git failed", example = json!(ErrorBody::new(500, "Failed to compare: git diff failed"))),
        (status = 501, body = ErrorBody, description = "The gateway runs without a runtime", example = json!(ErrorBody::not_implemented())),
    ))]
async fn patches(
    State(app): State<App>,
    Path(loop_id): Path<String>,
    JsonBody(body): JsonBody<PatchesRequest>,
) -> JsonResult<LoopPatches> {
    let name = body.repository.as_deref().filter(|_| !(body.paths.is_empty() && body.lines.is_empty()));
    let name = name.ok_or_else(|| HttpError::missing_field("repository and paths are required"))?;
    if body.lines.len() > MAX_LINES {
        return Err(HttpError::bad_request(format!("lines must be at most {MAX_LINES} lines")));
    }
    if body.paths.len() > MAX_PATHS || body.paths.iter().any(|path| path.contains('\0')) {
        return Err(HttpError::bad_request(format!("paths must be at most {MAX_PATHS} file names")));
    }
    let range = RequestedComparison::parse(body.since.as_deref(), body.commit.as_deref())?;
    let options = PatchOptions {
        context: body.context.unwrap_or(CONTEXT),
        ignore_white_space: body.ignore_white_space.unwrap_or_default(),
    };
    let _permit = app.diffs.acquire().await?;
    let repositories = repositories_of(&app, &loop_id, Some(name)).await?;
    let repository = repositories.first().ok_or_else(no_worktree)?;
    let worktree = worktree_of(&app, repository).await?.ok_or_else(no_worktree)?;
    let compared = async {
        let base = base_of(&app, repository, &worktree).await?;
        let range = range.resolve(&app, &worktree, base.as_ref()).await?;
        let patches = app.git.patches(worktree.canonical(), &range, &body.paths, options).await?;
        Ok((patches, locate(&app, worktree.canonical(), &range, body.lines).await))
    };
    let (patches, lines) = compared.await.map_err(|error: GitError| HttpError::operation(ERROR, &error))?;
    Ok(Json(LoopPatches { lines, ..patches.into() }))
}

/// Members of a request that name the loop.
const SOURCES: &[Source] = &[Source::Loop(At::Segment("loopId"))];

pub(crate) fn list_endpoint() -> Endpoint {
    Endpoint::new(routes!(changes), SOURCES)
}

pub(crate) fn patches_endpoint() -> Endpoint {
    Endpoint::new(routes!(patches), SOURCES)
}

/// What a request compares.
#[derive(Debug, PartialEq, Eq)]
enum RequestedComparison {
    Base,
    Since(ObjectHash),
    Commit(ObjectHash),
}

impl RequestedComparison {
    fn parse(since: Option<&str>, commit: Option<&str>) -> Result<Self, HttpError> {
        let hash = |name: &str, text: &str| {
            ObjectHash::parse(text)
                .ok_or_else(|| HttpError::bad_request(format!("{name} must be a full commit hash")))
        };
        match (commit, since) {
            (Some(commit), _) => Ok(Self::Commit(hash("commit", commit)?)),
            (None, Some(since)) => Ok(Self::Since(hash("since", since)?)),
            (None, None) => Ok(Self::Base),
        }
    }

    async fn resolve(
        &self,
        app: &App,
        worktree: &SandboxedPath,
        base: Option<&ObjectHash>,
    ) -> Result<ChangeRange, GitError> {
        match self {
            Self::Base => Ok(base.map_or_else(ChangeRange::everything, ChangeRange::since)),
            Self::Since(commit) => Ok(ChangeRange::since(commit)),
            Self::Commit(commit) => app.git.range_of_commit(worktree.canonical(), commit).await,
        }
    }
}

/// Returns the repositories of a loop, or the one with this name.
async fn repositories_of(
    app: &App,
    loop_id: &str,
    name: Option<&str>,
) -> Result<Vec<JobRepository>, HttpError> {
    let runtime = app.runtime.as_ref();
    let runtime = runtime.ok_or_else(|| HttpError::not_implemented(&http::Method::GET, "loop-changes"))?;
    let id: LoopId = loop_id.parse().map_err(|_| no_worktree())?;
    let job = runtime
        .jobs
        .get(id)
        .await
        .map_err(|error| HttpError::operation("Failed to read the loop", &error))?;
    let mut repositories = job.map(|job| job.repositories()).unwrap_or_default();
    repositories.retain(|repository| name.is_none_or(|name| repository.name == name));
    if repositories.is_empty() { Err(no_worktree()) } else { Ok(repositories) }
}

fn no_worktree() -> HttpError {
    HttpError::not_found("This machine has no worktree of the loop")
}

async fn changes_of(
    app: &App,
    repository: &JobRepository,
    range: &RequestedComparison,
) -> Result<RepositoryChanges, HttpError> {
    let Some(worktree) = worktree_of(app, repository).await? else {
        return Ok(RepositoryChanges::without_worktree(&repository.name));
    };
    let directory = worktree.canonical();
    let compared = async {
        let base = base_of(app, repository, &worktree).await?;
        let range = range.resolve(app, &worktree, base.as_ref()).await?;
        let base = base.as_ref().map(ObjectHash::as_str);
        let (files, head, branch) = tokio::try_join!(
            app.git.file_changes(directory, &range),
            app.git.commit_of(directory, "HEAD"),
            app.git.current_branch(directory),
        )?;
        let commits = match head {
            Some(_) => app.git.commits_since(directory, base).await?,
            None => Vec::new(),
        };
        let base = base.map(|commit| (repository.base_branch.as_deref(), commit));
        Ok(RepositoryChanges::new(&repository.name, directory, base, head, branch, commits, files))
    };
    compared.await.map_err(|error: GitError| HttpError::operation(ERROR, &error))
}

/// Returns the worktree, or `None` if it was removed.
async fn worktree_of(app: &App, repository: &JobRepository) -> Result<Option<SandboxedPath>, HttpError> {
    let (app, path) = (app.clone(), repository.worktree.clone());
    let checked = spawn_blocking(move || {
        let worktree = app.sandbox.check(path)?;
        let exists = worktree.canonical().is_dir();
        Ok(exists.then_some(worktree))
    });
    checked.await?
}

/// Returns the commit at which the branch of a loop left its base branch, else the commit at which the loop started.
/// `None` in a repository that had no commit.
async fn base_of(
    app: &App,
    repository: &JobRepository,
    worktree: &SandboxedPath,
) -> Result<Option<ObjectHash>, GitError> {
    let directory = worktree.canonical();
    let branch = repository.base_branch.as_deref().and_then(|branch| branch.parse::<BranchName>().ok());
    let base = match branch {
        Some(branch) => app.git.base_ref(directory, &branch).await?,
        None => None,
    };
    if let Some(base) = base
        && let Some(commit) = app.git.merge_base(directory, &base, "HEAD").await?
    {
        return Ok(ObjectHash::parse(&commit));
    }
    Ok(repository.start_commit.as_deref().and_then(ObjectHash::parse))
}

impl From<Patches> for LoopPatches {
    fn from(Patches { patches, remaining }: Patches) -> Self {
        let patches = patches.into_iter().map(|FilePatch { path, patch }| LoopPatch { path, patch });
        Self { patches: patches.collect(), remaining, lines: Vec::new() }
    }
}
