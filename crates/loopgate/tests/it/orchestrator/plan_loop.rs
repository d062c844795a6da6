//! The steps of a page for a plan loop: prepare, confirm, cancel.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::git::git;
use loopgate_testkit::wait;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Shop;
use crate::cli;
use crate::records::{record, rewrite};
use crate::test_gateway::{Answer, TestGateway};
use loopgate_testkit::cloud::Cloud;

const API_KEY: &str = "lgk_live_0123456789abcdef0123456789abcdef";

/// Creates a shop whose gateway is connected to a recording control plane.
async fn shop_with_cloud() -> Result<(Shop, Cloud)> {
    let cloud = Cloud::start().await?;
    let origin = cloud.origin();
    let local =
        TestGateway::with(|setup| setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(origin))
            .await?;
    Ok((Shop::with_gateway(local)?, cloud))
}

impl Shop {
    async fn step(&self, step: &str, change: Value) -> Result<Answer> {
        let mut body = json!({"repoPath": self.repo});
        for (name, value) in change.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.local.post(&format!("orchestrator/plan-loop/SHOP-7/{step}"), body).await
    }

    async fn job(&self, id: Uuid) -> Result<Option<Value>> {
        record(&self.local.loopgate, &id.to_string()).await
    }
}

// OR-51
#[tokio::test]
async fn prepare_returns_repository_and_worktree() -> Result<()> {
    let (shop, _cloud) = shop_with_cloud().await?;
    let prepared_body = |full_name: &str, branch: &str| {
        json!({"repoPath": shop.repo, "worktreeDir": shop.worktree,
            "repo": {"fullName": full_name, "branch": branch}})
    };
    for step in ["prepare", "select-artifact/prepare"] {
        shop.step(step, json!({})).await?.is(200, &prepared_body("", "main"))?;
    }
    git(&shop.repo, &["remote", "add", "origin", "git@github.com:acme/shop.git"])?;
    git(&shop.repo, &["switch", "--quiet", "-c", "work"])?;
    shop.step("prepare", json!({})).await?.is(200, &prepared_body("acme/shop", "work"))?;
    shop.step("prepare", json!({"baseBranch": "release"}))
        .await?
        .is(200, &prepared_body("acme/shop", "release"))?;
    git(&shop.repo, &["remote", "set-url", "origin", "https://github.com/acme/store.git"])?;
    git(&shop.repo, &["switch", "--quiet", "--detach"])?;
    // A blank branch means the default branch, which the repository does not define.
    shop.step("prepare", json!({"baseBranch": " "})).await?.is(200, &prepared_body("acme/store", ""))?;
    ensure!(!shop.worktree.exists(), "the worktree was created");
    // Without git, neither name nor branch is known.
    let plain = shop.local.at("plain");
    std::fs::create_dir_all(&plain)?;
    let prepared = shop.step("prepare", json!({"repoPath": plain})).await?.ok()?;
    ensure!(prepared["repo"] == json!({"fullName": "", "branch": ""}), "{prepared}");
    Ok(())
}

// OR-51
#[tokio::test]
async fn confirmed_plan_is_recorded_once() -> Result<()> {
    let (mut shop, _cloud) = shop_with_cloud().await?;
    let (id, other) = (Uuid::new_v4(), Uuid::new_v4());
    let confirmed = json!({"ok": true, "worktreeDir": shop.worktree});
    shop.step("confirm", json!({})).await?.is(200, &confirmed)?;
    ensure!(!shop.worktree.exists(), "metadata was written without a loop");

    let confirmation = json!({"loopId": id, "artifactId": "a-1", "issueId": "i-1", "ticketTitle": "Cache"});
    shop.step("confirm", confirmation.clone()).await?.is(200, &confirmed)?;
    let metadata: Value =
        serde_json::from_slice(&std::fs::read(shop.work_dir.join("launch-metadata.json"))?)?;
    let facts = json!({"issueId": "i-1", "ticketTitle": "Cache", "artifactId": "a-1", "loopId": id});
    ensure!(metadata == facts, "{metadata}");
    let first = shop.job(id).await?.context("a record")?;
    ensure!(
        first["status"] == "QUEUED" && first["command"] == "PLAN" && first["kind"] == "ORCHESTRATOR_LOOP",
        "{first}"
    );
    ensure!(first["ticketId"] == "SHOP-7" && first["artifactId"] == "a-1", "{first}");
    ensure!(first["repoPath"] == json!(shop.repo) && first["localRepoPath"] == json!(shop.repo), "{first}");
    ensure!(
        first["worktreeDir"] == json!(shop.worktree) && first["startedAt"] == first["updatedAt"],
        "{first}"
    );
    // Absent members keep their values, and the job record does not change.
    let again = json!({"loopId": id, "artifactId": "a-2", "outcome": "already-running"});
    shop.step("select-artifact/confirm", again).await?.is(200, &confirmed)?;
    let metadata: Value =
        serde_json::from_slice(&std::fs::read(shop.work_dir.join("launch-metadata.json"))?)?;
    ensure!(metadata["artifactId"] == "a-2" && metadata["ticketTitle"] == "Cache", "{metadata}");
    ensure!(shop.job(id).await? == Some(first));

    // A document has a worktree separate from the ticket's.
    let for_document = json!({"loopId": other, "artifactId": "a-3", "artifactSlug": "PLAN-5",
        "outcome": "already-running"});
    let worktree = shop.local.at("wt/shop-loop-plan-5");
    shop.step("confirm", for_document).await?.is(200, &json!({"ok": true, "worktreeDir": worktree}))?;
    ensure!(worktree.join(".loopgate/work/launch-metadata.json").is_file());
    ensure!(shop.job(other).await?.context("a record")?["status"] == "RUNNING");

    // The next start closes loops that were confirmed but never launched, and reports nothing to the control
    // plane.
    shop.local.loopgate.kill().await?;
    shop.local.restart().await?;
    // The start logs this, so a change of the log directory wakes the test up.
    let logs = shop.local.loopgate.setup().data_dir().join("logs");
    for id in [id, other] {
        let job =
            wait::until(&logs, async || shop.job(id).await.ok()?.filter(|job| job["status"] == "UNKNOWN"));
        let job = job.await?;
        ensure!(job["completedAt"].is_string() && job["cloudFinalizedAt"].is_string(), "{job}");
        ensure!(job.get("liveActivity").is_none(), "{job}");
    }
    Ok(())
}

// LR-52
/// A confirmed plan must be launched within a minute. Listing it as failed does not change its record.
#[tokio::test]
async fn confirmed_plan_without_launch_is_listed_as_failed_after_a_minute() -> Result<()> {
    let (shop, _cloud) = shop_with_cloud().await?;
    let id = Uuid::new_v4();
    shop.step("confirm", json!({"loopId": id, "artifactId": "a-1"})).await?.ok()?;
    let listed_status = async || {
        let rows = cli::loops(&shop.local.home, &shop.local.loopgate).await?;
        ensure!(rows.len() == 1 && rows[0]["loopId"] == json!(id), "{rows:?}");
        Ok(rows[0]["status"].clone())
    };
    ensure!(listed_status().await? == "QUEUED");
    let start = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(61);
    let older = |record: &mut Value| record["startedAt"] = json!(start.to_string());
    rewrite(&shop.local.loopgate, &id.to_string(), older).await?;
    ensure!(listed_status().await? == "FAILED");
    ensure!(shop.job(id).await?.context("a record")?["status"] == "QUEUED");
    Ok(())
}

// OR-51
#[tokio::test]
async fn plan_is_cancelled_at_control_plane_and_locally() -> Result<()> {
    let (shop, cloud) = shop_with_cloud().await?;
    let unknown = json!({"cancelled": true, "warning": "process-unknown"});
    let id = Uuid::new_v4();
    shop.step("cancel", json!({"loopId": id})).await?.is(200, &unknown)?;
    let received = cloud.requests();
    ensure!(
        received.len() == 1 && received[0].loop_id == id.to_string() && received[0].token == API_KEY,
        "{received:?}"
    );
    ensure!(shop.job(id).await?.is_none(), "an unknown loop was recorded");

    let confirm = json!({"loopId": id, "artifactId": "a-1"});
    shop.step("confirm", confirm.clone()).await?.ok()?;
    cloud.answer_once("loop", 404, json!({"error": "Loop not found"}));
    shop.step("cancel", json!({"loopId": id})).await?.is(200, &unknown)?;
    let job = shop.job(id).await?.context("a record")?;
    ensure!(job["status"] == "CANCEL_PENDING" && job["warning"] == "process-unknown", "{job}");

    // The process is known to have exited, so the cancellation is complete.
    let exited = Uuid::new_v4();
    shop.step("confirm", json!({"loopId": exited, "artifactId": "a-1"})).await?.ok()?;
    shop.write("process.pid", "4194305")?;
    shop.step("cancel", json!({"loopId": exited})).await?.is(200, &json!({"cancelled": true}))?;
    let job = shop.job(exited).await?.context("a record")?;
    ensure!(
        job["status"] == "CANCELLED" && job["completedAt"].is_string() && job.get("warning").is_none(),
        "{job}"
    );
    shop.step("cancel", json!({"loopId": exited})).await?.is(200, &json!({"cancelled": true}))?;
    std::fs::remove_file(shop.work_dir.join("process.pid"))?;

    // The control plane's error is quoted, and the job record remains unchanged.
    let refused_id = Uuid::new_v4();
    shop.step("confirm", json!({"loopId": refused_id, "artifactId": "a-1"})).await?.ok()?;
    for (status, code) in [(500, "operation_failed"), (403, "forbidden"), (409, "conflict")] {
        cloud.answer_once("loop", status, json!({"error": "Not yours"}));
        let refused = shop.step("cancel", json!({"loopId": refused_id})).await?;
        refused.refused(status, "DB cancel failed: Not yours", code)?;
    }
    ensure!(shop.job(refused_id).await?.context("a record")?["status"] == "QUEUED");
    Ok(())
}

// OR-51
#[tokio::test]
async fn plan_is_cancelled_locally_when_the_control_plane_is_unreachable() -> Result<()> {
    let port = loopgate_testkit::free_port()?;
    let origin = format!("http://127.0.0.1:{port}");
    let keyless = TestGateway::with(|setup| setup.arg("--api-origin").arg(&origin)).await?;
    let shop = Shop::with_gateway(keyless)?;
    let id = Uuid::new_v4();
    let refused = shop.step("cancel", json!({"loopId": id})).await?;
    refused.refused(503, "API key not configured", "unavailable")?;

    let local =
        TestGateway::with(|setup| setup.env("LOOPGATE_API_KEY", API_KEY).arg("--api-origin").arg(&origin));
    let shop = Shop::with_gateway(local.await?)?;
    shop.step("confirm", json!({"loopId": id, "artifactId": "a-1"})).await?.ok()?;
    let answer = shop.step("cancel", json!({"loopId": id})).await?;
    let text = answer.body["error"].as_str().unwrap_or_default();
    ensure!(answer.status == 502 && text.starts_with("Failed to reach API: "), "{answer:?}");
    ensure!(shop.job(id).await?.context("a record")?["status"] == "CANCEL_PENDING");
    Ok(())
}

// OR-52
#[tokio::test]
async fn incomplete_steps_are_refused() -> Result<()> {
    let (shop, cloud) = shop_with_cloud().await?;
    let id = json!(Uuid::new_v4());
    for step in ["prepare", "select-artifact/prepare", "confirm", "select-artifact/confirm", "cancel"] {
        let route = format!("orchestrator/plan-loop/SHOP-7/{step}");
        let broken = shop.local.send(reqwest::Method::POST, &route, "{").await?;
        broken.refused(400, "Invalid JSON body", "invalid_json_body")?;
        for missing in [json!(null), json!(" "), json!(7)] {
            let refused = shop.step(step, json!({"repoPath": missing, "loopId": id})).await?;
            refused.refused(400, "repoPath is required", "missing_field")?;
        }
        let outside = shop.step(step, json!({"repoPath": "/etc", "loopId": id})).await?;
        outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    shop.step("cancel", json!({})).await?.refused(400, "loopId is required", "missing_field")?;
    for step in ["confirm", "cancel"] {
        let invalid = shop.step(step, json!({"loopId": "../loops"})).await?;
        invalid.refused(400, "loopId must be a valid UUID", "invalid_request")?;
    }
    for step in ["", "other", "prepare/more", "select-artifact/cancel"] {
        let unknown = shop.step(step, json!({})).await?;
        ensure!(unknown.status == 501 && unknown.body["error"] == "operation not implemented", "{unknown:?}");
    }
    ensure!(cloud.requests().is_empty() && !shop.local.at("wt/shop-SHOP-7").exists());
    // Without a control plane, these routes do not exist.
    let without_control_plane = Shop::new().await?;
    let unknown = without_control_plane.step("prepare", json!({})).await?;
    ensure!(unknown.status == 501 && unknown.body["error"] == "operation not implemented", "{unknown:?}");
    Ok(())
}
