//! REST API of the test code host.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State as Shared};
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::HostHandle;
use super::graphql::{branch_of, check_branches};
use super::objects::{GitFacts, pull_url, rest};
use super::state::{HostState, HostedPull, Label, NewInline, NewPull, PullState};

type RepoPath = Path<(String, String)>;
pub(super) type PullPath = Path<(String, String, u64)>;
type Paging = Query<HashMap<String, String>>;

/// An error response with its JSON body.
pub(super) struct RestError(pub(super) StatusCode, pub(super) Value);

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        (self.0, axum::Json(self.1)).into_response()
    }
}

pub(super) type RestResult = Result<Response, RestError>;

pub(super) fn not_found() -> RestError {
    RestError(StatusCode::NOT_FOUND, json!({"message": "Not Found", "status": "404"}))
}

fn invalid(message: &str) -> RestError {
    let errors = json!([{"message": message, "code": "custom"}]);
    RestError(
        StatusCode::UNPROCESSABLE_ENTITY,
        json!({"message": "Validation Failed", "errors": errors, "status": "422"}),
    )
}

pub(super) fn router() -> Router<Arc<HostHandle>> {
    Router::new()
        .route("/", get(async || axum::Json(json!({"current_user_url": "https://api.github.com/user"}))))
        .route("/user", get(user))
        .route("/rate_limit", get(rate_limit))
        .route("/repos/{owner}/{name}", get(repository))
        .route("/repos/{owner}/{name}/branches", get(branches))
        .route("/repos/{owner}/{name}/branches/{*branch}", get(branch))
        .route("/repos/{owner}/{name}/labels", get(labels).post(create_label))
        .route("/repos/{owner}/{name}/pulls", get(pulls).post(create_pull))
        .route("/repos/{owner}/{name}/pulls/{number}", get(pull).patch(update_pull))
        .route("/repos/{owner}/{name}/pulls/{number}/files", get(files))
        .route("/repos/{owner}/{name}/pulls/{number}/commits", get(commits))
        .route("/repos/{owner}/{name}/pulls/{number}/reviews", get(reviews).post(create_review))
        .route("/repos/{owner}/{name}/pulls/{number}/comments", get(inline).post(create_inline))
        .route("/repos/{owner}/{name}/pulls/{number}/comments/{comment}/replies", post(reply))
        .route("/repos/{owner}/{name}/issues/{number}/comments", get(comments).post(create_comment))
        .route("/repos/{owner}/{name}/issues/{number}/labels", post(add_labels))
        .fallback(async || not_found())
}

/// Redirects a request for the old name of a renamed repository.
pub(super) fn redirect_renamed(state: &HostState, request: &Parts) -> Option<Response> {
    let path = request.uri.path();
    let (old, new) = state.moved.iter().find(|(old, _)| {
        let suffix = path.strip_prefix("/repos/").and_then(|path| path.strip_prefix(old.as_str()));
        suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('/'))
    })?;
    let query = request.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let location = format!("https://api.github.com{}{query}", path.replacen(old.as_str(), new, 1));
    // 307 makes the client repeat the method and the body; a 301 may turn a POST into a GET.
    let (status, message) = match request.method {
        Method::GET => (StatusCode::MOVED_PERMANENTLY, "Moved Permanently"),
        _ => (StatusCode::TEMPORARY_REDIRECT, "Temporary Redirect"),
    };
    let body = json!({"message": message, "url": location});
    Some((status, [(header::LOCATION, location)], axum::Json(body)).into_response())
}

async fn user(Shared(host): Shared<Arc<HostHandle>>) -> Response {
    axum::Json(rest::user(&host.read(|state| state.viewer.clone()))).into_response()
}

async fn rate_limit() -> Response {
    let core = json!({"limit": 5000, "remaining": 4999, "used": 1, "reset": 0});
    axum::Json(json!({"resources": {"core": core, "graphql": core}, "rate": core})).into_response()
}

async fn repository(Shared(host): Shared<Arc<HostHandle>>, Path((owner, name)): RepoPath) -> RestResult {
    let full_name = format!("{owner}/{name}");
    let row = host.read(|s| s.repositories.get(&full_name).map(|r| rest::repository(&full_name, r)));
    Ok(axum::Json(row.ok_or_else(not_found)?).into_response())
}

async fn branches(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): RepoPath,
    page: Paging,
) -> RestResult {
    let branches = host.remotes.branches(&format!("{owner}/{name}")).map_err(|_| not_found())?;
    Ok(paginate(branches.iter().map(|(name, sha)| branch_row(name, sha)).collect(), &page))
}

async fn branch(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, branch)): Path<(String, String, String)>,
) -> RestResult {
    let branches = host.remotes.branches(&format!("{owner}/{name}")).map_err(|_| not_found())?;
    let branch_not_found =
        || RestError(StatusCode::NOT_FOUND, json!({"message": "Branch not found", "status": "404"}));
    let sha = branches.get(&branch).ok_or_else(branch_not_found)?;
    Ok(axum::Json(branch_row(&branch, sha)).into_response())
}

fn branch_row(name: &str, sha: &str) -> Value {
    json!({"name": name, "commit": {"sha": sha}, "protected": false})
}

async fn labels(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): RepoPath,
    page: Paging,
) -> RestResult {
    let full_name = format!("{owner}/{name}");
    let rows = host.read(|state| {
        let labels = &state.repositories.get(&full_name)?.labels;
        Some(labels.iter().map(rest::label).collect())
    });
    Ok(paginate(rows.ok_or_else(not_found)?, &page))
}

async fn create_label(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): RepoPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    let label = Label {
        name: text(&body, "name"),
        description: text(&body, "description"),
        color: text(&body, "color"),
    };
    let full_name = format!("{owner}/{name}");
    host.write(|state| {
        let repository = state.repositories.get_mut(&full_name).ok_or_else(not_found)?;
        // GitHub's error for a duplicate, which clients recognize by its code.
        if repository.labels.iter().any(|existing| existing.name == label.name) {
            let errors = json!([{"resource": "Label", "code": "already_exists", "field": "name"}]);
            let body = json!({"message": "Validation Failed", "errors": errors});
            return Err(RestError(StatusCode::UNPROCESSABLE_ENTITY, body));
        }
        let row = rest::label(&label);
        repository.labels.push(label);
        Ok((StatusCode::CREATED, axum::Json(row)).into_response())
    })
}

async fn pulls(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): RepoPath,
    page: Paging,
) -> RestResult {
    let full_name = format!("{owner}/{name}");
    let state = page.get("state").map_or("open", String::as_str).to_owned();
    let head = page.get("head").map(|head| branch_of(head));
    let matches_filters = |pull: &&HostedPull| {
        let open = pull.state == PullState::Open;
        (state == "all" || (state == "open") == open)
            && head.as_ref().is_none_or(|head| *head == pull.head)
            && page.get("base").is_none_or(|base| *base == pull.base)
    };
    let rows = host.read(|state| {
        let pulls = &state.repositories.get(&full_name)?.pulls;
        Some(
            pulls
                .iter()
                .rev()
                .filter(matches_filters)
                .map(|pull| pull_row(&host, &full_name, pull))
                .collect(),
        )
    });
    Ok(paginate(rows.ok_or_else(not_found)?, &page))
}

async fn create_pull(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): RepoPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    let full_name = format!("{owner}/{name}");
    let new = NewPull {
        title: text(&body, "title"),
        body: text(&body, "body"),
        base: text(&body, "base"),
        head: branch_of(&text(&body, "head")),
        head_repository: None,
        draft: body["draft"] == true,
    };
    check_branches(&host.remotes, &full_name, &new).map_err(|message| invalid(&message))?;
    let number = host.write(|state| state.open_pull(&full_name, new)).map_err(|m| invalid(&m))?;
    pull_response(&host, &full_name, number, StatusCode::CREATED)
}

async fn pull(Shared(host): Shared<Arc<HostHandle>>, Path((owner, name, number)): PullPath) -> RestResult {
    pull_response(&host, &format!("{owner}/{name}"), number, StatusCode::OK)
}

async fn update_pull(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    let full_name = format!("{owner}/{name}");
    host.write(|state| {
        let pull = state.pull_mut(&full_name, number).ok_or_else(not_found)?;
        for (member, field) in
            [("title", &mut pull.title), ("body", &mut pull.body), ("base", &mut pull.base)]
        {
            if let Some(value) = body[member].as_str() {
                value.clone_into(field);
            }
        }
        match body["state"].as_str() {
            Some("closed") => pull.state = PullState::Closed,
            Some("open") => pull.state = PullState::Open,
            _ => {}
        }
        Ok(())
    })?;
    pull_response(&host, &full_name, number, StatusCode::OK)
}

async fn files(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    page: Paging,
) -> RestResult {
    let full_name = format!("{owner}/{name}");
    let facts = facts(&host, &full_name, number)?;
    let row = |file: &crate::git::FileChange| {
        let mut row = rest::file(file);
        // Absent for a binary file.
        if let Some(patch) = hunks(&host, &full_name, number, &file.path) {
            row["patch"] = patch.into();
        }
        row
    };
    Ok(paginate(facts.files.iter().map(row).collect(), &page))
}

async fn commits(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    page: Paging,
) -> RestResult {
    let facts = facts(&host, &format!("{owner}/{name}"), number)?;
    let row = |commit: &crate::git::Commit| {
        json!({"sha": commit.sha, "commit": {"message": commit.message,
               "author": {"name": commit.author, "email": commit.email, "date": commit.date}}})
    };
    Ok(paginate(facts.commits.iter().map(row).collect(), &page))
}

async fn reviews(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    page: Paging,
) -> RestResult {
    rows(&host, &format!("{owner}/{name}"), number, &page, |url, pull| {
        pull.reviews.iter().map(|review| rest::review(url, review)).collect()
    })
}

async fn comments(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    page: Paging,
) -> RestResult {
    rows(&host, &format!("{owner}/{name}"), number, &page, |url, pull| {
        pull.comments.iter().map(|comment| rest::comment(url, comment)).collect()
    })
}

async fn inline(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    page: Paging,
) -> RestResult {
    rows(&host, &format!("{owner}/{name}"), number, &page, |url, pull| {
        pull.inline.iter().map(|comment| rest::inline(url, comment)).collect()
    })
}

async fn create_comment(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = text(&parse_json(&body)?, "body");
    let full_name = format!("{owner}/{name}");
    host.write(|state| {
        let viewer = state.viewer.clone();
        state.comment(&full_name, number, &viewer, &body).ok_or_else(not_found)
    })?;
    created(&host, &full_name, number, |url, pull| Some(rest::comment(url, pull.comments.last()?)))
}

async fn create_review(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    let full_name = format!("{owner}/{name}");
    let comments = body["comments"].as_array().cloned().unwrap_or_default();
    let facts = facts(&host, &full_name, number)?;
    if comments.iter().any(|comment| !facts.files.iter().any(|file| file.path == text(comment, "path"))) {
        return Err(invalid("pull_request_review_thread.path is invalid"));
    }
    let is_in_diff = |comment: &Value| {
        hunks(&host, &full_name, number, &text(comment, "path"))
            .is_some_and(|hunks| contains(&hunks, comment))
    };
    if !comments.iter().all(is_in_diff) {
        return Err(invalid("pull_request_review_thread.line must be part of the diff"));
    }
    let verdict = match body["event"].as_str() {
        Some("APPROVE") => "APPROVED",
        Some("REQUEST_CHANGES") => "CHANGES_REQUESTED",
        _ => "COMMENTED",
    };
    host.write(|state| {
        let viewer = state.viewer.clone();
        let review =
            state.review(&full_name, number, &viewer, verdict, &text(&body, "body")).ok_or_else(not_found)?;
        for comment in &comments {
            let new = NewInline {
                author: viewer.clone(),
                body: text(comment, "body"),
                path: text(comment, "path"),
                line: comment["line"].as_u64(),
                review: Some(review),
                ..NewInline::default()
            };
            state.inline(&full_name, number, new).ok_or_else(not_found)?;
        }
        Ok(())
    })?;
    created(&host, &full_name, number, |url, pull| Some(rest::review(url, pull.reviews.last()?)))
}

async fn create_inline(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    let full_name = format!("{owner}/{name}");
    let facts = facts(&host, &full_name, number)?;
    let path = text(&body, "path");
    if !facts.files.iter().any(|file| file.path == path) {
        return Err(invalid("pull_request_review_thread.path is invalid"));
    }
    let line = body["line"].as_u64();
    // GitHub also accepts comments on a whole file and replies, both without a line.
    if line.is_none() && body["subject_type"] != "file" && body["in_reply_to"].is_null() {
        return Err(invalid("pull_request_review_thread.line must be part of the diff"));
    }
    let new = NewInline {
        body: text(&body, "body"),
        path,
        line,
        in_reply_to: body["in_reply_to"].as_u64(),
        ..NewInline::default()
    };
    add_inline(&host, &full_name, number, new)
}

async fn reply(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number, comment)): Path<(String, String, u64, u64)>,
    body: Bytes,
) -> RestResult {
    let new = NewInline {
        body: text(&parse_json(&body)?, "body"),
        in_reply_to: Some(comment),
        ..NewInline::default()
    };
    add_inline(&host, &format!("{owner}/{name}"), number, new)
}

fn add_inline(host: &HostHandle, full_name: &str, number: u64, mut new: NewInline) -> RestResult {
    host.write(|state| {
        new.author = state.viewer.clone();
        state.inline(full_name, number, new).ok_or_else(not_found)
    })?;
    created(host, full_name, number, |url, pull| Some(rest::inline(url, pull.inline.last()?)))
}

async fn add_labels(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): PullPath,
    body: Bytes,
) -> RestResult {
    let body = parse_json(&body)?;
    // The API accepts an object with `labels` as well as a bare array.
    let names = body["labels"].as_array().or_else(|| body.as_array()).cloned().unwrap_or_default();
    let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    host.write(|state| state.add_labels(&format!("{owner}/{name}"), number, &names)).ok_or_else(not_found)?;
    let rows: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    Ok(axum::Json(rows).into_response())
}

fn facts(host: &HostHandle, full_name: &str, number: u64) -> Result<GitFacts, RestError> {
    host.read(|state| {
        state.pull(full_name, number).map(|pull| GitFacts::read(&host.remotes, full_name, pull))
    })
    .ok_or_else(not_found)
}

/// Returns the hunks of a file of a pull request.
fn hunks(host: &HostHandle, full_name: &str, number: u64, path: &str) -> Option<String> {
    let (base, head) = host.read(|state| {
        let pull = state.pull(full_name, number)?;
        Some((pull.base_ref().to_owned(), pull.head_ref(&host.remotes, full_name).ok()?))
    })?;
    host.remotes.hunks(full_name, &base, &head, path).ok().flatten()
}

/// Returns whether hunks contain the line of a comment on its side.
fn contains(hunks: &str, comment: &Value) -> bool {
    let Some(line) = comment["line"].as_u64() else { return false };
    let sign = if comment["side"] == "LEFT" { '-' } else { '+' };
    hunks.lines().filter(|line| line.starts_with("@@ ")).any(|header| {
        let side = header.split(' ').find_map(|part| part.strip_prefix(sign)).unwrap_or_default();
        let (first, count) = side.split_once(',').unwrap_or((side, "1"));
        let (first, count): (u64, u64) = (first.parse().unwrap_or(0), count.parse().unwrap_or(0));
        (first..first + count).contains(&line)
    })
}

fn pull_row(host: &HostHandle, full_name: &str, pull: &HostedPull) -> Value {
    rest::pull(full_name, pull, &GitFacts::read(&host.remotes, full_name, pull))
}

fn pull_response(host: &HostHandle, full_name: &str, number: u64, status: StatusCode) -> RestResult {
    let row = host.read(|state| state.pull(full_name, number).map(|pull| pull_row(host, full_name, pull)));
    Ok((status, axum::Json(row.ok_or_else(not_found)?)).into_response())
}

fn rows(
    host: &HostHandle,
    full_name: &str,
    number: u64,
    page: &Paging,
    rows: impl FnOnce(&str, &HostedPull) -> Vec<Value>,
) -> RestResult {
    let url = pull_url(full_name, number);
    let items = host.read(|state| state.pull(full_name, number).map(|pull| rows(&url, pull)));
    Ok(paginate(items.ok_or_else(not_found)?, page))
}

fn created(
    host: &HostHandle,
    full_name: &str,
    number: u64,
    row: impl FnOnce(&str, &HostedPull) -> Option<Value>,
) -> RestResult {
    let url = pull_url(full_name, number);
    let row = host.read(|state| row(&url, state.pull(full_name, number)?));
    Ok((StatusCode::CREATED, axum::Json(row.ok_or_else(not_found)?)).into_response())
}

/// Returns one page of a list. The `Link` header refers to the next page, which `gh --paginate` follows.
fn paginate(rows: Vec<Value>, query: &HashMap<String, String>) -> Response {
    let number = |name: &str, default: usize| {
        query.get(name).and_then(|value| value.parse().ok()).filter(|n| *n > 0).unwrap_or(default)
    };
    // GitHub's default page size is 30, its maximum 100.
    let (size, page) = (number("per_page", 30).min(100), number("page", 1));
    let total = rows.len();
    let rows: Vec<Value> = rows.into_iter().skip((page - 1) * size).take(size).collect();
    let mut response = axum::Json(rows).into_response();
    if page * size < total {
        let next =
            format!("<https://api.github.com{PATH_MARK}?per_page={size}&page={}>; rel=\"next\"", page + 1);
        if let Ok(link) = next.parse() {
            response.headers_mut().insert(header::LINK, link);
        }
    }
    response
}

/// Placeholder for the request path in `Link` headers; replaced by the outer middleware.
pub(super) const PATH_MARK: &str = "/__path__";

/// Headers of every response that the CLI evaluates.
pub(super) const COMMON_HEADERS: [(HeaderName, &str); 3] = [
    (HeaderName::from_static("x-oauth-scopes"), "gist, read:org, repo, workflow"),
    (HeaderName::from_static("x-ratelimit-remaining"), "4999"),
    (HeaderName::from_static("x-github-media-type"), "github.v3; format=json"),
];

pub(super) fn parse_json(body: &[u8]) -> Result<Value, RestError> {
    serde_json::from_slice(body)
        .map_err(|_| RestError(StatusCode::BAD_REQUEST, json!({"message": "Problems parsing JSON"})))
}

fn text(body: &Value, member: &str) -> String {
    body[member].as_str().unwrap_or_default().to_owned()
}
