//! Stored chat histories of a ticket.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use super::Shop;

fn message(role: &str, content: &str) -> Value {
    json!({"message": {"id": format!("{role}-1"), "role": role, "content": content,
        "timestamp": "2026-01-05T10:00:00.000Z"}})
}

// OR-31
#[tokio::test]
async fn history_is_appended_and_cleared() -> Result<()> {
    let shop = Shop::new().await?;
    let empty =
        json!({"messages": [], "ticketId": "SHOP-7", "repoPath": shop.repo, "reviewerSessionExists": false});
    shop.get("chat-history/SHOP-7").await?.is(200, &empty)?;
    let session = json!({"success": true, "sessionId": "s-1"});
    shop.post("chat-history/SHOP-7", &json!({"sessionId": "s-1"})).await?.is(200, &session)?;
    let mut body = message("user", "Why?");
    body["message"]["sender"] = json!("reviewer");
    body["message"]["colour"] = json!("red");
    body["sessionId"] = json!("ignored together with a message");
    let history = shop.post("chat-history/SHOP-7", &body).await?.ok()?["history"].clone();
    ensure!(history["sessionId"] == "s-1" && history["messages"][0]["sender"] == "reviewer", "{history}");
    ensure!(history["messages"][0].get("colour").is_none(), "{history}");
    shop.write("reviewer-chat-review.json", "{}")?;
    let mut response = history.clone();
    response["reviewerSessionExists"] = json!(true);
    shop.get("chat-history/SHOP-7").await?.is(200, &response)?;

    let cleared = json!({"success": true, "message": "Chat history cleared"});
    shop.send(Method::DELETE, "chat-history/SHOP-7", "").await?.is(200, &cleared)?;
    ensure!(!shop.work_dir.join("reviewer-chat-review.json").exists(), "the reviewer's session remains");
    let no_history = json!({"success": true, "message": "No history to delete"});
    shop.send(Method::DELETE, "chat-history/SHOP-7", "").await?.is(200, &no_history)?;
    shop.get("chat-history/SHOP-7").await?.is(200, &empty)
}

// OR-32
#[tokio::test]
async fn providers_have_separate_histories() -> Result<()> {
    let shop = Shop::new().await?;
    let count = async |query: &str| {
        let body = shop.get(&format!("chat-history/SHOP-7{query}")).await?.ok()?;
        anyhow::Ok(body["messages"].as_array().map_or(0, Vec::len))
    };
    for (query, times) in [("", 1), ("?provider=assistant", 2), ("?provider=reviewer", 3)] {
        for _ in 0..times {
            shop.post(&format!("chat-history/SHOP-7{query}"), &message("user", "Why?")).await?.ok()?;
        }
    }
    ensure!(count("").await? == 1 && count("?provider=assistant").await? == 2);
    ensure!(count("?provider=reviewer").await? == 3);
    let other = shop.get("chat-history/SHOP-7?provider=other").await?;
    other.refused(400, "unsupported provider", "invalid_request")?;

    let (chat, review) =
        (shop.work_dir.join("reviewer-chat.json"), shop.work_dir.join("reviewer-chat-review.json"));
    let delete = async |query: &str| {
        std::fs::write(&chat, "{}")?;
        std::fs::write(&review, "{}")?;
        shop.send(Method::DELETE, &format!("chat-history/SHOP-7{query}"), "").await?.ok()?;
        anyhow::Ok((chat.exists(), review.exists()))
    };
    ensure!(delete("?provider=assistant").await? == (true, true));
    ensure!(count("?provider=assistant").await? == 0 && count("?provider=reviewer").await? == 3);
    ensure!(delete("?provider=reviewer").await? == (true, false));
    ensure!(delete("").await? == (false, false));
    ensure!(count("").await? == 0);
    Ok(())
}

// OR-33
#[tokio::test]
async fn message_is_removed_by_index() -> Result<()> {
    let shop = Shop::new().await?;
    let no_history = json!({"success": true, "message": "No history to delete"});
    shop.send(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?.is(200, &no_history)?;
    for content in ["one", "two"] {
        shop.post("chat-history/SHOP-7", &message("user", content)).await?.ok()?;
    }
    let remaining = shop.send(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?.ok()?;
    ensure!(remaining["history"]["messages"][0]["content"] == "two", "{remaining}");
    let beyond = shop.send(Method::DELETE, "chat-history/SHOP-7?index=5", "").await?;
    beyond.refused(404, "Index out of bounds", "not_found")?;
    for invalid in ["-1", "x", "1.5", "", "0x0", "99999999999999999999"] {
        let answer = shop.send(Method::DELETE, &format!("chat-history/SHOP-7?index={invalid}"), "").await?;
        answer.refused(400, "Invalid index", "invalid_request")?;
    }
    Ok(())
}

#[tokio::test]
async fn invalid_message_is_refused() -> Result<()> {
    let shop = Shop::new().await?;
    let broken = shop.send(Method::POST, "chat-history/SHOP-7", "{").await?;
    broken.refused(400, "Invalid JSON body", "invalid_json_body")?;
    let mut wrong_role = message("user", "Why?");
    wrong_role["message"]["role"] = json!("system");
    for body in
        [json!({}), json!({"sessionId": ""}), message("user", ""), wrong_role, json!({"message": "x"})]
    {
        let answer = shop.post("chat-history/SHOP-7", &body).await?;
        answer.refused(400, "message with content and role is required", "missing_field")?;
    }
    let bare = shop.local.post("orchestrator/chat-history/SHOP-7", message("user", "Why?")).await?;
    bare.refused(400, "repo parameter is required", "missing_field")?;
    let route = "orchestrator/chat-history/SHOP-7?repo=%2Fetc";
    let outside = shop.local.post(route, message("user", "Why?")).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    ensure!(!shop.worktree.exists(), "a file was written");
    Ok(())
}

#[tokio::test]
async fn malformed_history_is_reported_and_replaced() -> Result<()> {
    let shop = Shop::new().await?;
    for malformed in ["{", "[]", "{\"messages\": 5}", "{}"] {
        shop.write("chat-history.json", malformed)?;
        let response = shop.get("chat-history/SHOP-7").await?;
        let text = response.body["error"].as_str().unwrap_or_default();
        ensure!(response.status == 500 && text.starts_with("Failed to read chat history: "), "{response:?}");
        let removed = shop.send(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?;
        ensure!(removed.body["error"].as_str().is_some_and(|e| e.starts_with("Failed to delete: ")));
        let history = shop.post("chat-history/SHOP-7", &message("user", "Why?")).await?.ok()?;
        ensure!(history["history"]["messages"].as_array().map(Vec::len) == Some(1), "{history}");
    }
    // Symlinks are not followed, neither for reading nor for writing.
    let secret = shop.local.home.path().join("secret.json");
    std::fs::write(&secret, r#"{"messages":[],"secret":"SECRET"}"#)?;
    std::fs::remove_file(shop.work_dir.join("chat-history.json"))?;
    std::os::unix::fs::symlink(&secret, shop.work_dir.join("chat-history.json"))?;
    let response = shop.get("chat-history/SHOP-7").await?;
    ensure!(response.status == 500 && !response.body.to_string().contains("SECRET"), "{response:?}");
    shop.post("chat-history/SHOP-7", &message("user", "Why?")).await?;
    ensure!(std::fs::read_to_string(&secret)?.contains("SECRET"), "the symlink's target was changed");
    Ok(())
}

/// Concurrent messages, and unknown members written by other programs, are all preserved.
#[tokio::test]
async fn concurrent_messages_are_all_stored() -> Result<()> {
    let shop = Shop::new().await?;
    shop.write(
        "chat-history.json",
        r#"{"messages":[],"ticketId":"SHOP-7","repoPath":"~/x","extra":{"a":1}}"#,
    )?;
    let send = async |content: &str| shop.post("chat-history/SHOP-7", &message("user", content)).await?.ok();
    for _ in 0..4 {
        tokio::try_join!(send("a"), send("b"), send("c"), send("d"))?;
    }
    let history = shop.get("chat-history/SHOP-7").await?.ok()?;
    ensure!(history["messages"].as_array().map(Vec::len) == Some(16), "{history}");
    ensure!(history["extra"] == json!({"a": 1}) && history["repoPath"] == "~/x", "{history}");
    Ok(())
}
