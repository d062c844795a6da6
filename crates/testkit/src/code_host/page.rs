//! HTML pages of the pull requests, for users of the demo: a list of all, and one page each at the same path
//! as on GitHub.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;

use super::HostHandle;
use super::state::HostedPull;

pub(super) fn router(host: Arc<HostHandle>) -> Router {
    Router::new()
        .route("/", get(show))
        .route("/{owner}/{name}/pull/{number}", get(show_pull))
        .route("/{owner}/{name}/pull/{number}/files", get(show_pull))
        .with_state(host)
}

const STYLE: &str = "body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1f26}\
    h2{margin-bottom:0}small{color:#667}pre{background:#f6f7f9;padding:1rem;overflow:auto;border-radius:8px;\
    white-space:pre-wrap}ins{color:#116329;text-decoration:none}del{color:#a40e26;text-decoration:none}\
    @media(prefers-color-scheme:dark){body{background:#14161b;color:#e4e7ee}pre{background:#1d2027}\
    ins{color:#6fdd8b}del{color:#ff8f9c}}";

async fn show(Shared(host): Shared<Arc<HostHandle>>) -> Html<String> {
    let body = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        for (full_name, repository) in host.read(|state| state.repositories.clone()) {
            // Writing to a string cannot fail.
            let _ = write!(text, "<h1>{}</h1>", escape(&full_name));
            if repository.pulls.is_empty() {
                text.push_str("<p>No pull request yet.</p>");
            }
            for pull in repository.pulls.iter().rev() {
                render(&mut text, &host, &full_name, pull);
            }
        }
        text
    });
    page("Pull requests", &body.await.unwrap_or_default())
}

async fn show_pull(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name, number)): Path<(String, String, u64)>,
) -> Result<Html<String>, StatusCode> {
    let full_name = format!("{owner}/{name}");
    let pull = host.read(|state| state.pull(&full_name, number).cloned()).ok_or(StatusCode::NOT_FOUND)?;
    let title = pull.title.clone();
    let body = tokio::task::spawn_blocking(move || {
        let mut text = format!("<h1>{}</h1>", escape(&full_name));
        render(&mut text, &host, &full_name, &pull);
        text
    });
    Ok(page(&title, &body.await.unwrap_or_default()))
}

fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{}</title><style>{STYLE}</style>{body}</html>",
        escape(title)
    ))
}

fn render(text: &mut String, host: &HostHandle, full_name: &str, pull: &HostedPull) {
    let (number, title, state) = (pull.number, escape(&pull.title), pull.state.as_str().to_lowercase());
    let (head, base) = (escape(&pull.head), escape(&pull.base));
    let _ = write!(text, "<h2>#{number} {title}</h2><small>{state}: {head} into {base}</small>");
    let _ = write!(text, "<pre>{}</pre><ul>", escape(&pull.body));
    for commit in host.remotes.commits(full_name, pull.base_ref(), &pull.head).unwrap_or_default() {
        let (sha, subject) = (commit.sha.get(..7).unwrap_or_default().to_owned(), escape(&commit.subject));
        let _ =
            write!(text, "<li><code>{sha}</code> {subject} <small>{}</small></li>", escape(&commit.author));
    }
    text.push_str("</ul><pre>");
    for line in host.remotes.patch(full_name, pull.base_ref(), &pull.head).unwrap_or_default().lines() {
        let tag = match line.chars().next() {
            Some('+') => "ins",
            Some('-') => "del",
            _ => "span",
        };
        let _ = writeln!(text, "<{tag}>{}</{tag}>", escape(line));
    }
    text.push_str("</pre>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
