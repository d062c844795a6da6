//! Every route that takes a repository, asked about each of the hostile ones.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use reqwest::{Method, header};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{MAX_MEMORY_KB, SECRET, Surroundings, make, most_memory_kb};
use crate::files::form::{TestPart, content_type, form};
use crate::local::Local;

/// Longest that a route takes to answer; what only looks may take ten seconds.
const ANSWERED: Duration = Duration::from_secs(40);

fn scripts() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|script| !script.ends_with("prelude.sh"));
    scripts.sort();
    Ok(scripts)
}

/// Every request about a repository: method, route, body.
fn requests(repository: &Path) -> Vec<(Method, String, Value)> {
    let place = repository.to_string_lossy();
    let query = |pairs: &[(&str, &str)]| {
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    let repo = query(&[("repo", &place)]);
    let get = |route: String| (Method::GET, route, Value::Null);
    let post = |route: &str, mut more: Value| {
        more["repoPath"] = json!(repository);
        (Method::POST, route.to_owned(), more)
    };
    let mut requests = vec![
        get(format!("directories?{}", query(&[("path", &place)]))),
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

/// Asks everything about a repository and looks after each answer.
async fn ask_everything(local: &Local, outside: &Surroundings, name: &str, repository: &Path) -> Result<()> {
    for (method, route, body) in requests(repository) {
        let asked = format!("{name}: {method} {route} {body}");
        let mut request = local.loopgate.gateway(method, &format!("/api/gateway/{route}")).timeout(ANSWERED);
        if !body.is_null() {
            request = request.json(&body);
        }
        let answer = request.send().await.with_context(|| asked.clone())?.text().await;
        let answer = answer.with_context(|| asked.clone())?;
        ensure!(!answer.contains(SECRET), "{asked}\n{answer}");
        outside.is_untouched(&local.home).with_context(|| format!("{asked}\n{answer}"))?;
    }
    let most = most_memory_kb(local.loopgate.pid().context("it runs")?)?;
    ensure!(most < MAX_MEMORY_KB, "{most} kB after {name}");
    Ok(())
}

#[tokio::test]
async fn no_route_runs_or_leaves_anything() -> Result<()> {
    let local = Local::new().await?;
    let outside = Surroundings::make(&local.home)?;
    for script in scripts()? {
        let name = script.file_stem().context("a name")?.to_string_lossy().into_owned();
        let repository = local.at(&name);
        make(&local.home, &outside, &script, &repository).await?;
        ask_everything(&local, &outside, &name, &repository).await?;
    }
    Ok(())
}

/// An archive of all regular files of a directory, if it has any; one with a link in it is refused as a
/// whole.
fn archive(directory: &Path) -> Result<Option<Vec<u8>>> {
    let mut files = 0;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut waiting = vec![directory.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in std::fs::read_dir(at)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                waiting.push(path);
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

/// Where a page's archives are unpacked may be in the sandbox.
#[tokio::test]
async fn archive_is_a_repository_like_others() -> Result<()> {
    let home = UserHome::temporary()?;
    let temporary = home.path().join("src/temporary");
    std::fs::create_dir_all(&temporary)?;
    let local = Local::in_home(home, |setup| setup.env("TMPDIR", temporary.clone())).await?;
    let outside = Surroundings::make(&local.home)?;
    for script in scripts()? {
        let name = script.file_stem().context("a name")?.to_string_lossy().into_owned();
        let made = local.home.path().join("made").join(&name);
        make(&local.home, &outside, &script, &made).await?;
        let Some(archive) = archive(&made)? else { continue };
        let sent = form(&[TestPart(Some("run.zip"), "application/zip", &archive)]);
        let request = local.loopgate.gateway(Method::POST, "/api/gateway/run-viewer-extract");
        let answer = request.header(header::CONTENT_TYPE, content_type()).body(sent).send().await?;
        ensure!(answer.status() == 200, "{name}: {}", answer.text().await?);
        let run = answer.json::<Value>().await?;
        let run = Path::new(run["runDir"].as_str().context("a directory")?);
        ensure!(run.starts_with(&temporary), "{}", run.display());
        ask_everything(&local, &outside, &name, run).await?;
    }
    Ok(())
}
