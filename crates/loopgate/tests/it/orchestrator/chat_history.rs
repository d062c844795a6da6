//! What is kept of the chats about a ticket.

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
async fn history_grows_and_is_cleared() -> Result<()> {
    let shop = Shop::new().await?;
    let empty =
        json!({"messages": [], "ticketId": "SHOP-7", "repoPath": shop.repo, "reviewerSessionExists": false});
    shop.get("chat-history/SHOP-7").await?.is(200, &empty)?;
    let session = json!({"success": true, "sessionId": "s-1"});
    shop.post("chat-history/SHOP-7", &json!({"sessionId": "s-1"})).await?.is(200, &session)?;
    let mut said = message("user", "Why?");
    said["message"]["sender"] = json!("reviewer");
    said["message"]["colour"] = json!("red");
    said["sessionId"] = json!("not stored beside a message");
    let history = shop.post("chat-history/SHOP-7", &said).await?.ok()?["history"].clone();
    ensure!(history["sessionId"] == "s-1" && history["messages"][0]["sender"] == "reviewer", "{history}");
    ensure!(history["messages"][0].get("colour").is_none(), "{history}");
    shop.write("reviewer-chat-review.json", "{}")?;
    let mut shown = history.clone();
    shown["reviewerSessionExists"] = json!(true);
    shop.get("chat-history/SHOP-7").await?.is(200, &shown)?;

    let cleared = json!({"success": true, "message": "Chat history cleared"});
    shop.ask(Method::DELETE, "chat-history/SHOP-7", "").await?.is(200, &cleared)?;
    ensure!(!shop.work.join("reviewer-chat-review.json").exists(), "the reviewer forgets too");
    let nothing = json!({"success": true, "message": "No history to delete"});
    shop.ask(Method::DELETE, "chat-history/SHOP-7", "").await?.is(200, &nothing)?;
    shop.get("chat-history/SHOP-7").await?.is(200, &empty)
}

// OR-32
#[tokio::test]
async fn each_provider_has_a_history_of_its_own() -> Result<()> {
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

    let (chat, review) = (shop.work.join("reviewer-chat.json"), shop.work.join("reviewer-chat-review.json"));
    let forget = async |query: &str| {
        std::fs::write(&chat, "{}")?;
        std::fs::write(&review, "{}")?;
        shop.ask(Method::DELETE, &format!("chat-history/SHOP-7{query}"), "").await?.ok()?;
        anyhow::Ok((chat.exists(), review.exists()))
    };
    ensure!(forget("?provider=assistant").await? == (true, true));
    ensure!(count("?provider=assistant").await? == 0 && count("?provider=reviewer").await? == 3);
    ensure!(forget("?provider=reviewer").await? == (true, false));
    ensure!(forget("").await? == (false, false));
    ensure!(count("").await? == 0);
    Ok(())
}

// OR-33
#[tokio::test]
async fn one_message_is_removed_by_its_place() -> Result<()> {
    let shop = Shop::new().await?;
    let nothing = json!({"success": true, "message": "No history to delete"});
    shop.ask(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?.is(200, &nothing)?;
    for content in ["one", "two"] {
        shop.post("chat-history/SHOP-7", &message("user", content)).await?.ok()?;
    }
    let rest = shop.ask(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?.ok()?;
    ensure!(rest["history"]["messages"][0]["content"] == "two", "{rest}");
    let beyond = shop.ask(Method::DELETE, "chat-history/SHOP-7?index=5", "").await?;
    beyond.refused(404, "Index out of bounds", "not_found")?;
    for odd in ["-1", "x", "1.5", "", "0x0", "99999999999999999999"] {
        let answer = shop.ask(Method::DELETE, &format!("chat-history/SHOP-7?index={odd}"), "").await?;
        answer.refused(400, "Invalid index", "invalid_request")?;
    }
    Ok(())
}

#[tokio::test]
async fn invalid_message_is_refused() -> Result<()> {
    let shop = Shop::new().await?;
    let broken = shop.ask(Method::POST, "chat-history/SHOP-7", "{").await?;
    broken.refused(400, "Invalid JSON body", "invalid_json_body")?;
    let mut nobody = message("user", "Why?");
    nobody["message"]["role"] = json!("system");
    for body in [json!({}), json!({"sessionId": ""}), message("user", ""), nobody, json!({"message": "x"})] {
        let answer = shop.post("chat-history/SHOP-7", &body).await?;
        answer.refused(400, "message with content and role is required", "missing_field")?;
    }
    let bare = shop.local.post("orchestrator/chat-history/SHOP-7", message("user", "Why?")).await?;
    bare.refused(400, "repo parameter is required", "missing_field")?;
    let route = "orchestrator/chat-history/SHOP-7?repo=%2Fetc";
    let outside = shop.local.post(route, message("user", "Why?")).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    ensure!(!shop.worktree.exists(), "nothing was written");
    Ok(())
}

#[tokio::test]
async fn malformed_history_is_told_and_replaced() -> Result<()> {
    let shop = Shop::new().await?;
    for malformed in ["{", "[]", "{\"messages\": 5}", "{}"] {
        shop.write("chat-history.json", malformed)?;
        let shown = shop.get("chat-history/SHOP-7").await?;
        let text = shown.body["error"].as_str().unwrap_or_default();
        ensure!(shown.status == 500 && text.starts_with("Failed to read chat history: "), "{shown:?}");
        let removed = shop.ask(Method::DELETE, "chat-history/SHOP-7?index=0", "").await?;
        ensure!(removed.body["error"].as_str().is_some_and(|e| e.starts_with("Failed to delete: ")));
        let history = shop.post("chat-history/SHOP-7", &message("user", "Why?")).await?.ok()?;
        ensure!(history["history"]["messages"].as_array().map(Vec::len) == Some(1), "{history}");
    }
    // A link is not followed, whatever it leads to.
    let secret = shop.local.home.path().join("secret.json");
    std::fs::write(&secret, r#"{"messages":[],"secret":"SECRET"}"#)?;
    std::fs::remove_file(shop.work.join("chat-history.json"))?;
    std::os::unix::fs::symlink(&secret, shop.work.join("chat-history.json"))?;
    let shown = shop.get("chat-history/SHOP-7").await?;
    ensure!(shown.status == 500 && !shown.body.to_string().contains("SECRET"), "{shown:?}");
    shop.post("chat-history/SHOP-7", &message("user", "Why?")).await?;
    ensure!(std::fs::read_to_string(&secret)?.contains("SECRET"), "what it leads to is untouched");
    Ok(())
}

/// Two pages, and what other programs wrote: nothing of it is lost.
#[tokio::test]
async fn messages_that_come_together_are_all_kept() -> Result<()> {
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
