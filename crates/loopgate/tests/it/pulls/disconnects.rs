//! Clients that disconnect before the code host has answered.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;

use super::PullsFixture;

/// Creates a FIFO through which a script reports its progress.
async fn pipe(desktop: &PullsFixture, name: &str) -> Result<PathBuf> {
    let path = desktop.local.home.path().join(name);
    let mkfifo = desktop.local.home.command("mkfifo").arg(&path).status().await?;
    ensure!(mkfifo.success(), "mkfifo failed");
    Ok(path)
}

/// Reads the first line, drops the request, and returns the remaining output.
async fn disconnect_after_first_line(
    pipe: &Path,
    request: reqwest::RequestBuilder,
    then: impl FnOnce() -> Result<()>,
) -> Result<String> {
    let request = tokio::spawn(request.send());
    let path = pipe.to_owned();
    let reader = tokio::task::spawn_blocking(move || -> Result<_> {
        let mut reader = BufReader::new(std::fs::File::open(path)?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        ensure!(line == "started\n", "{line}");
        Ok(reader)
    });
    let mut reader = reader.await??;
    request.abort();
    ensure!(request.await.is_err_and(|error| error.is_cancelled()), "the request completed");
    then()?;
    let remaining = tokio::task::spawn_blocking(move || -> Result<String> {
        let mut remaining = String::new();
        reader.read_to_string(&mut remaining)?;
        Ok(remaining)
    });
    remaining.await?
}

#[tokio::test]
async fn read_request_is_terminated_on_disconnect() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let progress = pipe(&desktop, "progress").await?;
    let script = format!("exec 3>'{}'; echo started >&3; exec sleep 3600", progress.display());
    desktop.replace_gh("gh-waiting", &script).await?;
    let query =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("repo", desktop.path()).finish();
    let request = desktop.local.loopgate.gateway(Method::GET, &format!("/api/gateway/git/pr/list?{query}"));
    // EOF means that the last writer has exited, i.e. the CLI was terminated.
    assert_eq!(disconnect_after_first_line(&progress, request, || Ok(())).await?, "");
    Ok(())
}

#[tokio::test]
async fn comment_is_posted_after_disconnect() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let (progress, go) = (pipe(&desktop, "progress").await?, pipe(&desktop, "go").await?);
    let script = format!(
        "exec 3>'{}'; cat >/dev/null; echo started >&3; cat '{}' >/dev/null; echo finished >&3",
        progress.display(),
        go.display()
    );
    desktop.replace_gh("gh-slow", &script).await?;
    let body = json!({"repoPath": desktop.clone, "prNumber": 1, "body": "Hm"});
    let request =
        desktop.local.loopgate.gateway(Method::POST, "/api/gateway/git/pr/reply").body(body.to_string());
    let remaining =
        disconnect_after_first_line(&progress, request, || Ok(std::fs::write(&go, "go\n")?)).await?;
    assert_eq!(remaining, "finished\n");
    Ok(())
}
