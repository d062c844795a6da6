//! Rules that the routes of git, pull requests and files share: parsing of bodies and queries, and errors for
//! paths outside the sandbox, missing directories, and directories that are no repository.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::pulls::PullsFixture;
use crate::test_gateway::{Answer, TestGateway, write};

/// Routes that take a repository in their query or body.
const REPOSITORY_ROUTES: [&str; 10] = [
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

/// Sends a read-only request about a repository to a route.
async fn request(local: &TestGateway, route: &str, path: &str) -> Result<Answer> {
    let more = match route {
        "git" => json!({"action": "status"}),
        "git/diff" => json!({"filePath": "a"}),
        "git/pr" => json!({"title": "T"}),
        "git/pr/reply" | "git/pr/inline-comment" => json!({"body": "B", "prNumber": 1}),
        _ => return local.get(route, &[("repo", path), ("pr", "1")]).await,
    };
    let mut body = json!({"repoPath": path});
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    local.post(route, body).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_bodies_are_refused_alike() -> Result<()> {
    let local = TestGateway::new().await?;
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
        // Trailing characters after a JSON value are invalid as well.
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
async fn first_query_value_counts_and_invalid_escapes_are_literal() -> Result<()> {
    let local = TestGateway::new().await?;
    // Directories whose names look percent-encoded, but are not.
    write(&local.at("a b/100%zz/inside/x"), "")?;
    write(&local.at("a b/%/x"), "")?;
    let base = local.at("").display().to_string();
    let base = base.trim_end_matches('/');
    let names = |answer: &Value| {
        let listed = answer["directories"].as_array().cloned().unwrap_or_default();
        listed.iter().filter_map(|folder| folder["name"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    for (query, expected) in [
        (format!("path={base}/a+b"), &["%", "100%zz"][..]),
        (format!("path={base}/a%20b/100%zz"), &["inside"]),
        (format!("path={base}/a b/100%25zz"), &["inside"]),
        (format!("path={base}/a+b/100%zz&path=/etc"), &["inside"]),
    ] {
        let answer = local.send(Method::GET, &format!("directories?{query}"), "").await?.ok()?;
        ensure!(names(&answer) == expected, "{query}: {answer}");
    }
    let repo = local.repository("r", &[("a", "1\n")])?.display().to_string();
    // Of two equal parameters the first counts, also when it is empty.
    let first = |one: &str, two: &str| format!("git/branches?repo={one}&repo={two}");
    local.send(Method::GET, &first(&repo, "/etc"), "").await?.ok()?;
    let empty = local.send(Method::GET, &first("", &repo), "").await?;
    empty.refused(400, "repo parameter is required", "missing_field")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn path_outside_the_sandbox_is_refused_by_every_route() -> Result<()> {
    let local = TestGateway::new().await?;
    let home = local.home.path();
    // `src-evil` starts with the sandbox's path without being inside it.
    for name in ["outside/repo/x", "src-evil/x", ".ssh/x"] {
        write(&home.join(name), "")?;
    }
    std::os::unix::fs::symlink(home.join("outside"), local.at("link"))?;
    let at = |name: &str| local.at(name).display().to_string();
    let paths =
        ["/etc".into(), "relative".into(), "~".into(), "~/.SSH".into(), at("../outside"), at("link/repo")];
    for path in paths.iter().chain([&format!("{}-evil", at("").trim_end_matches('/'))]) {
        for route in REPOSITORY_ROUTES {
            let answer = request(&local, route, path).await?;
            ensure!(answer.status == 403, "{route} accepted {path}: {answer:?}");
            ensure!(answer.body["error"] == "directory not allowed", "{route} for {path}: {answer:?}");
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
    for path in [at("absent"), at("file")] {
        for route in REPOSITORY_ROUTES {
            let text = match route {
                "git/diff" => "Repository path does not exist".to_owned(),
                "git/branches" => format!("Repository not found: {path}"),
                _ => "repository not found".to_owned(),
            };
            let answer = request(local, route, &path).await?;
            ensure!(answer.status == 404 && answer.body["error"] == text, "{route} for {path}: {answer:?}");
        }
    }
    // Messages show the path after `~` was expanded.
    let short = request(local, "git/branches", "~/src/absent").await?;
    short.refused(404, &format!("Repository not found: {}", at("absent")), "not_found")?;

    let no_access = "Repository not found or no access.";
    let unnamed = "Could not determine repository";
    for (route, text) in [
        ("git/pr", "Not a git repository."),
        ("git/pr/list", no_access),
        ("git/pr/comments", no_access),
        ("git/pr/files", unnamed),
        ("git/pr/head-sha", unnamed),
        ("git/pr/inline-comment", unnamed),
        ("git/pr/reply", "Not a git repository."),
    ] {
        request(local, route, &at("plain")).await?.refused(500, text, "operation_failed")?;
    }
    ensure!(desktop.host.calls().is_empty(), "the code host was called: {:?}", desktop.host.calls());
    Ok(())
}
