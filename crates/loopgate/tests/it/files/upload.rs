//! Images of a ticket: upload and download.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use reqwest::{Method, Response, header};
use serde_json::{Value, json};

use super::form::{TestPart, content_type, form};
use crate::test_gateway::{TestGateway, write};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and what follows";
const GIF: &[u8] = b"GIF89a and what follows";
const MIB: usize = 1024 * 1024;
const NO_WORKTREE: &str = "Work directory not found";

/// A repository and the worktree of the ticket `AB-1`.
struct UploadFixture {
    local: TestGateway,
    repo: PathBuf,
    attachments: PathBuf,
}

impl UploadFixture {
    async fn new() -> Result<Self> {
        let local = TestGateway::new().await?;
        let repo = local.repository("shop", &[("README.md", "")])?;
        let worktree = local.at("shop-AB-1");
        std::fs::create_dir(&worktree)?;
        Ok(Self { attachments: worktree.join(".loopgate/work/attachments"), local, repo })
    }

    async fn upload(&self, ticket: &str, body: Vec<u8>) -> Result<(u16, Value)> {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("repo", &self.repo.to_string_lossy())
            .finish();
        self.send(&format!("{ticket}?{query}"), Some(&content_type()), body).await
    }

    async fn send(&self, rest: &str, kind: Option<&str>, body: Vec<u8>) -> Result<(u16, Value)> {
        let path = format!("/api/gateway/orchestrator/upload/{rest}");
        let mut request = self.local.loopgate.gateway(Method::POST, &path).body(body);
        if let Some(kind) = kind {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        let answer = request.send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    async fn read(&self, path_and_query: &str, range: Option<&str>) -> Result<Response> {
        let mut request = self.local.loopgate.gateway(Method::GET, path_and_query);
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        Ok(request.send().await?)
    }

    /// Downloads an attachment of the ticket.
    async fn attachment(&self, path: &str) -> Result<Response> {
        let repo = url::form_urlencoded::byte_serialize(self.repo.as_os_str().as_encoded_bytes());
        let repo: String = repo.collect();
        self.read(&format!("/api/gateway/orchestrator/attachments/{path}?repo={repo}"), None).await
    }

    async fn attachment_refused(&self, path: &str, status: u16, text: &str) -> Result<()> {
        let answer = self.attachment(path).await?;
        let actual = answer.status().as_u16();
        let body: Value = answer.json().await.with_context(|| format!("{path} returned {actual}"))?;
        ensure!((actual, body["error"].as_str()) == (status, Some(text)), "{path}: {actual} {body}");
        Ok(())
    }

    fn files(&self) -> Vec<String> {
        names(&self.attachments)
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn head<'a>(answer: &'a Response, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

// GF-46
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn images_are_uploaded_and_downloaded() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    let parts = [
        TestPart(Some("../shot (1).png"), "image/png", PNG),
        TestPart(None, "text/plain", b"a field, no file"),
        TestPart(Some(""), "image/gif", GIF),
    ];
    let (status, answer) = ticket.upload("AB-1", form(&parts)).await?;
    ensure!(status == 200, "{answer}");
    let files = answer["files"].as_array().context("files")?;
    ensure!(files.len() == 2, "{answer}");
    for (file, (original, ending, kind, bytes)) in
        files.iter().zip([("../shot (1).png", "png", "image/png", PNG), ("file", "gif", "image/gif", GIF)])
    {
        let saved = file["savedName"].as_str().context("a name")?;
        let rest = saved.strip_prefix("chat-img-").and_then(|rest| rest.strip_suffix(&format!(".{ending}")));
        let (time, random) = rest.and_then(|rest| rest.split_once('-')).context("no random suffix")?;
        ensure!(time.parse::<u64>().is_ok() && random.len() == 4, "{saved}");
        ensure!(u16::from_str_radix(random, 16).is_ok() && random == random.to_lowercase(), "{saved}");
        let path = ticket.attachments.join(saved);
        ensure!(file["originalName"] == original && file["size"] == bytes.len(), "{file}");
        ensure!(file["path"] == path.to_string_lossy().as_ref(), "{file}");
        ensure!(std::fs::read(&path)? == bytes);

        let url = file["apiUrl"].as_str().context("a URL")?;
        ensure!(url.starts_with("/api/gateway/orchestrator/attachments/AB-1/chat-img-"), "{url}");
        ensure!(
            url.ends_with(&format!("?repo={}", ticket.repo.to_string_lossy().replace('/', "%2F"))),
            "{url}"
        );
        let answer = ticket.read(url, None).await?;
        ensure!(answer.status() == 200);
        ensure!(head(&answer, "content-type") == kind);
        ensure!(head(&answer, "cache-control") == "private, max-age=3600");
        ensure!(head(&answer, "x-content-type-options") == "nosniff");
        ensure!(head(&answer, "content-length") == bytes.len().to_string());
        ensure!(answer.bytes().await? == bytes);
    }
    ensure!(ticket.files().len() == 2, "unexpected files: {:?}", ticket.files());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_with_a_slash_is_encoded_in_its_image_urls() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    std::fs::create_dir(ticket.local.at("shop-A_B_1"))?;
    let (status, answer) = ticket.upload("A%2FB%201", form(&[TestPart(Some("a"), "image/png", PNG)])).await?;
    ensure!(status == 200, "{answer}");
    let url = answer["files"][0]["apiUrl"].as_str().context("a URL")?;
    ensure!(url.contains("/A%2FB%201/"), "{url}");
    ensure!(ticket.read(url, None).await?.bytes().await? == PNG);
    Ok(())
}

// GF-47, GF-49
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_upload_writes_no_files() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    let repo = url::form_urlencoded::byte_serialize(ticket.repo.as_os_str().as_encoded_bytes());
    let here = format!("AB-1?repo={}", repo.collect::<String>());
    let refused = async |rest: &str, kind: Option<&str>, body: Vec<u8>, status: u16, text: &str| {
        let (actual, answer) = ticket.send(rest, kind, body).await?;
        ensure!((actual, answer["error"].as_str()) == (status, Some(text)), "{rest}: {actual} {answer}");
        anyhow::Ok(())
    };
    let kind = content_type();
    let kind = Some(kind.as_str());
    let image = || TestPart(Some("a.png"), "image/png", PNG);
    let not_allowed = |kind: &str| format!("File type not allowed: {kind}. Allowed: png, jpeg, gif, webp");

    // The parameters are checked before the body, so the oversized body does not matter.
    refused("AB-1", kind, vec![b'x'; 262_145], 400, "repo parameter is required").await?;
    refused("AB-1?repo=", kind, form(&[image()]), 400, "repo parameter is required").await?;
    refused("AB-1?repo=%2Fetc", kind, form(&[image()]), 403, "directory not allowed").await?;
    refused("AB-1?repo=~%2F.ssh", kind, form(&[image()]), 403, "directory not allowed").await?;
    refused(&here.replace("AB-1", "AB-2"), kind, form(&[image()]), 404, NO_WORKTREE).await?;
    refused(&here, Some("application/json"), b"{}".to_vec(), 400, "Invalid form data").await?;
    refused(&here, None, form(&[image()]), 400, "Invalid form data").await?;
    refused(&here, Some("multipart/form-data"), form(&[image()]), 400, "Invalid form data").await?;
    let whole = form(&[image()]);
    refused(&here, kind, whole[..whole.len() - 20].to_vec(), 400, "Invalid form data").await?;
    let mut broken = form(&[TestPart(Some("a"), "text/plain", b"x"), image()]);
    broken.truncate(broken.len() - 20);
    refused(&here, kind, broken, 400, "Invalid form data").await?;
    refused(&here, kind, form(&[]), 400, "No image files provided").await?;
    refused(&here, kind, form(&[TestPart(None, "image/png", PNG)]), 400, "No image files provided").await?;
    let text = TestPart(Some("notes.txt"), "text/plain", b"text");
    refused(&here, kind, form(&[text]), 400, &not_allowed("text/plain")).await?;
    let svg = TestPart(Some("a.svg"), "image/svg+xml", b"<svg/>");
    refused(&here, kind, form(&[svg]), 400, &not_allowed("image/svg+xml")).await?;
    // The content decides, not the declared type: this PNG is a GIF.
    let mislabeled = TestPart(Some("a.png"), "image/png", GIF);
    refused(&here, kind, form(&[image(), mislabeled]), 400, &not_allowed("image/png")).await?;
    let after = TestPart(Some("notes.txt"), "text/plain", b"text");
    refused(&here, kind, form(&[image(), after]), 400, &not_allowed("text/plain")).await?;
    let mut large = PNG.to_vec();
    large.resize(11 * MIB + MIB / 2, 0);
    let too_large = form(&[TestPart(Some("big.png"), "image/png", &large)]);
    refused(&here, kind, too_large, 400, "File too large: big.png (11.5MB). Max 10MB.").await?;
    ensure!(!ticket.attachments.exists(), "files were written: {:?}", ticket.files());

    large.truncate(10 * MIB);
    let (status, answer) =
        ticket.upload("AB-1", form(&[TestPart(Some("big.png"), "image/png", &large)])).await?;
    ensure!(status == 200 && answer["files"][0]["size"] == 10 * MIB, "{answer}");
    let (status, answer) = ticket.upload("AB-1", vec![0; 50 * MIB + 1]).await?;
    let expected =
        json!({"error": "request body too large", "code": "request_body_too_large", "maxBytes": 50 * MIB});
    ensure!((status, &answer) == (413, &expected), "{status} {answer}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_through_a_link_is_refused() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    let outside = ticket.local.home.path().join("outside");
    std::fs::create_dir(&outside)?;
    write(&outside.join("secret.png"), PNG)?;
    // The directory of the attachments is a link that leads out of the sandbox.
    std::fs::create_dir_all(ticket.attachments.parent().context("a parent")?)?;
    std::os::unix::fs::symlink(&outside, &ticket.attachments)?;
    let (status, answer) = ticket.upload("AB-1", form(&[TestPart(Some("a"), "image/png", PNG)])).await?;
    ensure!((status, answer["error"].as_str()) == (403, Some("directory not allowed")), "{answer}");
    ensure!(names(&outside) == ["secret.png"]);
    ticket.attachment_refused("AB-1/secret.png", 403, "directory not allowed").await
}

// GF-48
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attachment_outside_its_directory_is_refused() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    write(&ticket.attachments.join("in/100%.png"), PNG)?;
    write(&ticket.attachments.join("drawing.SVG"), "<svg/>")?;
    write(&ticket.local.at("secret"), "secret")?;
    write(&ticket.local.home.path().join("outside"), "secret")?;
    for (target, name) in [
        (ticket.local.home.path().join("outside"), "out"),
        (ticket.local.at("secret"), "other"),
        ("in/100%.png".into(), "good.png"),
        ("nowhere".into(), "dangling"),
        ("/etc/passwd".into(), "etc"),
    ] {
        std::os::unix::fs::symlink(target, ticket.attachments.join(name))?;
    }
    for path in ["in/100%25.png", "in/%2e%2e/in/100%25.png", "good.png"] {
        let answer = ticket.attachment(&format!("AB-1/{path}")).await?;
        ensure!(answer.status() == 200 && head(&answer, "content-type") == "image/png", "{path}");
        ensure!(answer.bytes().await? == PNG);
    }
    // An SVG can contain scripts, so it is served in a sandbox without permissions.
    let drawing = ticket.attachment("AB-1/drawing.SVG").await?;
    ensure!(head(&drawing, "content-type") == "image/svg+xml");
    ensure!(head(&drawing, "content-security-policy") == "sandbox");
    for path in [
        "..%2F..%2Fsecret",
        "..%2f..%2f..%2fshop%2fREADME.md",
        "%2Fetc%2Fpasswd",
        "a%00",
        "out",
        "other",
        "etc",
    ] {
        ticket.attachment_refused(&format!("AB-1/{path}"), 403, "Invalid path").await?;
    }
    for path in ["missing.png", "in", "dangling", "in/100%25.png/x", "%252e%252e/secret"] {
        ticket.attachment_refused(&format!("AB-1/{path}"), 404, "File not found").await?;
    }
    ticket.attachment_refused("AB-2/in/100%25.png", 404, "File not found").await?;
    ticket.attachment_refused("..%2F..%2Fetc/passwd", 404, "File not found").await?;
    ticket.attachment_refused("AB-1", 400, "attachment path is required").await?;
    ticket.attachment_refused("AB-1/", 400, "attachment path is required").await?;
    let route = "/api/gateway/orchestrator/attachments/AB-1/x";
    for (query, status, text) in [
        ("", 400, "repo parameter is required"),
        ("?repo=", 400, "repo parameter is required"),
        ("?repo=%2Fetc", 403, "directory not allowed"),
    ] {
        let answer = ticket.read(&format!("{route}{query}"), None).await?;
        ensure!(answer.status() == status, "{query}");
        ensure!(answer.json::<Value>().await?["error"] == text, "{query}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn range_of_an_attachment_is_served() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    write(&ticket.attachments.join("ten"), "0123456789")?;
    write(&ticket.attachments.join("none"), "")?;
    let repo = url::form_urlencoded::byte_serialize(ticket.repo.as_os_str().as_encoded_bytes());
    let query = format!("?repo={}", repo.collect::<String>());
    let at = |name: &str| format!("/api/gateway/orchestrator/attachments/AB-1/{name}{query}");
    for (range, described, text) in [
        ("bytes=2-4", "bytes 2-4/10", "234"),
        ("bytes=7-", "bytes 7-9/10", "789"),
        ("bytes=-2", "bytes 8-9/10", "89"),
        ("bytes=0-99", "bytes 0-9/10", "0123456789"),
    ] {
        let answer = ticket.read(&at("ten"), Some(range)).await?;
        ensure!(answer.status() == 206 && head(&answer, "content-range") == described, "{range}");
        ensure!(head(&answer, "content-length") == text.len().to_string(), "{range}");
        ensure!(answer.text().await? == text, "{range}");
    }
    // Invalid and multiple ranges are ignored, as RFC 9110 permits.
    for range in ["bytes=1-2,4-5", "nonsense", "bytes=5-2"] {
        let answer = ticket.read(&at("ten"), Some(range)).await?;
        ensure!(answer.status() == 200 && head(&answer, "accept-ranges") == "bytes", "{range}");
        ensure!(answer.text().await? == "0123456789", "{range}");
    }
    for (name, range) in [("ten", "bytes=10-"), ("none", "bytes=0-")] {
        let answer = ticket.read(&at(name), Some(range)).await?;
        ensure!(answer.status() == 416, "{name}");
    }
    ensure!(ticket.read(&at("none"), None).await?.text().await?.is_empty());
    Ok(())
}

// The response must not disclose whether a worktree outside the sandbox exists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktree_outside_the_sandbox_is_not_disclosed() -> Result<()> {
    let home = UserHome::temporary()?;
    let outside = home.path().join("outside");
    write(&outside.join("shop-AB-1/.loopgate/work/attachments/a.png"), PNG)?;
    let parent = outside.clone();
    let local =
        TestGateway::in_home(home, |setup| setup.env("ORCHESTRATOR_WORKTREE_PARENT_DIR", parent)).await?;
    let repo = local.repository("shop", &[])?;
    let attachments = PathBuf::new();
    let ticket = UploadFixture { local, repo, attachments };
    for id in ["AB-1", "AB-2"] {
        let (status, answer) = ticket.upload(id, form(&[TestPart(Some("a"), "image/png", PNG)])).await?;
        ensure!((status, answer["error"].as_str()) == (403, Some("directory not allowed")), "{answer}");
        ticket.attachment_refused(&format!("{id}/a.png"), 403, "directory not allowed").await?;
        let repo = ticket.repo.to_string_lossy().into_owned();
        let answer = ticket.local.get("files/search", &[("repo", repo.as_str()), ("ticket", id)]).await?;
        answer.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    ensure!(names(&outside.join("shop-AB-1/.loopgate/work/attachments")) == ["a.png"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_type_follows_the_file_extension() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    for (name, kind) in [
        ("a.png", "image/png"),
        ("a.JPG", "image/jpeg"),
        ("a.jpeg", "image/jpeg"),
        ("a.gif", "image/gif"),
        ("a.WebP", "image/webp"),
        ("a.svg", "image/svg+xml"),
        ("a.html", "application/octet-stream"),
        ("png", "application/octet-stream"),
    ] {
        write(&ticket.attachments.join(name), "<script>x</script>")?;
        let answer = ticket.attachment(&format!("AB-1/{name}")).await?;
        ensure!(answer.status() == 200 && head(&answer, "content-type") == kind, "{name}");
        ensure!(head(&answer, "x-content-type-options") == "nosniff", "{name}");
    }
    Ok(())
}

// A file occupies the path of the attachments' directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_upload_does_not_disclose_its_path() -> Result<()> {
    let ticket = UploadFixture::new().await?;
    write(&ticket.attachments, "no directory")?;
    let (status, answer) = ticket.upload("AB-1", form(&[TestPart(Some("a"), "image/png", PNG)])).await?;
    let expected = json!({"error": "Failed to save file", "code": "operation_failed"});
    ensure!((status, &answer) == (500, &expected), "{status} {answer}");
    ticket.attachment_refused("AB-1/a.png", 404, "File not found").await
}
