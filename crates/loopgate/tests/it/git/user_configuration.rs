//! What a person does every day goes on without a word about trust: submodules, worktrees, filters,
//! signatures, passwords and links that they set up themselves.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use loopgate_testkit::git::git;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{act, status};
use crate::local::{Local, write};

/// Sets something in the person's own configuration.
async fn configure(local: &Local, settings: &[(&str, &str)]) -> Result<()> {
    for (name, value) in settings {
        let output = local.home.command("git").args(["config", "--global", name, value]).output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

async fn commit(local: &Local, repo: &Path) -> Result<()> {
    act(local, repo, "commit", json!({"message": "Work"})).await?.ok()?;
    ensure!(status(local, repo).await?["hasChanges"] == false);
    Ok(())
}

#[tokio::test]
async fn repository_with_a_submodule() -> Result<()> {
    let local = Local::new().await?;
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

    // One whose own configuration names a program has to be looked at first.
    git(&repo.join("lib"), &["config", "filter.big.clean", "tr a-z A-Z"])?;
    write(&repo.join("lib/.gitattributes"), "*.big filter=big\n")?;
    write(&repo.join("lib/a.big"), "small\n")?;
    ensure!(status(&local, &repo).await?["hasChanges"] == false, "it is not looked into");
    let refused = act(&local, &repo, "commit", json!({"message": "Work"})).await?;
    let hint = format!("loopgate trust {}", repo.join("lib").display());
    ensure!(refused.body["error"].as_str().is_some_and(|error| error.contains(&hint)), "{refused:?}");
    local.trust(&repo.join("lib")).await?;
    ensure!(status(&local, &repo).await?["files"]["modified"] == json!(["lib"]));
    commit(&local, &repo.join("lib")).await?;
    ensure!(git(&repo.join("lib"), &["cat-file", "blob", "HEAD:a.big"])? == "SMALL\n", "it was filtered");
    commit(&local, &repo).await
}

#[tokio::test]
async fn worktrees_of_the_person_and_links_in_the_sandbox() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let worktree = local.at("elsewhere/w");
    git(&repo, &["worktree", "add", "--quiet", "-b", "topic", &worktree.to_string_lossy()])?;
    std::os::unix::fs::symlink(&repo, local.at("link"))?;
    for place in [worktree, local.at("link")] {
        write(&place.join("a"), place.to_string_lossy().as_bytes())?;
        commit(&local, &place).await?;
    }
    ensure!(git(&repo, &["log", "-1", "--format=%s", "topic"])?.trim() == "Work");
    Ok(())
}

#[tokio::test]
async fn filters_and_signatures_of_the_person() -> Result<()> {
    let local = Local::new().await?;
    let key = local.home.path().join("key");
    let made =
        local.home.command("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).output();
    let made = made.await.map_err(|error| anyhow::anyhow!("ssh-keygen (package openssh-client): {error}"))?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
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
    ensure!(git(&repo, &["cat-file", "blob", "HEAD:a.big"])? == "LARGER\n", "it was not filtered");
    ensure!(
        git(&repo, &["cat-file", "commit", "HEAD"])?.contains("BEGIN SSH SIGNATURE"),
        "it was not signed"
    );
    Ok(())
}

#[tokio::test]
async fn persons_credential_helper_is_asked() -> Result<()> {
    let local = Local::new().await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}/acme/widget.git", listener.local_addr()?);
    let known = Arc::new(AtomicBool::new(false));
    let seen = known.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let length = stream.read(&mut request).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
            seen.fetch_or(request.contains("authorization: basic bwu6bxk="), Ordering::Relaxed);
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
    ensure!(known.load(Ordering::Relaxed), "the helper's password was not sent");
    Ok(())
}
