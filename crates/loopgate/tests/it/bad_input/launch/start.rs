//! What a loop needs of this machine to start.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::story;
use reqwest::Method;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::LaunchFixture;
use crate::bad_input::status_and_body;

const PATHS: &str = "/api/gateway/settings/binary-paths";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_programs_nothing_starts() -> Result<()> {
    let place = LaunchFixture::new().await?;
    let failed = "operation_failed";
    let slug = |body: &mut Value| body["artifactSlug"] = json!("SHOP-7");
    let gone = place.testbed.home.script("another-assistant", "#!/bin/sh\nexit 1\n")?;
    let set = async |value: Value| {
        let request = place.loopgate.gateway(Method::PATCH, PATHS).json(&json!({"assistant": value}));
        let (status, answer) = status_and_body(request.send().await?).await?;
        ensure!(status == 200, "{answer}");
        anyhow::Ok(())
    };
    set(json!(gone)).await?;
    std::fs::remove_file(&gone)?;
    let text = "claude CLI not found in PATH";
    let message = "claude CLI not found in PATH; install it (npm install -g @anthropic-ai/claude-code, then run: \
                claude), or set its path in the settings";
    place.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let passing = |body: &mut Value| {
        body["command"] = json!("GENERATE_PRD");
        body["additionalRepos"] = json!([{"fullName": "acme/web", "branch": "main"}]);
    };
    place.refuses(passing, 500, text, failed, Some(("BINARY_NOT_FOUND", message))).await?;
    place.no_worktree_is_left()?;
    place.refuses(slug, 500, text, failed, Some(("BINARY_NOT_FOUND", message))).await?;
    set(Value::Null).await?;

    let plugins = std::fs::read_dir(place.data("plugins"))?.next().context("they are unpacked")??.path();
    let text = "run-loop.sh not found in plugin cache";
    let refused = place.refuses(slug, 500, text, failed, Some(("SCRIPT_NOT_FOUND", text)));
    place.without(&plugins.join("code"), refused).await?;

    // The directory of the shims' sockets is gone.
    let text = "Failed to spawn process: …";
    let refused = place.refuses(slug, 500, text, failed, Some(("SPAWN_FAILED", text)));
    place.without(&place.data("run"), refused).await?;

    let db = place.database().await?;
    db.execute_unprepared("ALTER TABLE job RENAME TO kept").await?;
    let id = LoopId(Uuid::new_v4());
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": "x", "repo": {"fullName": story::REPOSITORY}});
    let internal = (500, json!({"error": "internal error", "code": "internal_error"}));
    let answers = [place.order(&body).await?, place.kill(id).await?];
    db.execute_unprepared("ALTER TABLE kept RENAME TO job").await?;
    db.close().await?;
    ensure!(answers == [internal.clone(), internal], "{answers:?}");
    ensure!(place.cloud.events(id, "error").is_empty());
    place.nothing_is_left().await
}
