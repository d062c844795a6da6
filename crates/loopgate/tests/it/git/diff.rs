//! Both sides of one changed file: working tree against HEAD, or a branch against its base.

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use reqwest::Method;
use serde_json::{Value, json};

use super::status;
use crate::test_gateway::{Answer, TestGateway, write};

const MIB: usize = 1024 * 1024;

struct DiffFixture {
    local: TestGateway,
    repo: std::path::PathBuf,
}

impl DiffFixture {
    async fn with(files: &[(&str, &str)]) -> Result<Self> {
        let local = TestGateway::new().await?;
        let repo = local.clone_of("acme/r", files)?;
        Ok(Self { local, repo })
    }

    async fn diff(&self, file: &str) -> Result<Answer> {
        self.local.post("git/diff", json!({"repoPath": self.repo, "filePath": file})).await
    }

    async fn diff_against(&self, base: &str, file: &str) -> Result<Answer> {
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
async fn working_tree_is_compared_with_head() -> Result<()> {
    let fixture =
        DiffFixture::with(&[("app.ts", "1\n"), ("gone", "x\n"), ("same", "s\n"), ("d/e", "1\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("app.ts"), "2\n")?;
    fixture.diff("app.ts").await?.is(200, &sides("app.ts", Some("1\n"), Some("2\n")))?;
    fixture.diff("./d/../app.ts").await?.is(200, &sides("./d/../app.ts", Some("1\n"), Some("2\n")))?;
    git(repo, &["add", "app.ts"])?;
    fixture.diff("app.ts").await?.is(200, &sides("app.ts", Some("1\n"), Some("2\n")))?;

    std::fs::remove_file(repo.join("gone"))?;
    fixture.diff("gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    git(repo, &["add", "gone"])?;
    fixture.diff("gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    write(&repo.join("gone"), "back\n")?;
    fixture.diff("gone").await?.is(200, &sides("gone", Some("x\n"), Some("back\n")))?;

    // Names that git quotes, or would take for an option, a pathspec or a glob.
    for name in ["new/deep file", "-option", "*", ":(top)x", "quote\"'", "line\nbreak", "größe"] {
        write(&repo.join(name), "n\n")?;
        fixture.diff(name).await?.is(200, &sides(name, None, Some("n\n")))?;
    }
    write(&repo.join("added"), "1\n")?;
    git(repo, &["add", "added"])?;
    write(&repo.join("added"), "2\n")?;
    fixture.diff("added").await?.is(200, &sides("added", None, Some("2\n")))?;
    std::fs::remove_file(repo.join("added"))?;
    fixture.diff("added").await?.is(200, &sides("added", None, None))?;

    for unchanged in ["same", "d", "absent", ".git/config"] {
        fixture.diff(unchanged).await?.refused(400, "File has no changes", "invalid_request")?;
    }
    Ok(())
}

#[tokio::test]
async fn branch_is_compared_with_base() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("gone", "x\n"), ("same", "s\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("a"), "2\n")?;
    write(&repo.join("new"), "n\n")?;
    git(repo, &["rm", "--quiet", "gone"])?;
    git(repo, &["add", "--all"])?;
    git(repo, &["commit", "--quiet", "-m", "Work"])?;
    write(&repo.join("a"), "not committed\n")?;
    fixture.diff_against("main", "a").await?.is(200, &sides("a", Some("1\n"), Some("2\n")))?;
    fixture.diff_against("main", "new").await?.is(200, &sides("new", None, Some("n\n")))?;
    fixture.diff_against("main", "gone").await?.is(200, &sides("gone", Some("x\n"), None))?;
    fixture.diff_against("main", "same").await?.is(200, &sides("same", Some("s\n"), Some("s\n")))?;
    fixture.diff_against("nowhere", "a").await?.is(200, &sides("a", None, Some("2\n")))?;
    fixture.diff_against("main", "absent").await?.is(200, &sides("absent", None, None))?;
    for refused in ["-x", "a:b", "a b", "a\tb", "a\0b"] {
        fixture.diff_against(refused, "a").await?.refused(400, "Invalid baseBranch", "invalid_request")?;
    }
    Ok(())
}

// GF-21
#[tokio::test]
async fn files_outside_of_repository_are_refused() -> Result<()> {
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
        fixture.diff(file).await?.refused(403, outside, denied)?;
        fixture.diff_against("main", file).await?.refused(403, outside, denied)?;
    }
    // The content of a symlink is its target path, never the target's content.
    fixture.diff("inner").await?.is(200, &sides("inner", None, Some("sub/b")))?;
    fixture.diff("dangling").await?.is(200, &sides("dangling", None, Some("/nowhere")))?;

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
async fn binary_files_and_images_are_marked() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("icon.svg", "<svg/>\n"), ("blob", "text\n")]).await?;
    let repo = &fixture.repo;
    write(&repo.join("logo.PNG"), b"\x89PNG\0\x01")?;
    let answer = fixture.diff("logo.PNG").await?.ok()?;
    let expected = json!({"filePath": "logo.PNG", "oldContent": "", "newContent": "", "isNew": true,
        "isDeleted": false, "isImage": true, "mimeType": "image/png", "isBinary": true,
        "newContentBase64": "iVBORwAB"});
    assert_eq!(answer, expected);
    write(&repo.join("icon.svg"), "<svg></svg>\n")?;
    let answer = fixture.diff("icon.svg").await?.ok()?;
    assert_eq!(
        (&answer["mimeType"], &answer["newContent"]),
        (&json!("image/svg+xml"), &json!("<svg></svg>\n"))
    );
    assert_eq!(answer.get("isBinary"), None);
    write(&repo.join("blob"), b"\0\x01")?;
    let answer = fixture.diff("blob").await?.ok()?;
    let expected = json!({"filePath": "blob", "oldContent": "", "newContent": "", "isNew": false,
        "isDeleted": false, "isBinary": true});
    assert_eq!(answer, expected);
    write(&repo.join("latin"), b"caf\xe9\n")?;
    fixture.diff("latin").await?.is(200, &sides("latin", None, Some("caf\u{fffd}\n")))
}

#[tokio::test]
async fn large_files_are_refused_instead_of_reported_as_absent() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n")]).await?;
    let repo = &fixture.repo;
    let (two, six, twenty) = ("x".repeat(2 * MIB), "x".repeat(6 * MIB), "x".repeat(20 * MIB));
    for (name, text) in [("two", &two), ("six", &six), ("twenty", &twenty)] {
        write(&repo.join(name), text)?;
    }
    git(repo, &["add", "--all"])?;
    git(repo, &["commit", "--quiet", "-m", "Large"])?;
    let answer = fixture.diff_against("main", "two").await?.ok()?;
    ensure!(answer["newContent"].as_str().map(str::len) == Some(2 * MIB) && answer["isDeleted"] == false);
    write(&repo.join("two"), "small\n")?;
    let answer = fixture.diff("two").await?.ok()?;
    ensure!(answer["oldContent"].as_str().map(str::len) == Some(2 * MIB) && answer["isNew"] == false);
    for name in ["six", "twenty"] {
        let refused =
            |answer: Answer| answer.refused(413, "File too large to diff", "request_body_too_large");
        refused(fixture.diff_against("main", name).await?)?;
        write(&repo.join(name), "small\n")?;
        refused(fixture.diff(name).await?)?;
    }
    write(&repo.join("now-large"), &six)?;
    fixture.diff("now-large").await?.refused(413, "File too large to diff", "request_body_too_large")
}

#[tokio::test]
async fn line_ending_conversion_is_not_a_change() -> Result<()> {
    let files = [
        (".gitattributes", "*.txt text eol=crlf\n"),
        ("a.txt", "1\n2\n"),
        ("plain", "1\n2\n"),
        ("mixed", "1\r\n2\n"),
    ];
    let fixture = DiffFixture::with(&files).await?;
    let repo = &fixture.repo;
    write(&repo.join("a.txt"), "1\r\n3\r\n")?;
    fixture.diff("a.txt").await?.is(200, &sides("a.txt", Some("1\r\n2\r\n"), Some("1\r\n3\r\n")))?;
    write(&repo.join("plain"), "1\r\n2\r\n")?;
    fixture.diff("plain").await?.is(200, &sides("plain", Some("1\n2\n"), Some("1\r\n2\r\n")))?;
    write(&repo.join("mixed"), "1\r\n3\n")?;
    fixture.diff("mixed").await?.is(200, &sides("mixed", Some("1\r\n2\n"), Some("1\r\n3\n")))?;
    assert_eq!(status(&fixture.local, repo).await?["files"]["modified"], json!(["a.txt", "mixed", "plain"]));
    Ok(())
}

/// A FIFO in place of a file is reported as empty; opening it would block the request.
#[tokio::test]
async fn special_files_and_directories_have_no_content() -> Result<()> {
    let fixture = DiffFixture::with(&[("a", "1\n"), ("dir", "a file\n")]).await?;
    let repo = &fixture.repo;
    std::fs::remove_file(repo.join("a"))?;
    let mkfifo = fixture.local.home.command("mkfifo").arg(repo.join("a")).status().await?;
    ensure!(mkfifo.success());
    let answer = fixture.diff("a").await?.ok()?;
    assert_eq!((&answer["oldContent"], &answer["newContent"]), (&json!("1\n"), &json!("")));
    std::fs::remove_file(repo.join("dir"))?;
    write(&repo.join("dir/inside"), "x\n")?;
    fixture.diff("dir").await?.is(200, &sides("dir", Some("a file\n"), None))
}
