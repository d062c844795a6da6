//! All routes that take a repository, called for each malicious repository.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use reqwest::{Method, header};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{MAX_MEMORY_KIB, OutsideFiles, SECRET, create, peak_memory_kib};
use crate::files::form::{TestPart, content_type, form};
use crate::test_gateway::TestGateway;

/// Timeout per request. Read-only git commands time out after ten seconds; a request may run several.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(40);

fn scripts() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|script| !script.ends_with("prelude.sh"));
    scripts.sort();
    Ok(scripts)
}

/// Returns all requests for a repository: method, route, body.
fn requests(repository: &Path) -> Vec<(Method, String, Value)> {
    let path = repository.to_string_lossy();
    let query = |pairs: &[(&str, &str)]| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    let repo = query(&[("repo", &path)]);
    let get = |route: String| (Method::GET, route, Value::Null);
    let post = |route: &str, mut body: Value| {
        body["repoPath"] = json!(repository);
        (Method::POST, route.to_owned(), body)
    };
    let mut requests = vec![
        get(format!("directories?{}", query(&[("path", &path)]))),
        (Method::POST, "repos".to_owned(), json!({"path": repository})),
        get("repos".to_owned()),
        get(format!("git/branches?{repo}")),
        get(format!("git/pr/list?{repo}")),
        get(format!("git/pr/head-sha?{repo}&pr=1")),
        get(format!("git/pr/comments?{repo}&owner=acme&number=1&pr=1")),
        get("git/repo-path?repoFullName=acme/widget".to_owned()),
        get("git/branch-worktree?repoFullName=acme/widget&headBranch=main".to_owned()),
        get(format!(
            "orchestrator/status?{}",
            query(&[("workDir", &repository.join(".loopgate/work").to_string_lossy())])
        )),
        post("git/pr", json!({"title": "Title", "body": ""})),
        post(
            "git/pr/inline-comment",
            json!({"body": "x", "commitSha": "0".repeat(40), "line": 1, "path": "a", "prNumber": 1}),
        ),
        post("git/pr/reply", json!({"body": "x", "commentId": 1, "prNumber": 1})),
        post("orchestrator/launch", json!({"ticket": {"identifier": "T-1", "title": "x"}})),
        post("orchestrator/plan-loop/T-1/prepare", json!({})),
        post("orchestrator/chat/T-1", json!({"message": "Hello"})),
        (
            Method::POST,
            "orchestrator/loop".to_owned(),
            json!({
                "loopId": "0190c5a8-1111-4111-8111-111111111111", "command": "PLAN", "localRepoPath": repository,
                "apiBaseUrl": "http://127.0.0.1:1", "loopgateAuthToken": "x", "prompt": "x",
            }),
        ),
    ];
    for action in ["status", "branch", "commit", "sync-status", "pull", "push", "status"] {
        requests.push(post("git", json!({"action": action, "branchName": "topic", "message": "Message"})));
    }
    for file in ["a", "secret", "README.md", "src/secret", ".gitattributes", "package.json"] {
        requests.push(post("git/diff", json!({"filePath": file})));
        requests.push(post("git/diff", json!({"filePath": file, "baseBranch": "theirs"})));
    }
    for ticket in ["chat-history", "commit-message", "judges", "logs", "plan", "status", "comment-chat"] {
        requests.push(get(format!("orchestrator/{ticket}/T-1?{repo}&ticketId=T-1")));
    }
    requests.push(get(format!("orchestrator/attachments/secret?{repo}")));
    for word in ["secret", "a"] {
        requests.push(get(format!("files/search?{repo}&query={word}")));
        requests.push(get(format!("files/search?{repo}&query={word}&base=true")));
    }
    requests.push((
        Method::DELETE,
        "git/worktree".to_owned(),
        json!({"worktreePath": repository, "force": true}),
    ));
    requests
}

/// Sends all requests for a repository, and checks secrets, side effects and memory.
async fn send_all_requests(
    local: &TestGateway,
    outside: &OutsideFiles,
    name: &str,
    repository: &Path,
) -> Result<()> {
    for (method, route, body) in requests(repository) {
        let request_text = format!("{name}: {method} {route} {body}");
        let mut request =
            local.loopgate.gateway(method, &format!("/api/gateway/{route}")).timeout(REQUEST_TIMEOUT);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await.with_context(|| request_text.clone())?.text().await;
        let answer = answer.with_context(|| request_text.clone())?;
        ensure!(!answer.contains(SECRET), "{request_text}\n{answer}");
        outside.is_untouched(&local.home).with_context(|| format!("{request_text}\n{answer}"))?;
    }
    let peak = peak_memory_kib(local.loopgate.pid().context("the gateway has exited")?)?;
    ensure!(peak < MAX_MEMORY_KIB, "{peak} KiB after {name}");
    Ok(())
}

#[tokio::test]
async fn no_route_runs_programs_or_leaks_secrets() -> Result<()> {
    let local = TestGateway::new().await?;
    let outside = OutsideFiles::create(&local.home)?;
    for script in scripts()? {
        let name = script.file_stem().context("a name")?.to_string_lossy().into_owned();
        let repository = local.at(&name);
        create(&local.home, &outside, &script, &repository).await?;
        send_all_requests(&local, &outside, &name, &repository).await?;
    }
    Ok(())
}

/// Returns a zip archive of all regular files below a directory, or `None` without files. Symlinks are
/// omitted, because the gateway refuses archives that contain any.
fn archive(directory: &Path) -> Result<Option<Vec<u8>>> {
    let mut files = 0;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut pending = vec![directory.to_owned()];
    while let Some(current) = pending.pop() {
        for entry in std::fs::read_dir(current)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                pending.push(path);
            } else if kind.is_file() {
                let name = path.strip_prefix(directory)?.to_string_lossy().into_owned();
                writer.start_file(name, SimpleFileOptions::default().unix_permissions(0o755))?;
                writer.write_all(&std::fs::read(&path)?)?;
                files += 1;
            }
        }
    }
    Ok((files > 0).then_some(writer.finish()?.into_inner()))
}

/// Archives are extracted below `TMPDIR`, which may be within the sandbox.
#[tokio::test]
async fn extracted_archive_is_treated_like_repository() -> Result<()> {
    let home = UserHome::temporary()?;
    let temporary = home.path().join("src/temporary");
    std::fs::create_dir_all(&temporary)?;
    let local = TestGateway::in_home(home, |setup| setup.env("TMPDIR", temporary.clone())).await?;
    let outside = OutsideFiles::create(&local.home)?;
    for script in scripts()? {
        let name = script.file_stem().context("a name")?.to_string_lossy().into_owned();
        let source = local.home.path().join("made").join(&name);
        create(&local.home, &outside, &script, &source).await?;
        let Some(archive) = archive(&source)? else { continue };
        let body = form(&[TestPart(Some("run.zip"), "application/zip", &archive)]);
        let request = local.loopgate.gateway(Method::POST, "/api/gateway/run-viewer-extract");
        let answer = request.header(header::CONTENT_TYPE, content_type()).body(body).send().await?;
        ensure!(answer.status() == 200, "{name}: {}", answer.text().await?);
        let run = answer.json::<Value>().await?;
        let run = Path::new(run["runDir"].as_str().context("a directory")?);
        ensure!(run.starts_with(&temporary), "{}", run.display());
        send_all_requests(&local, &outside, &name, run).await?;
    }
    Ok(())
}
