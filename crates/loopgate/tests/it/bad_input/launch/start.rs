//! Launches on a machine that lacks what a loop needs: the assistant, the plugins, or a writable data
//! directory.

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
async fn loop_is_refused_when_a_requirement_is_missing() -> Result<()> {
    let fixture = LaunchFixture::new().await?;
    let failed = "operation_failed";
    let slug = |body: &mut Value| body["artifactSlug"] = json!("SHOP-7");
    // The settings accept only existing programs, so set one and remove it afterwards.
    let removed_program = fixture.testbed.home.script("another-assistant", "#!/bin/sh\nexit 1\n")?;
    let set = async |value: Value| {
        let request = fixture.loopgate.gateway(Method::PATCH, PATHS).json(&json!({"assistant": value}));
        let (status, answer) = status_and_body(request.send().await?).await?;
        ensure!(status == 200, "{answer}");
        anyhow::Ok(())
    };
    set(json!(removed_program)).await?;
    std::fs::remove_file(&removed_program)?;
    let text = "claude CLI not found in PATH";
    let message = format!(
        "{}, the path of claude in the settings, is missing or not executable; correct it there, or remove it so that \
         PATH is searched",
        removed_program.display()
    );
    fixture.testbed.add_repository("acme/web", &[("README.md", "Web\n")])?;
    let passing = |body: &mut Value| {
        body["command"] = json!("GENERATE_PRD");
        body["additionalRepos"] = json!([{"fullName": "acme/web", "branch": "main"}]);
    };
    fixture
        .refuses(passing, 500, text, failed, Some(("BINARY_NOT_FOUND/ASSISTANT_MISSING", &message)))
        .await?;
    fixture.no_worktree_remains()?;
    fixture.refuses(slug, 500, text, failed, Some(("BINARY_NOT_FOUND/ASSISTANT_MISSING", &message))).await?;
    set(Value::Null).await?;

    let plugins = std::fs::read_dir(fixture.data("plugins"))?.next().context("no unpacked plugins")??.path();
    let text = "run-loop.sh not found in plugin cache";
    let refused = fixture.refuses(slug, 500, text, failed, Some(("SCRIPT_NOT_FOUND", text)));
    fixture.without(&plugins.join("plugins/code"), refused).await?;

    // Without the directory of the shims' sockets no shim can be started.
    let text = "Failed to spawn process: …";
    let refused = fixture.refuses(slug, 500, text, failed, Some(("SPAWN_FAILED", text)));
    fixture.without(&fixture.data("run"), refused).await?;

    let db = fixture.database().await?;
    // Without its table the job cannot be stored: an internal error, without any detail of the database.
    db.execute_unprepared("ALTER TABLE job RENAME TO renamed").await?;
    let id = LoopId(Uuid::new_v4());
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": "x", "repo": {"fullName": story::REPOSITORY}});
    let internal = (500, json!({"error": "internal error", "code": "internal_error"}));
    let answers = [fixture.order(&body).await?, fixture.kill(id).await?];
    db.execute_unprepared("ALTER TABLE renamed RENAME TO job").await?;
    db.close().await?;
    ensure!(answers == [internal.clone(), internal], "{answers:?}");
    ensure!(fixture.cloud.events(id, "error").is_empty());
    fixture.nothing_remains().await
}
