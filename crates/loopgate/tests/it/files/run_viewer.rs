//! Uploaded run archives: extraction, listing and removal.

use std::io::{Cursor, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::wait;
use reqwest::{Body, Method, header};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::form::{TestPart, content_type, form};
use crate::test_gateway::{TestGateway, write};

const ROUTE: &str = "run-viewer-extract";
const ZIP: &str = "application/zip";
const MIB: usize = 1024 * 1024;

/// A gateway with its own directory for temporary files.
struct RunViewer {
    local: TestGateway,
    temporary: PathBuf,
}

impl RunViewer {
    async fn new() -> Result<Self> {
        let home = UserHome::temporary()?;
        let temporary = home.path().join("t");
        std::fs::create_dir(&temporary)?;
        let tmpdir = temporary.clone();
        let local = TestGateway::in_home(home, |setup| setup.env("TMPDIR", tmpdir)).await?;
        Ok(Self { local, temporary })
    }

    async fn send(&self, kind: &str, body: Vec<u8>) -> Result<(u16, Value)> {
        let request = self.local.loopgate.gateway(Method::POST, &format!("/api/gateway/{ROUTE}"));
        let answer = request.header(header::CONTENT_TYPE, kind).body(body).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    /// Uploads an archive as the only part of a form.
    async fn extract(&self, archive: &[u8]) -> Result<(u16, Value)> {
        self.send(&content_type(), form(&[TestPart(Some("run.zip"), ZIP, archive)])).await
    }

    async fn refuses(&self, kind: &str, body: Vec<u8>, text: &str) -> Result<()> {
        let (status, answer) = self.send(kind, body).await?;
        ensure!((status, answer["error"].as_str()) == (400, Some(text)), "{status} {answer}, not {text}");
        ensure!(self.remaining().is_empty(), "remaining files: {:?}", self.remaining());
        Ok(())
    }

    async fn list(&self, run_dir: &str) -> Result<crate::test_gateway::Answer> {
        self.local.get(ROUTE, &[("runDir", run_dir)]).await
    }

    async fn remove(&self, run_dir: &str) -> Result<crate::test_gateway::Answer> {
        self.local.delete(ROUTE, json!({"runDir": run_dir})).await
    }

    fn remaining(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.temporary).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// Returns an archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default())?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}

// GF-41
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_is_unpacked_listed_and_removed() -> Result<()> {
    let viewer = RunViewer::new().await?;
    let files: [(&str, &[u8]); 3] =
        [("state.json", b"{}"), ("nested/trace.log", b"trace"), ("__MACOSX/nested/._trace.log", b"x")];
    let sent = archive(&files)?;
    let (status, answer) = viewer.extract(&sent).await?;
    ensure!(status == 200, "{answer}");
    let run_dir = answer["runDir"].as_str().context("a directory")?;
    let name = Path::new(run_dir).strip_prefix(&viewer.temporary)?.to_string_lossy().into_owned();
    ensure!(name.strip_prefix("run-viewer-").is_some_and(|id| uuid::Uuid::parse_str(id).is_ok()), "{name}");
    ensure!(std::fs::read(Path::new(run_dir).join("nested/trace.log"))? == b"trace");
    ensure!(viewer.remaining() == [name], "unexpected files: {:?}", viewer.remaining());

    viewer.list(run_dir).await?.is(200, &json!({"files": ["nested/trace.log", "state.json"]}))?;
    let removed = json!({"success": true});
    viewer.remove(run_dir).await?.is(200, &removed)?;
    viewer.remove(run_dir).await?.is(200, &removed)?;
    viewer.list(run_dir).await?.refused(404, "Run directory not found", "not_found")?;
    ensure!(viewer.remaining().is_empty());

    // The first part that is a zip archive is used, whichever of its content types it has.
    for kind in [ZIP, "application/x-zip-compressed", "application/octet-stream"] {
        let parts = [TestPart(Some("a.txt"), "text/plain", b"PK"), TestPart(Some("Run.ZIP"), kind, &sent)];
        let (status, answer) = viewer.send(&content_type(), form(&parts)).await?;
        ensure!(status == 200, "{kind}: {answer}");
    }
    Ok(())
}

// GF-41, GF-43
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_archive_is_refused_and_leaves_no_files() -> Result<()> {
    let viewer = RunViewer::new().await?;
    let kind = content_type();
    let good = archive(&[("a", b"a")])?;
    viewer.refuses("application/json", b"{}".to_vec(), "Invalid form data").await?;
    viewer.refuses("multipart/form-data", form(&[TestPart(None, ZIP, &good)]), "Invalid form data").await?;
    let whole = form(&[TestPart(None, ZIP, &good)]);
    viewer.refuses(&kind, whole[..whole.len() - 20].to_vec(), "Invalid form data").await?;
    viewer.refuses(&kind, form(&[]), "No zip file provided").await?;
    viewer.refuses(&kind, form(&[TestPart(None, "text/plain", &good)]), "No zip file provided").await?;
    let octets = TestPart(Some("run.tar"), "application/octet-stream", &good);
    viewer.refuses(&kind, form(&[octets]), "No zip file provided").await?;
    viewer.refuses(&kind, form(&[TestPart(None, ZIP, b"no archive")]), "No zip file provided").await?;
    // A single invalid entry refuses the whole archive: no file of it may remain.
    for (archived, text) in [
        (archive(&[])?, "Zip contains no files"),
        (archive(&[("__MACOSX/a", b"a")])?, "Zip contains no files"),
        (archive(&[("fine", b"a"), ("../evil", b"a")])?, "Invalid zip file"),
        (archive(&[("/evil", b"a")])?, "Invalid zip file"),
        (good[..good.len() - 5].to_vec(), "Invalid zip file"),
        (archive(&[("zeros", &vec![0; 66 * MIB])])?, "Zip contents too large"),
    ] {
        viewer.refuses(&kind, form(&[TestPart(None, ZIP, &archived)]), text).await?;
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("fine", SimpleFileOptions::default())?;
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default())?;
    let link = writer.finish()?.into_inner();
    viewer.refuses(&kind, form(&[TestPart(None, ZIP, &link)]), "Invalid zip file").await?;
    ensure!(!viewer.local.home.path().join("evil").exists());
    Ok(())
}

// GF-42
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_that_are_no_run_are_refused() -> Result<()> {
    let viewer = RunViewer::new().await?;
    let at = |name: &str| viewer.temporary.join(name).to_string_lossy().into_owned();
    write(&viewer.temporary.join("other/keep"), "")?;
    write(&viewer.temporary.join("run-viewer-1/sub/keep"), "")?;
    write(&viewer.temporary.join("run-viewer-upload-1/keep"), "")?;
    write(&viewer.temporary.join("run-viewer-file"), "")?;
    std::os::unix::fs::symlink("other", viewer.temporary.join("run-viewer-link"))?;
    let long = at(&format!("run-viewer-{}", "x".repeat(221)));
    let invalid = [
        String::new(),
        at("run-viewer-x/../y"),
        at("run-viewer-1/sub"),
        at("run-viewer-upload-1"),
        at("run-viewer-file"),
        at("run-viewer-link"),
        at("run-viewer-"),
        at("other"),
        "/etc".into(),
        "run-viewer-1".into(),
        long,
    ];
    for run_dir in &invalid {
        viewer.list(run_dir).await?.refused(400, "Invalid runDir", "invalid_request")?;
        viewer.remove(run_dir).await?.refused(400, "Invalid runDir", "invalid_request")?;
    }
    viewer.local.get(ROUTE, &[]).await?.refused(400, "Invalid runDir", "invalid_request")?;
    for (body, text, code) in [
        ("{", "Invalid JSON body", "invalid_json_body"),
        ("null", "Invalid JSON body", "invalid_json_body"),
        ("", "Invalid runDir", "invalid_request"),
        ("[]", "Invalid runDir", "invalid_request"),
        (r#"{"runDir": 5}"#, "Invalid runDir", "invalid_request"),
    ] {
        viewer.local.send(Method::DELETE, ROUTE, body).await?.refused(400, text, code)?;
    }
    for name in ["other/keep", "run-viewer-1/sub/keep", "run-viewer-upload-1/keep"] {
        ensure!(viewer.temporary.join(name).exists(), "{name}");
    }
    viewer.list(&at("run-viewer-1")).await?.is(200, &json!({"files": ["sub/keep"]}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_runs_are_deleted_at_startup() -> Result<()> {
    let home = UserHome::temporary()?;
    let temporary = home.path().join("t");
    // Runs are deleted when they are older than a week.
    let age = Duration::from_secs(8 * 24 * 60 * 60);
    for name in ["run-viewer-old", "other"] {
        write(&temporary.join(name).join("file"), "")?;
        std::fs::File::open(temporary.join(name))?.set_modified(SystemTime::now() - age)?;
    }
    write(&temporary.join("run-viewer-new/file"), "")?;
    let tmpdir = temporary.clone();
    let _local = TestGateway::in_home(home, |setup| setup.env("TMPDIR", tmpdir)).await?;
    wait::until_removed(&temporary.join("run-viewer-old")).await?;
    ensure!(temporary.join("other/file").exists() && temporary.join("run-viewer-new/file").exists());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_directory_is_private() -> Result<()> {
    let viewer = RunViewer::new().await?;
    let (status, answer) = viewer.extract(&archive(&[("a/b", b"x")])?).await?;
    ensure!(status == 200, "{answer}");
    let run_dir = Path::new(answer["runDir"].as_str().context("a directory")?);
    for directory in [run_dir.to_owned(), run_dir.join("a")] {
        let mode = std::fs::metadata(&directory)?.permissions().mode() & 0o777;
        ensure!(mode == 0o700, "{} has {mode:o}", directory.display());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_archive_is_refused() -> Result<()> {
    let viewer = RunViewer::new().await?;
    let whole = form(&[TestPart(Some("run.zip"), ZIP, b"PK\x03\x04")]);
    let (head, tail) = whole.split_at(whole.len() - form(&[]).len() - 2);
    // One byte above the limit. It is streamed, since neither side may buffer 200 MB.
    let filling = 200 * MIB + 1 - 4;
    let pieces = std::iter::once(head.to_vec())
        .chain(std::iter::repeat_n(vec![0; MIB], filling / MIB))
        .chain([vec![0; filling % MIB], tail.to_vec()]);
    let body = Body::wrap_stream(tokio_stream::iter(pieces.map(Ok::<_, std::io::Error>)));
    let path = format!("/api/gateway/{ROUTE}");
    let request = viewer.local.loopgate.gateway(Method::POST, &path);
    let answer = request.header(header::CONTENT_TYPE, content_type()).body(body).send().await?;
    let (status, answer) = (answer.status(), answer.json::<Value>().await?);
    ensure!(
        (status.as_u16(), &answer["error"]) == (400, &json!("Zip file too large (max 200MB)")),
        "{answer}"
    );

    // A declared length above the limit is refused before the body is read: this one never ends.
    let request = viewer.local.loopgate.gateway(Method::POST, &path);
    let request = request.header(header::CONTENT_TYPE, content_type());
    let endless = Body::wrap_stream(tokio_stream::pending::<std::io::Result<Vec<u8>>>());
    let answer = request.header(header::CONTENT_LENGTH, 210 * MIB + 1).body(endless).send().await?;
    let expected = json!({"error": "request body too large", "code": "request_body_too_large",
        "maxBytes": 210 * MIB});
    ensure!((answer.status().as_u16(), answer.json::<Value>().await?) == (413, expected));
    ensure!(viewer.remaining().is_empty(), "remaining files: {:?}", viewer.remaining());
    Ok(())
}
