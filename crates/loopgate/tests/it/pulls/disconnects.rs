//! Callers that go away before the code host has answered.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;

use super::PullsFixture;

/// A named pipe; a script tells through it how far it is.
async fn pipe(desktop: &PullsFixture, name: &str) -> Result<PathBuf> {
    let path = desktop.local.home.path().join(name);
    let made = desktop.local.home.command("mkfifo").arg(&path).status().await?;
    ensure!(made.success(), "no pipe was made");
    Ok(path)
}

/// Reads a line, then drops the request, then reads the rest.
async fn leave_after_first_line(
    pipe: &Path,
    request: reqwest::RequestBuilder,
    then: impl FnOnce() -> Result<()>,
) -> Result<String> {
    let asking = tokio::spawn(request.send());
    let path = pipe.to_owned();
    let reader = tokio::task::spawn_blocking(move || -> Result<_> {
        let mut reader = BufReader::new(std::fs::File::open(path)?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        ensure!(line == "started\n", "{line}");
        Ok(reader)
    });
    let mut reader = reader.await??;
    asking.abort();
    ensure!(asking.await.is_err_and(|error| error.is_cancelled()), "it had an answer");
    then()?;
    let rest = tokio::task::spawn_blocking(move || -> Result<String> {
        let mut rest = String::new();
        reader.read_to_string(&mut rest)?;
        Ok(rest)
    });
    rest.await?
}

#[tokio::test]
async fn question_ends_with_its_caller() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let told = pipe(&desktop, "told").await?;
    let script = format!("exec 3>'{}'; echo started >&3; exec sleep 3600", told.display());
    desktop.replace_gh("gh-waiting", &script).await?;
    let query =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("repo", desktop.path()).finish();
    let request = desktop.local.loopgate.gateway(Method::GET, &format!("/api/gateway/git/pr/list?{query}"));
    // The pipe ends when nothing holds it any more, which is when the program is gone.
    assert_eq!(leave_after_first_line(&told, request, || Ok(())).await?, "");
    Ok(())
}

#[tokio::test]
async fn comment_is_posted_even_when_the_caller_leaves() -> Result<()> {
    let desktop = PullsFixture::new().await?;
    let (told, go) = (pipe(&desktop, "told").await?, pipe(&desktop, "go").await?);
    let script = format!(
        "exec 3>'{}'; cat >/dev/null; echo started >&3; cat '{}' >/dev/null; echo finished >&3",
        told.display(),
        go.display()
    );
    desktop.replace_gh("gh-slow", &script).await?;
    let body = json!({"repoPath": desktop.clone, "prNumber": 1, "body": "Hm"});
    let request =
        desktop.local.loopgate.gateway(Method::POST, "/api/gateway/git/pr/reply").body(body.to_string());
    let rest = leave_after_first_line(&told, request, || Ok(std::fs::write(&go, "go\n")?)).await?;
    assert_eq!(rest, "finished\n");
    Ok(())
}
