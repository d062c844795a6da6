//! Measures the routes that work on local directories, compared with the minimal work that each requires.
//!
//! Route and baseline alternate, so that a change of the machine's load affects both. The table shows
//! medians.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

/// Samples of each route and baseline.
const ROUNDS: usize = 25;
/// Samples of the first search in a tree, which builds its index.
const COLD_ROUNDS: usize = 5;
/// Number of images in the measured upload.
const PICTURES: usize = 5;
/// Size of each image, just below the limit of 10 MB per image.
const PICTURE_BYTES: usize = 9_900_000;
/// Arguments of git that produce the same diff on a terminal.
const DIFF: [&str; 4] = ["diff", "HEAD", "--", "d0/big.txt"];
/// Size of the measured log. The first response counts all its lines.
const LOG_BYTES: usize = 50_000_000;
const LOG_PIECE: usize = 10_000_000;
const LOG_LINE: usize = 400;
const LOG_LIMIT: Duration = Duration::from_millis(5);

/// Measures all routes with one gateway.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let directories = TestDirectories::new()?;
    let desktop = BenchDesktop {
        gateway: GatewayProcess::start(binary, &directories).await?,
        client: loopgate_http_client::builder().build()?,
        sandbox: directories.path("sandbox"),
    };
    // Repositories are created first: results for files that changed very recently are not cached, because a
    // further change within the same timestamp would go unnoticed.
    let few = desktop.repository("status-100", 100)?;
    let many = desktop.repository("status-50000", 50_000)?;
    desktop.status(&few, 100, table).await?;
    desktop.status(&many, 50_000, table).await?;
    desktop.branches(2_000, table).await?;
    desktop.diff(10_000, table).await?;
    for files in [5_000, 100_000] {
        desktop.search(files, table).await?;
    }
    for entries in [10, 10_000] {
        desktop.directories(entries, table).await?;
    }
    desktop.upload(table).await?;
    desktop.logs(table).await?;
    table.memory("gateway resident after all local routes", desktop.gateway.resident_memory()?, Some(60.0));
    Ok(())
}

struct BenchDesktop {
    gateway: GatewayProcess,
    client: Client,
    sandbox: PathBuf,
}

impl BenchDesktop {
    async fn status(&self, repository: &Path, files: usize, table: &mut Table) -> anyhow::Result<()> {
        std::fs::write(repository.join("d0/f0.rs"), "changed\n")?;
        let request = |directory: &Path| {
            let body = json!({"action": "status", "repoPath": directory});
            self.timed(self.post("/api/gateway/git").json(&body))
        };
        let floor = || bare_git(repository, &["status", "--porcelain=v2", "--branch"]);
        // Results are only cached for the root of a working tree, so a request below it always runs git.
        let below = repository.join("d0");
        pair(table, &format!("git status, {files} files, uncached, p50"), || request(&below), floor).await?;
        pair(table, &format!("git status, {files} files, cached, p50"), || request(repository), floor)
            .await?;
        let changes = AtomicUsize::new(0);
        let change = || {
            let text = format!("{}\n", changes.fetch_add(1, Ordering::Relaxed));
            std::fs::write(repository.join("d0/f1.rs"), text)
        };
        let changed = async || {
            change()?;
            request(repository).await
        };
        pair(table, &format!("git status, {files} files, one file changed, p50"), changed, floor)
            .await
            .map(drop)
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
        pair(table, &format!("branches, {count} branches, cached, p50"), route, floor).await?;
        let moved = async || {
            std::fs::write(repository.join(".git/refs/heads/moving"), format!("{head}\n"))?;
            route().await
        };
        pair(table, &format!("branches, {count} branches, one branch changed, p50"), moved, floor)
            .await
            .map(drop)
    }

    async fn diff(&self, lines: usize, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository("diff", 10)?;
        let text = |word: &str| (0..lines).map(|n| format!("{word} {n}\n")).collect::<String>();
        std::fs::write(repository.join("d0/big.txt"), text("before"))?;
        git(&repository, &["add", "."])?;
        git(&repository, &["commit", "-q", "-m", "big"])?;
        std::fs::write(repository.join("d0/big.txt"), text("after"))?;
        let request = |directory: &Path, file: &str| {
            let body = json!({"repoPath": directory, "filePath": file});
            self.timed(self.post("/api/gateway/git/diff").json(&body))
        };
        let floor = || bare_git(&repository, &DIFF);
        let cached = || request(&repository, "d0/big.txt");
        pair(table, &format!("diff, {lines} lines, cached, p50"), cached, floor).await?;
        let changes = AtomicUsize::new(0);
        let changed = async || {
            let word = format!("after {}", changes.fetch_add(1, Ordering::Relaxed));
            std::fs::write(repository.join("d0/big.txt"), text(&word))?;
            cached().await
        };
        pair(table, &format!("diff, {lines} lines, just changed, p50"), changed, floor).await?;
        // A change through another hard link raises no event in the watched directory, so the result is not
        // cached.
        let uncached_repository = self.repository("diff-unseen", 10)?;
        std::fs::write(uncached_repository.join("d0/big.txt"), text("before"))?;
        git(&uncached_repository, &["add", "."])?;
        git(&uncached_repository, &["commit", "-q", "-m", "big"])?;
        std::fs::write(uncached_repository.join("d0/big.txt"), text("after"))?;
        std::fs::hard_link(uncached_repository.join("d0/f0.rs"), self.sandbox.join("second-name"))?;
        let uncached = || request(&uncached_repository, "d0/big.txt");
        let floor = || bare_git(&uncached_repository, &DIFF);
        pair(table, &format!("diff, {lines} lines, uncached, p50"), uncached, floor).await.map(drop)
    }

    /// Compares the first search with a plain walk of the tree, later ones with a limit and with the matcher
    /// alone.
    async fn search(&self, files: usize, table: &mut Table) -> anyhow::Result<()> {
        let mut directory = self.sandbox.join(format!("search-{files}"));
        plant(&directory, files)?;
        let url = |directory: &Path, query: &str| {
            format!("/api/gateway/files/search?repo={}&base=true&query={query}", directory.display())
        };
        let (mut walk_times, mut cold_times) = (Vec::new(), Vec::new());
        for round in 0..COLD_ROUNDS {
            // Renaming the directory invalidates the index of the earlier round.
            let moved = self.sandbox.join(format!("search-{files}-{round}"));
            std::fs::rename(&directory, &moved)?;
            directory = moved;
            walk_times.push(bare_walk(&directory).await?);
            cold_times.push(self.timed(self.get(&url(&directory, "f42"))).await?);
        }
        table.latency(
            &format!("files/search, {files} files, first search"),
            median(cold_times),
            median(walk_times),
        );
        let paths: Vec<String> = (0..files).map(|n| format!("d{}/f{n}.rs", n / 100)).collect();
        let (mut times, mut matchers) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
        for n in 0..ROUNDS {
            let query = format!("f{n}");
            times.push(self.timed(self.get(&url(&directory, &query))).await?);
            matchers.push(bare_matcher(&paths, &query));
        }
        let limit = if files > 10_000 { Duration::from_millis(10) } else { Duration::from_micros(500) };
        let warm = median(times);
        table.time(&format!("files/search, {files} files, warm, p50"), warm, limit);
        table.latency(&format!("files/search, {files} files, warm, matcher alone"), warm, median(matchers));
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
        pair(table, &format!("directories, {entries} entries, p50"), route, floor).await.map(drop)
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
        pair(table, "upload of 50 MB, p50", route, floor).await.map(drop)
    }

    /// Measures reading the last lines of a large log.
    async fn logs(&self, table: &mut Table) -> anyhow::Result<()> {
        let repository = self.repository("logs", 10)?;
        let work = self.sandbox.join("logs-AB-1/.loopgate/work");
        std::fs::create_dir_all(&work)?;
        let log = work.join("assistant-output.jsonl");
        let line = format!("{}\n", json!({"type": "assistant", "text": "x".repeat(LOG_LINE)}));
        let piece = line.repeat(LOG_PIECE / line.len());
        let mut file = std::fs::File::create(&log)?;
        for _ in 0..LOG_BYTES / LOG_PIECE {
            std::io::Write::write_all(&mut file, piece.as_bytes())?;
        }
        let path = format!("/api/gateway/orchestrator/logs/AB-1?repo={}", repository.display());
        let route = || self.timed(self.get(&path));
        let floor = || bare(Path::new("tail"), &log, &["-n", "100"]);
        let p50 = pair(table, "the last 100 lines of a log of 50 MB, p50", route, floor).await?;
        table.time("the last 100 lines of a log of 50 MB, p50", p50, LOG_LIMIT);
        table.memory("gateway resident, after a log of 50 MB", self.gateway.resident_memory()?, Some(60.0));
        Ok(std::fs::remove_file(log)?)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.gateway.url(path)).header("X-Desktop-Gateway-Token", &self.gateway.token)
    }

    fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.gateway.url(path)).header("X-Desktop-Gateway-Token", &self.gateway.token)
    }

    /// Returns the time from sending the request to reading the complete response.
    async fn timed(&self, request: RequestBuilder) -> anyhow::Result<Duration> {
        let begin = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let body = response.bytes().await?;
        let time = begin.elapsed();
        let json = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        // Some routes report an error in a body with status 200.
        ensure!(status.is_success() && json.get("error").is_none(), "{status}: {json}");
        Ok(time)
    }

    /// Creates a repository with this many committed files.
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

/// Creates this many files, a hundred per directory.
pub fn plant(directory: &Path, files: usize) -> anyhow::Result<()> {
    for n in 0..files {
        if n % 100 == 0 {
            std::fs::create_dir_all(directory.join(format!("d{}", n / 100)))?;
        }
        std::fs::write(directory.join(format!("d{}/f{n}.rs", n / 100)), format!("{n}\n"))?;
    }
    Ok(())
}

/// Measures route and baseline alternately, and adds their medians to the table. Returns the median of the
/// route.
async fn pair<R, F>(
    table: &mut Table,
    name: &str,
    route: impl Fn() -> R,
    floor: impl Fn() -> F,
) -> anyhow::Result<Duration>
where
    R: Future<Output = anyhow::Result<Duration>>,
    F: Future<Output = anyhow::Result<Duration>>,
{
    let (mut routes, mut floors) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    // Warms up caches; the first call of each is not measured.
    route().await.with_context(|| name.to_owned())?;
    floor().await?;
    for _ in 0..ROUNDS {
        routes.push(route().await?);
        floors.push(floor().await?);
    }
    let route = median(routes);
    table.latency(name, route, median(floors));
    Ok(route)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the run time of git, including reading its output.
#[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
async fn bare_git(directory: &Path, arguments: &[&str]) -> anyhow::Result<Duration> {
    let mut command = tokio::process::Command::new("git");
    command.current_dir(directory).args(arguments).stdin(Stdio::null());
    let begin = Instant::now();
    let output = command.output().await?;
    let time = begin.elapsed();
    ensure!(output.status.success(), "git {arguments:?} failed");
    Ok(time)
}

/// Returns the run time of a program on a file, including reading its output.
#[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
async fn bare(program: &Path, file: &Path, arguments: &[&str]) -> anyhow::Result<Duration> {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).arg(file).stdin(Stdio::null());
    let begin = Instant::now();
    let output = command.output().await?;
    let time = begin.elapsed();
    ensure!(output.status.success(), "{} failed", program.display());
    Ok(time)
}

/// Walks a directory tree with two threads and counts the entries.
async fn bare_walk(directory: &Path) -> anyhow::Result<Duration> {
    let directory = directory.to_owned();
    blocking(move || {
        let entries = std::sync::atomic::AtomicUsize::new(0);
        ignore::WalkBuilder::new(directory).threads(2).build_parallel().run(|| {
            Box::new(|_| {
                entries.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                ignore::WalkState::Continue
            })
        });
        Ok(entries.into_inner())
    })
    .await
}

/// Matches a query against paths in memory.
fn bare_matcher(paths: &[String], query: &str) -> Duration {
    let begin = Instant::now();
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let atom = Atom::new(query, CaseMatching::Ignore, Normalization::Smart, AtomKind::Substring, false);
    let mut letters = Vec::new();
    let scored = paths.iter().filter_map(|path| atom.score(Utf32Str::new(path, &mut letters), &mut matcher));
    std::hint::black_box(scored.max());
    begin.elapsed()
}

async fn blocking(work: impl FnOnce() -> anyhow::Result<usize> + Send + 'static) -> anyhow::Result<Duration> {
    let begin = Instant::now();
    tokio::task::spawn_blocking(work).await??;
    Ok(begin.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
fn text_of(directory: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output = std::process::Command::new("git").current_dir(directory).args(arguments).output()?;
    ensure!(output.status.success(), "git {arguments:?} failed");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

pub fn git(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    text_of(directory, arguments).map(drop)
}
