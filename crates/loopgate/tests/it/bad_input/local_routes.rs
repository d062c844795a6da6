//! What the routes of git, pull requests and files have in common: how they read a body and a
//! query, and what they say of a place that is outside, not there, or no repository.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::local::{Answer, Local, write};
use crate::pulls::PullsFixture;

/// Routes that name a repository in their query or their body.
const NAMING: [&str; 10] = [
    "git",
    "git/diff",
    "git/branches",
    "git/pr",
    "git/pr/list",
    "git/pr/comments",
    "git/pr/files",
    "git/pr/head-sha",
    "git/pr/reply",
    "git/pr/inline-comment",
];

/// Asks something harmless of a route about the repository at a place.
async fn ask(local: &Local, route: &str, place: &str) -> Result<Answer> {
    let more = match route {
        "git" => json!({"action": "status"}),
        "git/diff" => json!({"filePath": "a"}),
        "git/pr" => json!({"title": "T"}),
        "git/pr/reply" | "git/pr/inline-comment" => json!({"body": "B", "prNumber": 1}),
        _ => return local.get(route, &[("repo", place), ("pr", "1")]).await,
    };
    let mut body = json!({"repoPath": place});
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    local.post(route, body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_are_read_by_one_table() -> Result<()> {
    let local = Local::new().await?;
    let (post, delete) = (Method::POST, Method::DELETE);
    for (method, route, missing, code) in [
        (&post, "git", "repoPath is required", "missing_field"),
        (&post, "git/diff", "filePath and repoPath are required", "missing_field"),
        (&delete, "git/worktree", "worktreePath is required and must be a string", "missing_field"),
        (&post, "git/pr", "repoPath is required", "missing_field"),
        (&post, "git/pr/reply", "Missing 'repoPath' in request body", "missing_field"),
        (&post, "git/pr/inline-comment", "repoPath is required", "missing_field"),
        (&delete, "run-viewer-extract", "Invalid runDir", "invalid_request"),
    ] {
        for broken in ["not json", "{", "null", "{}x"] {
            let answer = local.send(method.clone(), route, broken).await?;
            answer.refused(400, "Invalid JSON body", "invalid_json_body")?;
        }
        let odd = r#"{"repoPath":7,"filePath":true,"worktreePath":[],"runDir":{}}"#;
        for empty in ["", " \n", "[]", "7", "true", "{}", odd] {
            local.send(method.clone(), route, empty).await?.refused(400, missing, code)?;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_value_of_a_query_counts_and_odd_signs_stay() -> Result<()> {
    let local = Local::new().await?;
    write(&local.at("a b/100%zz/inside/x"), "")?;
    write(&local.at("a b/%/x"), "")?;
    let base = local.at("").display().to_string();
    let base = base.trim_end_matches('/');
    let names = |answer: &Value| {
        let listed = answer["directories"].as_array().cloned().unwrap_or_default();
        listed.iter().filter_map(|folder| folder["name"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    for (query, wanted) in [
        (format!("path={base}/a+b"), &["%", "100%zz"][..]),
        (format!("path={base}/a%20b/100%zz"), &["inside"]),
        (format!("path={base}/a b/100%25zz"), &["inside"]),
        (format!("path={base}/a+b/100%zz&path=/etc"), &["inside"]),
    ] {
        let answer = local.send(Method::GET, &format!("directories?{query}"), "").await?.ok()?;
        ensure!(names(&answer) == wanted, "{query}: {answer}");
    }
    let repo = local.repository("r", &[("a", "1\n")])?.display().to_string();
    let first = |one: &str, two: &str| format!("git/branches?repo={one}&repo={two}");
    local.send(Method::GET, &first(&repo, "/etc"), "").await?.ok()?;
    let empty = local.send(Method::GET, &first("", &repo), "").await?;
    empty.refused(400, "repo parameter is required", "missing_field")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn path_outside_the_sandbox_is_refused_by_every_route() -> Result<()> {
    let local = Local::new().await?;
    let home = local.home.path();
    for name in ["outside/repo/x", "src-evil/x", ".ssh/x"] {
        write(&home.join(name), "")?;
    }
    std::os::unix::fs::symlink(home.join("outside"), local.at("link"))?;
    let at = |name: &str| local.at(name).display().to_string();
    let places =
        ["/etc".into(), "relative".into(), "~".into(), "~/.SSH".into(), at("../outside"), at("link/repo")];
    for place in places.iter().chain([&format!("{}-evil", at("").trim_end_matches('/'))]) {
        for route in NAMING {
            let answer = ask(&local, route, place).await?;
            ensure!(answer.status == 403, "{route} took {place}: {answer:?}");
            ensure!(answer.body["error"] == "directory not allowed", "{route} of {place}: {answer:?}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_directory_or_repository_is_reported() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let local = &desktop.local;
    write(&local.at("file"), "")?;
    std::fs::create_dir(local.at("plain"))?;
    let at = |name: &str| local.at(name).display().to_string();
    for place in [at("absent"), at("file")] {
        for route in NAMING {
            let text = match route {
                "git/diff" => "Repository path does not exist".to_owned(),
                "git/branches" => format!("Repository not found: {place}"),
                _ => "repository not found".to_owned(),
            };
            let answer = ask(local, route, &place).await?;
            ensure!(answer.status == 404 && answer.body["error"] == text, "{route} of {place}: {answer:?}");
        }
    }
    // A path is shown as it was understood.
    let short = ask(local, "git/branches", "~/src/absent").await?;
    short.refused(404, &format!("Repository not found: {}", at("absent")), "not_found")?;

    let nowhere = "Repository not found or no access.";
    let unnamed = "Could not determine repository";
    for (route, text) in [
        ("git/pr", "Not a git repository."),
        ("git/pr/list", nowhere),
        ("git/pr/comments", nowhere),
        ("git/pr/files", unnamed),
        ("git/pr/head-sha", unnamed),
        ("git/pr/inline-comment", unnamed),
        ("git/pr/reply", "Not a git repository."),
    ] {
        ask(local, route, &at("plain")).await?.refused(500, text, "operation_failed")?;
    }
    ensure!(desktop.host.calls().is_empty(), "nobody was asked: {:?}", desktop.host.calls());
    Ok(())
}
