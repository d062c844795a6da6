//! Configuration by the user needs no trust: submodules, worktrees, filters, signatures, credential helpers
//! and symlinks in the sandbox.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{act, status};
use crate::test_gateway::{TestGateway, write};

/// Sets options in the user's global git configuration.
async fn configure(local: &TestGateway, settings: &[(&str, &str)]) -> Result<()> {
    for (name, value) in settings {
        let output = local.home.command("git").args(["config", "--global", name, value]).output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

async fn commit(local: &TestGateway, repo: &Path) -> Result<()> {
    act(local, repo, "commit", json!({"message": "Work"})).await?.ok()?;
    ensure!(status(local, repo).await?["hasChanges"] == false);
    Ok(())
}

#[tokio::test]
async fn repository_with_submodule_is_committed() -> Result<()> {
    let local = TestGateway::new().await?;
    let library = local.repository("library", &[("l", "1\n")])?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &library.to_string_lossy(),
        "lib",
    ];
    git(&repo, &add)?;
    write(&repo.join("a"), "2\n")?;
    commit(&local, &repo).await?;
    write(&repo.join("lib/l"), "2\n")?;
    ensure!(status(&local, &repo).await?["files"]["modified"] == json!(["lib"]));
    commit(&local, &repo.join("lib")).await?;
    commit(&local, &repo).await?;

    // A submodule whose own configuration names a program must be trusted before git may look into it.
    git(&repo.join("lib"), &["config", "filter.big.clean", "tr a-z A-Z"])?;
    write(&repo.join("lib/.gitattributes"), "*.big filter=big\n")?;
    write(&repo.join("lib/a.big"), "small\n")?;
    ensure!(status(&local, &repo).await?["hasChanges"] == false, "the untrusted submodule was inspected");
    let refused = act(&local, &repo, "commit", json!({"message": "Work"})).await?;
    let hint = format!("loopgate trust {}", repo.join("lib").display());
    ensure!(refused.body["error"].as_str().is_some_and(|error| error.contains(&hint)), "{refused:?}");
    local.trust(&repo.join("lib")).await?;
    ensure!(status(&local, &repo).await?["files"]["modified"] == json!(["lib"]));
    commit(&local, &repo.join("lib")).await?;
    ensure!(
        git(&repo.join("lib"), &["cat-file", "blob", "HEAD:a.big"])? == "SMALL\n",
        "the filter did not run"
    );
    commit(&local, &repo).await
}

#[tokio::test]
async fn worktrees_and_symlinks_in_sandbox_are_committed() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let worktree = local.at("elsewhere/w");
    git(&repo, &["worktree", "add", "--quiet", "-b", "topic", &worktree.to_string_lossy()])?;
    std::os::unix::fs::symlink(&repo, local.at("link"))?;
    for directory in [worktree, local.at("link")] {
        write(&directory.join("a"), directory.to_string_lossy().as_bytes())?;
        commit(&local, &directory).await?;
    }
    ensure!(git(&repo, &["log", "-1", "--format=%s", "topic"])?.trim() == "Work");
    Ok(())
}

#[tokio::test]
async fn user_level_filters_and_signatures_apply() -> Result<()> {
    let local = TestGateway::new().await?;
    let key = local.home.path().join("key");
    let keygen =
        local.home.command("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).output();
    let keygen =
        keygen.await.map_err(|error| anyhow::anyhow!("ssh-keygen (package openssh-client): {error}"))?;
    ensure!(keygen.status.success(), "{}", String::from_utf8_lossy(&keygen.stderr));
    let repo = local.repository("r", &[(".gitattributes", "*.big filter=big\n"), ("a.big", "SMALL\n")])?;
    configure(
        &local,
        &[
            ("filter.big.clean", "tr a-z A-Z"),
            ("filter.big.smudge", "tr A-Z a-z"),
            ("filter.big.required", "true"),
            ("gpg.format", "ssh"),
            ("user.signingKey", &key.with_extension("pub").to_string_lossy()),
            ("commit.gpgSign", "true"),
        ],
    )
    .await?;
    write(&repo.join("a.big"), "larger\n")?;
    commit(&local, &repo).await?;
    ensure!(git(&repo, &["cat-file", "blob", "HEAD:a.big"])? == "LARGER\n", "the filter did not run");
    ensure!(
        git(&repo, &["cat-file", "commit", "HEAD"])?.contains("BEGIN SSH SIGNATURE"),
        "the commit is not signed"
    );
    Ok(())
}

#[tokio::test]
async fn user_level_credential_helper_is_used() -> Result<()> {
    let local = TestGateway::new().await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}/acme/widget.git", listener.local_addr()?);
    let authorized = Arc::new(AtomicBool::new(false));
    let received = authorized.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let length = stream.read(&mut request).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
            received.fetch_or(request.contains("authorization: basic bwu6bxk="), Ordering::Relaxed);
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(refusal.as_bytes()).await;
        }
    });
    let repo = local.repository("r", &[("a", "1\n")])?;
    git(&repo, &["remote", "add", "origin", &origin])?;
    configure(&local, &[("credential.helper", "!printf 'username=me\\npassword=my\\n' #")]).await?;
    let answer = act(&local, &repo, "push", json!({})).await?;
    ensure!(answer.body["details"]["category"] == "git_push_auth", "{answer:?}");
    ensure!(authorized.load(Ordering::Relaxed), "the helper's password was not sent");
    Ok(())
}
