//! The routes that work on local directories, each beside the bare work that it cannot go below.
//!
//! A route and its floor are asked in turn, so that neither profits from a quiet moment; the table
//! shows the medians.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::gateway::{Gateway, Place};
use crate::table::Table;

/// Times that each is asked.
const ROUNDS: usize = 25;
/// The measured upload: pictures of nearly the size that one may have, in one request.
const PICTURES: usize = 5;
const PICTURE_BYTES: usize = 9_900_000;

/// Measures them all, on one gateway.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let place = Place::new()?;
    let desk = Desk {
        gateway: Gateway::start(binary, &place).await?,
        client: Client::new(),
        sandbox: place.path("sandbox"),
    };
    for files in [100, 50_000] {
        desk.status(files, table).await?;
    }
    desk.branches(2_000, table).await?;
    desk.diff(10_000, table).await?;
    for files in [5_000, 100_000] {
        desk.search(files, table).await?;
    }
    for entries in [10, 10_000] {
        desk.directories(entries, table).await?;
    }
    desk.upload(table).await?;
    table.memory("gateway resident, after all local routes", desk.gateway.resident_memory()?, Some(60.0));
    Ok(())
}

struct Desk {
    gateway: Gateway,
    client: Client,
    sandbox: PathBuf,
}

impl Desk {
    async fn status(&self, files: usize, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository(&format!("status-{files}"), files)?;
        std::fs::write(repository.join("d0/f0.rs"), "changed\n")?;
        let body = json!({"action": "status", "repoPath": repository});
        let route = || self.timed(self.post("/api/gateway/git").json(&body));
        let floor = || bare_git(&repository, &["status", "--porcelain=v2", "--branch"]);
        pair(table, &format!("git status, {files} files, p50"), route, floor).await
    }

    async fn branches(&self, count: usize, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository("branches", 10)?;
        let head = text_of(&repository, &["rev-parse", "HEAD"])?;
        let mut packed = String::from("# pack-refs with: peeled fully-peeled sorted \n");
        let mut names: Vec<String> = (0..count).map(|n| format!("refs/heads/topic/{n:05}")).collect();
        names.sort();
        names.iter().for_each(|name| packed.push_str(&format!("{head} {name}\n")));
        std::fs::write(repository.join(".git/packed-refs"), packed)?;
        let path = format!("/api/gateway/git/branches?repo={}", repository.display());
        let route = || self.timed(self.get(&path));
        let floor = || bare_git(&repository, &["for-each-ref", "refs/heads", "refs/remotes"]);
        pair(table, &format!("branches, {count} branches, p50"), route, floor).await
    }

    async fn diff(&self, lines: usize, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository("diff", 10)?;
        let text = |word: &str| (0..lines).map(|n| format!("{word} {n}\n")).collect::<String>();
        std::fs::write(repository.join("big.txt"), text("before"))?;
        git(&repository, &["add", "."])?;
        git(&repository, &["commit", "-q", "-m", "big"])?;
        std::fs::write(repository.join("big.txt"), text("after"))?;
        let body = json!({"repoPath": repository, "filePath": "big.txt"});
        let route = || self.timed(self.post("/api/gateway/git/diff").json(&body));
        let floor = || bare_git(&repository, &["cat-file", "blob", "HEAD:big.txt"]);
        pair(table, &format!("diff, {lines} lines, p50"), route, floor).await
    }

    /// Cold against a bare walk of the tree, warm alone.
    async fn search(&self, files: usize, table: &mut Table) -> anyhow::Result<()> {
        let directory = self.sandbox.join(format!("search-{files}"));
        plant(&directory, files)?;
        let url = |query: &str| {
            format!("/api/gateway/files/search?repo={}&base=true&query={query}", directory.display())
        };
        let walk = bare_walk(&directory).await?;
        let cold = self.timed(self.get(&url("f42"))).await?;
        table.latency(&format!("files/search, {files} files, first answer"), cold, walk);
        let mut times = Vec::with_capacity(ROUNDS);
        for n in 0..ROUNDS {
            times.push(self.timed(self.get(&url(&format!("f{n}")))).await?);
        }
        let limit = if files > 10_000 { Duration::from_millis(10) } else { Duration::from_micros(500) };
        table.time(&format!("files/search, {files} files, warm, p50"), median(times), limit);
        Ok(())
    }

    async fn directories(&self, entries: usize, table: &mut Table) -> anyhow::Result<()> {
        let directory = self.sandbox.join(format!("directories-{entries}"));
        for n in 0..entries {
            std::fs::create_dir_all(directory.join(format!("d{n:05}")))?;
        }
        let path = format!("/api/gateway/directories?path={}", directory.display());
        let route = || self.timed(self.get(&path));
        let floor = || {
            let directory = directory.clone();
            blocking(move || {
                let entries = std::fs::read_dir(directory)?.map_while(Result::ok);
                Ok(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).count())
            })
        };
        pair(table, &format!("directories, {entries} entries, p50"), route, floor).await
    }

    async fn upload(&self, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository("upload", 10)?;
        std::fs::create_dir_all(self.sandbox.join("upload-AB-1"))?;
        let picture = self.sandbox.join("picture.png");
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.resize(PICTURE_BYTES, 7);
        std::fs::write(&picture, bytes.repeat(PICTURES))?;
        let path = format!("/api/gateway/orchestrator/upload/AB-1?repo={}", repository.display());
        let head = "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\
                    content-type: image/png\r\n\r\n";
        let part = [head.as_bytes(), &bytes, b"\r\n"].concat();
        let body = bytes::Bytes::from([part.repeat(PICTURES).as_slice(), b"--edge--\r\n"].concat());
        let route = || {
            let request = self.post(&path).header("content-type", "multipart/form-data; boundary=edge");
            self.timed(request.body(body.clone()))
        };
        let copy = self.sandbox.join("copy.png");
        let floor = || {
            let (from, to) = (picture.clone(), copy.clone());
            blocking(move || Ok(std::fs::copy(from, to)? as usize))
        };
        pair(table, "upload of 50 MB, p50", route, floor).await
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.gateway.url(path)).header("X-Desktop-Gateway-Token", &self.gateway.token)
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.gateway.url(path)).header("X-Desktop-Gateway-Token", &self.gateway.token)
    }

    /// From the first byte sent to the last one read.
    async fn timed(&self, request: RequestBuilder) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let body = response.bytes().await?;
        let time = begin.elapsed();
        let told = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        ensure!(status.is_success() && told.get("error").is_none(), "{status}: {told}");
        Ok(time)
    }

    /// A repository with that many committed files.
    fn repository(&self, name: &str, files: usize) -> anyhow::Result<PathBuf> {
        let directory = self.sandbox.join(name);
        plant(&directory, files)?;
        git(&directory, &["init", "-q", "-b", "main"])?;
        git(&directory, &["config", "user.name", "b"])?;
        git(&directory, &["config", "user.email", "b@example.test"])?;
        git(&directory, &["add", "."])?;
        git(&directory, &["commit", "-q", "-m", "first"])?;
        Ok(directory)
    }
}

/// Files in directories of a hundred.
fn plant(directory: &Path, files: usize) -> anyhow::Result<()> {
    for n in 0..files {
        if n % 100 == 0 {
            std::fs::create_dir_all(directory.join(format!("d{}", n / 100)))?;
        }
        std::fs::write(directory.join(format!("d{}/f{n}.rs", n / 100)), format!("{n}\n"))?;
    }
    Ok(())
}

async fn pair<R, F>(
    table: &mut Table,
    name: &str,
    route: impl Fn() -> R,
    floor: impl Fn() -> F,
) -> anyhow::Result<()>
where
    R: Future<Output = anyhow::Result<Duration>>,
    F: Future<Output = anyhow::Result<Duration>>,
{
    let (mut routes, mut floors) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    route().await.with_context(|| name.to_owned())?;
    floor().await?;
    for _ in 0..ROUNDS {
        routes.push(route().await?);
        floors.push(floor().await?);
    }
    table.latency(name, median(routes), median(floors));
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A run of git whose output is read.
#[expect(clippy::disallowed_methods, reason = "a measuring program of its own, outside the product")]
async fn bare_git(directory: &Path, arguments: &[&str]) -> anyhow::Result<Duration> {
    let mut command = tokio::process::Command::new("git");
    command.current_dir(directory).args(arguments).stdin(Stdio::null());
    let begin = Instant::now();
    let output = command.output().await?;
    let time = begin.elapsed();
    ensure!(output.status.success(), "git {arguments:?} failed");
    Ok(time)
}

/// A walk of the tree on all cores that only looks.
async fn bare_walk(directory: &Path) -> anyhow::Result<Duration> {
    let directory = directory.to_owned();
    blocking(move || {
        let found = std::sync::atomic::AtomicUsize::new(0);
        ignore::WalkBuilder::new(directory).threads(2).build_parallel().run(|| {
            Box::new(|_| {
                found.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                ignore::WalkState::Continue
            })
        });
        Ok(found.into_inner())
    })
    .await
}

async fn blocking(work: impl FnOnce() -> anyhow::Result<usize> + Send + 'static) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    tokio::task::spawn_blocking(work).await??;
    Ok(begin.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "a measuring program of its own, outside the product")]
fn text_of(directory: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output = std::process::Command::new("git").current_dir(directory).args(arguments).output()?;
    ensure!(output.status.success(), "git {arguments:?} failed");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn git(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    text_of(directory, arguments).map(drop)
}
