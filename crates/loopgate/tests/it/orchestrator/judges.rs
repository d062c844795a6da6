//! Judges' report of a ticket.

use anyhow::{Result, ensure};
use serde_json::json;

use super::Shop;

// OR-30
#[tokio::test]
async fn report_is_returned_unchanged() -> Result<()> {
    let shop = Shop::new().await?;
    let missing =
        json!({"error": "Worktree not found", "code": "not_found", "exists": false, "isMock": false});
    shop.get("judges/SHOP-7").await?.is(404, &missing)?;
    std::fs::create_dir_all(&shop.worktree)?;
    let pending = json!({"exists": false, "isMock": false, "message": "Awaiting LLM judges feedback",
        "worktreeDir": shop.worktree});
    shop.get("judges/SHOP-7").await?.is(200, &pending)?;

    let response =
        |data| json!({"exists": true, "isMock": false, "data": data, "worktreeDir": shop.worktree});
    // `,]` within a string must survive the repair of trailing commas.
    shop.write("judges.json", r#"{"final_status":"pass","note":"a,]"}"#)?;
    let report = json!({"final_status": "pass", "note": "a,]"});
    shop.get("judges/SHOP-7").await?.is(200, &response(report))?;
    shop.write("judges.json", "[1, 2 ,]")?;
    shop.get("judges/SHOP-7").await?.is(200, &response(json!([1, 2])))?;

    shop.write("judges.json", "{")?;
    let broken = shop.get("judges/SHOP-7").await?;
    let text = broken.body["error"].as_str().unwrap_or_default();
    ensure!(broken.status == 500 && text.starts_with("Judges feedback is corrupted: "), "{broken:?}");
    ensure!(broken.body["exists"] == true && broken.body["isMock"] == false, "{broken:?}");
    std::fs::remove_file(shop.work_dir.join("judges.json"))?;
    std::os::unix::fs::symlink("/etc/passwd", shop.work_dir.join("judges.json"))?;
    shop.get("judges/SHOP-7").await?.is(200, &pending)?;
    // What `loopgate judges run` has written in the work directory.
    shop.write("plan-judges.json", r#"{"stats":[]}"#)?;
    shop.get("judges/SHOP-7").await?.is(200, &response(json!({"stats": []})))
}

#[tokio::test]
async fn repository_is_required_and_checked() -> Result<()> {
    let shop = Shop::new().await?;
    let bare = shop.local.get("orchestrator/judges/SHOP-7", &[]).await?;
    bare.refused(400, "repo query parameter is required", "missing_field")?;
    let outside = shop.local.get("orchestrator/judges/SHOP-7", &[("repo", "/etc")]).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")
}
