//! What must hold when a run is over, whatever went wrong in it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use serde_json::Value;

use crate::fault::Drawn;
use crate::run::{Answer, Told};
use crate::script::{IMPLEMENT, REPOSITORIES, WORK, WRITTEN};
use crate::stage::{API_KEY, RUNNER_TOKEN, Stage};

/// Larger files are not searched for secrets.
const SEARCHED: u64 = 32 * 1024 * 1024;

/// Everything at once.
pub async fn check(drawn: &Drawn, stage: &Stage, told: &Told) -> Result<()> {
    ended_once(drawn, stage, told).await?;
    for name in REPOSITORIES {
        delivered_once(stage, name)?;
        nothing_is_lost(drawn, stage, told, name).with_context(|| format!("in {name}"))?;
    }
    let secrets = [API_KEY, RUNNER_TOKEN, stage.loopgate.gateway_token()];
    let own = stage.loopgate.setup().token_file();
    no_secret_below(stage.scene.home.path(), &own, &secrets)?;
    let panic = stage.loopgate.output().lines().find(|line| line.contains("panicked")).map(str::to_owned);
    ensure!(panic.is_none(), "a part of Loopgate gave up: {panic:?}");
    ensure!(stage.others().is_empty(), "still running: {:?}", stage.others());
    Ok(())
}

/// One last word, and the desktop's record agrees.
async fn ended_once(drawn: &Drawn, stage: &Stage, told: &Told) -> Result<()> {
    let id = stage.loop_id.to_string().parse()?;
    let count = |kind: &str| stage.cloud.events(id, kind).len();
    let (started, ends) = (count("started"), count("completed") + count("error"));
    let refused = matches!(told.answer, Answer::Refused(..));
    ensure!(started <= 1, "{started} beginnings");
    ensure!(ends == 1 || (refused && ends == 0), "{ends} ends");
    let record = stage.record().await?;
    if let Some(record) = &record {
        ensure!(!matches!(record.status.as_str(), "Running" | "Starting" | "Queued"), "{record:?}");
    }
    ensure!(record.is_some() || refused, "there is no record");
    let worked = !stage.scene.model.requests().is_empty();
    if drawn.fault.is_harmless() && worked {
        let last = told.last.as_ref().context("no last word")?;
        ensure!(
            last["type"] == "completed" && last["warnings"].is_null(),
            "a loop that was not harmed: {last}"
        );
        let uploads = stage.cloud.accepted(id, "upload-artifacts").len();
        ensure!(uploads > 0, "nothing was uploaded");
    }
    Ok(())
}

/// One branch with one commit, one pull request; or none of them.
fn delivered_once(stage: &Stage, name: &str) -> Result<()> {
    let bare = stage.scene.remotes.bare(name);
    let branches = git(&bare, &["for-each-ref", "--format=%(refname)", "refs/heads/orchestrator"])?;
    ensure!(branches.lines().count() <= 1, "{name}: {branches}");
    let commits = git(&bare, &["rev-list", "--count", "--branches=orchestrator/*", "--not", "main"])?;
    ensure!(matches!(commits.trim(), "0" | "1"), "{name}: {commits} commits");
    let pulls = stage.scene.host.pull_requests(name);
    ensure!(pulls.len() <= 1, "{name}: {pulls:?}");
    Ok(())
}

/// What the assistant wrote is on the branch, or still in a worktree and told as not delivered.
fn nothing_is_lost(drawn: &Drawn, stage: &Stage, told: &Told, name: &str) -> Result<()> {
    if !drawn.executes {
        return Ok(());
    }
    let results = told.last.as_ref().and_then(|last| last["results"].as_array());
    let entry = results.and_then(|entries| entries.iter().find(|entry| entry["fullName"] == name));
    let said = entry.and_then(|entry| entry["status"].as_str()).unwrap_or("nothing");
    let pushed = is_pushed(stage, name)?;
    if said == "success" {
        ensure!(pushed, "told as delivered, but it is not on the branch");
        ensure!(stage.scene.host.pull_requests(name).len() == 1, "told as delivered without a pull request");
    }
    let place = REPOSITORIES.iter().position(|known| *known == name).unwrap_or_default();
    let requests = stage.scene.model.requests_of(IMPLEMENT);
    // One that had no memory for its step asks for the next one all the same.
    let written = requests.iter().any(|request| request.tool_results().contains(WRITTEN[place]));
    if written && !pushed {
        ensure!(is_in_a_worktree(stage, name), "what the assistant wrote is nowhere");
        ensure!(said != "skipped", "told as nothing to deliver");
    }
    let must = drawn.fault.is_harmless() && written;
    ensure!(!must || said == "success", "not delivered: {}", told.last.as_ref().unwrap_or(&Value::Null));
    Ok(())
}

fn is_pushed(stage: &Stage, name: &str) -> Result<bool> {
    let bare = stage.scene.remotes.bare(name);
    let log = git(&bare, &["log", "--format=%H", "--branches=orchestrator/*", "--", WORK])?;
    Ok(!log.trim().is_empty())
}

fn is_in_a_worktree(stage: &Stage, name: &str) -> bool {
    let of = format!("{}-loop-", name.rsplit('/').next().unwrap_or_default());
    let entries = std::fs::read_dir(stage.scene.sandbox()).into_iter().flatten().flatten();
    let worktrees = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&of));
    worktrees.map(|entry| entry.path()).any(|path| path.join(WORK).is_file())
}

/// Secrets lie in memory, sealed, or in the one file that is theirs.
fn no_secret_below(directory: &Path, own: &Path, secrets: &[&str]) -> Result<()> {
    let mut left: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() {
            left.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() && metadata.len() <= SEARCHED && path != own {
            let bytes = std::fs::read(&path).unwrap_or_default();
            for secret in secrets {
                let found = memchr::memmem::find(&bytes, secret.as_bytes()).is_some();
                ensure!(!found, "{} holds a secret", path.display());
            }
        }
    }
    Ok(())
}
