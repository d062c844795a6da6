//! The bare repositories over HTTP, with git's own server program.
//!
//! The server also accepts the requests that a client sends to a proxy, for any host. It then stands for the network
//! outside of this machine.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::TryStreamExt as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_util::io::{ReaderStream, StreamReader};
use tokio_util::task::AbortOnDropHandle;

use crate::git::GitRemotes;

/// An HTTP server of the repositories. Stops when dropped.
#[derive(Debug)]
pub struct HttpRemotes {
    port: u16,
    shared: Arc<HttpRemotesState>,
    _serving: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct HttpRemotesState {
    remotes: GitRemotes,
    requests: Mutex<Vec<String>>,
}

impl HttpRemotes {
    /// Starts the server on a free loopback port.
    pub async fn start(remotes: &GitRemotes) -> anyhow::Result<Self> {
        let shared = Arc::new(HttpRemotesState { remotes: remotes.clone(), requests: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let router = Router::new().fallback(receive).with_state(Arc::clone(&shared));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "HTTP server of the repositories failed");
            }
        });
        Ok(Self { port, shared, _serving: AbortOnDropHandle::new(serving) })
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the method and the URI of all requests so far, oldest first. The URI has a host if the server was used as
    /// a proxy.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn receive(State(shared): State<Arc<HttpRemotesState>>, request: Request) -> Response {
    let line = format!("{} {}", request.method(), request.uri());
    shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    let response = http_backend(&shared.remotes, request).await;
    response.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response())
}

/// Passes a request to `git http-backend`, a CGI program (RFC 3875).
async fn http_backend(remotes: &GitRemotes, request: Request) -> anyhow::Result<Response> {
    let (request, body) = request.into_parts();
    let value = |name| request.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    #[expect(clippy::disallowed_methods, reason = "the server side of a test, independent of the product")]
    let mut command = tokio::process::Command::new("git");
    command
        .arg("http-backend")
        .env_remove("HOME")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", remotes.root())
        .env("GIT_HTTP_EXPORT_ALL", "1")
        // Pushes are accepted from authenticated users only.
        .env("REMOTE_USER", "octo-dev")
        .env("REQUEST_METHOD", request.method.as_str())
        .env("PATH_INFO", request.uri.path())
        .env("QUERY_STRING", request.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", value(header::CONTENT_TYPE.as_str()))
        .env("HTTP_CONTENT_ENCODING", value(header::CONTENT_ENCODING.as_str()))
        .env("GIT_PROTOCOL", value("git-protocol"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("start git http-backend")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let mut stdout = BufReader::new(child.stdout.take().context("no standard output")?);
    let body = body.into_data_stream().map_err(io::Error::other);
    tokio::spawn(async move {
        // A client that disconnects ends the input early, and git reports it.
        let _ = tokio::io::copy(&mut StreamReader::new(body), &mut stdin).await;
        drop(stdin);
        child.wait().await
    });
    let mut response = Response::builder();
    let mut line = String::new();
    while stdout.read_line(&mut line).await? > 2 {
        let (name, value) = line.trim_end().split_once(": ").context("a header without a value")?;
        response = if name == "Status" {
            response.status(value.split(' ').next().unwrap_or_default())
        } else {
            response.header(name, value)
        };
        line.clear();
    }
    Ok(response.body(Body::from_stream(ReaderStream::new(stdout)))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::git;
    use crate::tcp_proxy::{TcpProxy, Uplink};

    #[tokio::test(flavor = "multi_thread")]
    async fn repositories_are_cloned_and_pushed_to_directly_by_a_proxy_and_slowly() {
        let remotes = GitRemotes::temporary().unwrap();
        remotes.create("acme/shop", &[("README.md", "# Shop\n")]).unwrap();
        let http = HttpRemotes::start(&remotes).await.unwrap();
        let uplink = Uplink { bytes_per_second: 1_000_000, stalls_after: None };
        let slow = TcpProxy::slow(http.port(), uplink).await.unwrap();
        let through = format!("http.proxy=http://127.0.0.1:{}", http.port());
        for (name, option, base) in [
            ("direct", "http.proxy=", format!("http://127.0.0.1:{}", http.port())),
            ("proxy", &through, "http://git.example.test".to_owned()),
            ("slow", "http.proxy=", format!("http://127.0.0.1:{}", slow.port())),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let run = |args: &[&str]| git(folder.path(), &[&["-c", option], args].concat()).unwrap();
            run(&["clone", "--quiet", &format!("{base}/acme/shop.git"), "."]);
            run(&["commit", "--quiet", "--allow-empty", "-m", name]);
            run(&["push", "--quiet", "origin", &format!("HEAD:refs/heads/{name}")]);
        }
        let branches: Vec<String> = remotes.branches("acme/shop").unwrap().into_keys().collect();
        assert_eq!(branches, ["direct", "main", "proxy", "slow"]);
        let of_proxy = "POST http://git.example.test/acme/shop.git/git-receive-pack";
        assert!(http.requests().iter().any(|request| request == of_proxy), "{:?}", http.requests());
    }
}
