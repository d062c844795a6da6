//! Both sides of one changed file.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::{Value, json};

use super::status;
use crate::local::{Answer, Local, write};

const MIB: usize = 1024 * 1024;

struct DiffFixture {
    local: Local,
    repo: std::path::PathBuf,
}

impl DiffFixture {
    async fn with(files: &[(&str, &str)]) -> Result<Self> {
        let local = Local::new().await?;
        let repo = local.clone_of("acme/r", files)?;
        Ok(Self { local, repo })
    }

    async fn ask(&self, file: &str) -> Result<Answer> {
        self.local.post("git/diff", json!({"repoPath": self.repo, "filePath": file})).await
    }

    async fn against(&self, base: &str, file: &str) -> Result<Answer> {
        let body = json!({"repoPath": self.repo, "filePath": file, "baseBranch": base});
        self.local.post("git/diff", body).await
    }
}

fn sides(file: &str, old: Option<&str>, new: Option<&str>) -> Value {
    json!({"filePath": file, "oldContent": old.unwrap_or_default(), "newContent": new.unwrap_or_default(),
        "isNew": old.is_none(), "isDeleted": new.is_none()})
}

// GF-19, GF-20
#[tokio::test]
async fn working_tree_is_held_against_the_last_commit() -> Result<()> {
    let fixture =
        DiffFixture::with(&[("app.ts", "1\n"), ("gone", "x\n"), ("same", "s\n"), ("d/e", "1\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("app.ts"), "2\n")?;
    fixture.ask("app.ts").await?.is(200, &sides("app.ts", Some("1\n"), Some("2\n")))?;
    fixture.ask("./d/../app.ts").await?.is(200, &sides("./d/../app.ts", Some("1\n"), Some("2\n")))?;
    git(repo, &["add", "app.ts"])?;
    fixture.ask("app.ts").await?.is(200, &sides("app.ts", Some("1\n"), Some("2\n")))?;

    std::fs::remove_file(repo.join("gone"))?;
    fixture.ask("gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    git(repo, &["add", "gone"])?;
    fixture.ask("gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    write(&repo.join("gone"), "back\n")?;
    fixture.ask("gone").await?.is(200, &sides("gone", Some("x\n"), Some("back\n")))?;

    for name in ["new/deep file", "-option", "*", ":(top)x", "quote\"'", "line\nbreak", "größe"] {
        write(&repo.join(name), "n\n")?;
        fixture.ask(name).await?.is(200, &sides(name, None, Some("n\n")))?;
    }
    write(&repo.join("added"), "1\n")?;
    git(repo, &["add", "added"])?;
    write(&repo.join("added"), "2\n")?;
    fixture.ask("added").await?.is(200, &sides("added", None, Some("2\n")))?;
    std::fs::remove_file(repo.join("added"))?;
    fixture.ask("added").await?.is(200, &sides("added", None, None))?;

    for unchanged in ["same", "d", "absent", ".git/config"] {
        fixture.ask(unchanged).await?.refused(400, "File has no changes", "invalid_request")?;
    }
    Ok(())
}

#[tokio::test]
async fn branch_is_held_against_another() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("gone", "x\n"), ("same", "s\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("a"), "2\n")?;
    write(&repo.join("new"), "n\n")?;
    git(repo, &["rm", "--quiet", "gone"])?;
    git(repo, &["add", "--all"])?;
    git(repo, &["commit", "--quiet", "-m", "Work"])?;
    write(&repo.join("a"), "not committed\n")?;
    fixture.against("main", "a").await?.is(200, &sides("a", Some("1\n"), Some("2\n")))?;
    fixture.against("main", "new").await?.is(200, &sides("new", None, Some("n\n")))?;
    fixture.against("main", "gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    fixture.against("main", "same").await?.is(200, &sides("same", Some("s\n"), Some("s\n")))?;
    fixture.against("nowhere", "a").await?.is(200, &sides("a", None, Some("2\n")))?;
    fixture.against("main", "absent").await?.is(200, &sides("absent", None, None))?;
    for refused in ["-x", "a:b", "a b", "a\tb", "a\0b"] {
        fixture.against(refused, "a").await?.refused(400, "Invalid baseBranch", "invalid_request")?;
    }
    Ok(())
}

// GF-21
#[tokio::test]
async fn nothing_outside_the_repository_is_shown() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("sub/b", "1\n")]).await?;
    let (local, repo) = (&fixture.local, &fixture.repo);
    let other = local.repository("other", &[("secret.txt", "secret\n")])?;
    let outside = "directory not allowed";
    let denied = "directory_not_allowed";
    let link = |target: &std::path::Path, name: &str| std::os::unix::fs::symlink(target, repo.join(name));
    link(&other, "linked")?;
    link(&other.join("secret.txt"), "secret-link")?;
    link("/nowhere".as_ref(), "dangling")?;
    link("sub/b".as_ref(), "inner")?;
    for file in [
        "../other/secret.txt",
        "sub/../../other/secret.txt",
        "/etc/passwd",
        "a\0b",
        "linked/secret.txt",
        "linked/absent",
        "secret-link",
    ] {
        fixture.ask(file).await?.refused(403, outside, denied)?;
        fixture.against("main", file).await?.refused(403, outside, denied)?;
    }
    // A link is its target, not what is there.
    fixture.ask("inner").await?.is(200, &sides("inner", None, Some("sub/b")))?;
    fixture.ask("dangling").await?.is(200, &sides("dangling", None, Some("/nowhere")))?;

    let post = |body: Value| local.post("git/diff", body);
    local.send(Method::POST, "git/diff", "{").await?.refused(
        400,
        "Invalid JSON body",
        "invalid_json_body",
    )?;
    for body in [json!({}), json!({"filePath": "a"}), json!({"filePath": "", "repoPath": repo}), json!([])] {
        post(body).await?.refused(400, "filePath and repoPath are required", "missing_field")?;
    }
    post(json!({"filePath": "a", "repoPath": "/etc"})).await?.refused(403, outside, denied)?;
    for missing in [local.at("absent"), repo.join("a")] {
        let answer = post(json!({"filePath": "a", "repoPath": missing})).await?;
        answer.refused(404, "Repository path does not exist", "not_found")?;
    }
    Ok(())
}

// GF-20
#[tokio::test]
async fn images_and_other_binary_files() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("icon.svg", "<svg/>\n"), ("blob", "text\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("logo.PNG"), b"\x89PNG\0\x01")?;
    let answer = fixture.ask("logo.PNG").await?.ok()?;
    let expected = json!({"filePath": "logo.PNG", "oldContent": "", "newContent": "", "isNew": true,
        "isDeleted": false, "isImage": true, "mimeType": "image/png", "isBinary": true,
        "newContentBase64": "iVBORwAB"});
    assert_eq!(answer, expected);
    write(&repo.join("icon.svg"), "<svg></svg>\n")?;
    let answer = fixture.ask("icon.svg").await?.ok()?;
    assert_eq!(
        (&answer["mimeType"], &answer["newContent"]),
        (&json!("image/svg+xml"), &json!("<svg></svg>\n"))
    );
    assert_eq!(answer.get("isBinary"), None);
    write(&repo.join("blob"), b"\0\x01")?;
    let answer = fixture.ask("blob").await?.ok()?;
    let expected = json!({"filePath": "blob", "oldContent": "", "newContent": "", "isNew": false,
        "isDeleted": false, "isBinary": true});
    assert_eq!(answer, expected);
    write(&repo.join("latin"), b"caf\xe9\n")?;
    fixture.ask("latin").await?.is(200, &sides("latin", None, Some("caf\u{fffd}\n")))
}

#[tokio::test]
async fn large_file_is_not_reported_as_absent() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n")]).await?;
    let repo = &fixture.repo;
    let (two, six, twenty) = ("x".repeat(2 * MIB), "x".repeat(6 * MIB), "x".repeat(20 * MIB));
    for (name, text) in [("two", &two), ("six", &six), ("twenty", &twenty)] {
        write(&repo.join(name), text)?;
    }
    git(repo, &["add", "--all"])?;
    git(repo, &["commit", "--quiet", "-m", "Large"])?;
    let answer = fixture.against("main", "two").await?.ok()?;
    ensure!(answer["newContent"].as_str().map(str::len) == Some(2 * MIB) && answer["isDeleted"] == false);
    write(&repo.join("two"), "small\n")?;
    let answer = fixture.ask("two").await?.ok()?;
    ensure!(answer["oldContent"].as_str().map(str::len) == Some(2 * MIB) && answer["isNew"] == false);
    for name in ["six", "twenty"] {
        let refused =
            |answer: Answer| answer.refused(413, "File too large to diff", "request_body_too_large");
        refused(fixture.against("main", name).await?)?;
        write(&repo.join(name), "small\n")?;
        refused(fixture.ask(name).await?)?;
    }
    write(&repo.join("now-large"), &six)?;
    fixture.ask("now-large").await?.refused(413, "File too large to diff", "request_body_too_large")
}

#[tokio::test]
async fn line_ends_that_git_turns_around_are_no_change() -> Result<()> {
    let files = [
        (".gitattributes", "*.txt text eol=crlf\n"),
        ("a.txt", "1\n2\n"),
        ("plain", "1\n2\n"),
        ("mixed", "1\r\n2\n"),
    ];
    let fixture = DiffFixture::with(&files).await?;
    let repo = &fixture.repo;
    write(&repo.join("a.txt"), "1\r\n3\r\n")?;
    fixture.ask("a.txt").await?.is(200, &sides("a.txt", Some("1\r\n2\r\n"), Some("1\r\n3\r\n")))?;
    write(&repo.join("plain"), "1\r\n2\r\n")?;
    fixture.ask("plain").await?.is(200, &sides("plain", Some("1\n2\n"), Some("1\r\n2\r\n")))?;
    write(&repo.join("mixed"), "1\r\n3\n")?;
    fixture.ask("mixed").await?.is(200, &sides("mixed", Some("1\r\n2\n"), Some("1\r\n3\n")))?;
    assert_eq!(status(&fixture.local, repo).await?["files"]["modified"], json!(["a.txt", "mixed", "plain"]));
    Ok(())
}

/// Somebody may put a pipe where a file was; nobody waits for what comes out of it.
#[tokio::test]
async fn what_is_no_file_has_no_content() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("dir", "a file\n")]).await?;
    let repo = &fixture.repo;
    std::fs::remove_file(repo.join("a"))?;
    let made = fixture.local.home.command("mkfifo").arg(repo.join("a")).status().await?;
    ensure!(made.success());
    let answer = fixture.ask("a").await?.ok()?;
    assert_eq!((&answer["oldContent"], &answer["newContent"]), (&json!("1\n"), &json!("")));
    std::fs::remove_file(repo.join("dir"))?;
    write(&repo.join("dir/inside"), "x\n")?;
    fixture.ask("dir").await?.is(200, &sides("dir", Some("a file\n"), None))
}
