//! Sessions: the tickets a page works on.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::loopgate::Setup;
use reqwest::Method;
use serde_json::{Value, json};

use super::Shop;
use crate::test_gateway::{Answer, TestGateway, write};

impl Shop {
    async fn sessions(&self, method: Method, query: &str, body: &Value) -> Result<Answer> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.local.send(method, &format!("orchestrator/sessions{query}"), body).await
    }

    async fn list(&self) -> Result<Vec<Value>> {
        let body = self.sessions(Method::GET, "", &Value::Null).await?.ok()?;
        body["sessions"].as_array().cloned().context("a list")
    }

    fn read_file(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.local.at(".loopgate/sessions.json"))?)
    }
}

// OR-01, OR-04
#[tokio::test]
async fn session_is_created_updated_and_deleted() -> Result<()> {
    let shop = Shop::new().await?;
    ensure!(shop.list().await?.is_empty());
    std::fs::create_dir_all(&shop.worktree)?;
    let session = json!({"ticketId": "SHOP-7", "repoPath": shop.repo, "worktreePath": shop.worktree, "pid": 77,
        "contextRepoPaths": [shop.repo], "baseBranch": "main", "loopId": 5});
    let done = json!({"success": true});
    shop.sessions(Method::POST, "", &session).await?.is(200, &done)?;
    let list = shop.list().await?;
    let entry = list.first().context("one entry")?;
    ensure!(entry["pid"] == 77 && entry["contextRepoPaths"] == json!([shop.repo]), "{entry}");
    ensure!(entry["baseBranch"] == "main" && entry.get("loopId").is_none(), "{entry}");
    for name in ["startedAt", "lastAccessedAt"] {
        ensure!(entry[name].as_str().is_some_and(|at| at.ends_with('Z')), "{entry}");
    }

    // Optional members that are absent in an update keep their values; the paths are replaced.
    let other = shop.local.repository("other", &[])?;
    let update = json!({"ticketId": "SHOP-7", "repoPath": other, "worktreePath": shop.worktree,
        "contextRepoPaths": ["x", 5], "issueId": "dropped"});
    shop.sessions(Method::POST, "", &update).await?.is(200, &done)?;
    let list = shop.list().await?;
    ensure!(list.len() == 1 && list[0]["repoPath"] == json!(other), "{list:?}");
    for name in ["pid", "startedAt", "contextRepoPaths", "baseBranch"] {
        ensure!(list[0][name] == entry[name], "{name} of {list:?}");
    }
    ensure!(list[0].get("issueId").is_none(), "{list:?}");

    shop.sessions(Method::DELETE, "?ticketId=SHOP-8", &Value::Null).await?.is(200, &done)?;
    ensure!(shop.list().await?.len() == 1);
    shop.sessions(Method::DELETE, "?ticketId=SHOP-7", &Value::Null).await?.is(200, &done)?;
    ensure!(shop.list().await?.is_empty());
    Ok(())
}

// OR-03
#[tokio::test]
async fn sessions_without_worktree_are_removed_and_others_preserved() -> Result<()> {
    let shop = Shop::new().await?;
    std::fs::create_dir_all(&shop.worktree)?;
    let entry = |ticket: &str, worktree| {
        json!({"ticketId": ticket, "repoPath": shop.repo,
        "worktreePath": worktree, "startedAt": "s", "lastAccessedAt": "l", "colour": "red"})
    };
    let missing = shop.local.at("wt/gone");
    let file =
        json!({"sessions": [entry("SHOP-7", &shop.worktree), entry("SHOP-8", &missing), {"broken": 1}]});
    write(&shop.local.at(".loopgate/sessions.json"), file.to_string())?;
    let list = shop.list().await?;
    ensure!(list == [entry("SHOP-7", &shop.worktree)], "{list:?}");
    ensure!(
        !shop.read_file()?.contains("SHOP-8") && shop.read_file()?.contains("colour"),
        "{}",
        shop.read_file()?
    );
    for broken in ["{", "[]", "{\"sessions\":5}", ""] {
        write(&shop.local.at(".loopgate/sessions.json"), broken)?;
        ensure!(shop.list().await?.is_empty(), "{broken}");
    }
    Ok(())
}

// OR-02
#[tokio::test]
async fn session_needs_its_members_and_allowed_paths() -> Result<()> {
    let shop = Shop::new().await?;
    let texts = "ticketId, repoPath, and worktreePath are required";
    for body in [
        json!({}),
        json!({"ticketId": "", "repoPath": shop.repo, "worktreePath": shop.worktree}),
        json!({"ticketId": 7, "repoPath": shop.repo, "worktreePath": shop.worktree}),
    ] {
        shop.sessions(Method::POST, "", &body).await?.refused(400, texts, "missing_field")?;
    }
    let broken = shop.local.send(Method::POST, "orchestrator/sessions", "{").await?;
    broken.refused(400, "Invalid JSON body", "invalid_json_body")?;
    let without_ticket = shop.sessions(Method::DELETE, "", &Value::Null).await?;
    without_ticket.refused(400, "ticketId parameter is required", "missing_field")?;
    for (repo, worktree, further) in [
        ("/etc", shop.worktree.as_path(), json!([])),
        (&*shop.repo.to_string_lossy(), std::path::Path::new("/etc"), json!([])),
        (&*shop.repo.to_string_lossy(), shop.worktree.as_path(), json!(["/etc"])),
    ] {
        let body = json!({"ticketId": "SHOP-7", "repoPath": repo, "worktreePath": worktree,
            "contextRepoPaths": further});
        let refused = shop.sessions(Method::POST, "", &body).await?;
        refused.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    ensure!(!shop.local.at(".loopgate/sessions.json").exists(), "a file was written");
    Ok(())
}

// OR-05
#[tokio::test]
async fn tickets_with_unread_answers_are_counted() -> Result<()> {
    let shop = Shop::new().await?;
    let chat = |role: &str, at: &str| {
        json!({"messages": [{"id": "1", "role": "user", "content": "?", "timestamp": "2026-01-01T00:00:00.000Z"},
            {"id": "2", "role": role, "content": "x", "timestamp": at}]})
        .to_string()
    };
    let (early, late) = ("2026-01-05T10:00:00.000Z", "2026-01-06T10:00:00.000Z");
    let histories: [(&str, Vec<(&str, String)>); 6] = [
        ("answered", vec![("chat-history.json", chat("assistant", early))]),
        ("asked", vec![("chat-history.json", chat("user", early))]),
        ("malformed", vec![("chat-history.json", "{".to_owned())]),
        ("silent", vec![]),
        // The newest message of all chats of a ticket decides.
        (
            "answered-elsewhere",
            vec![
                ("chat-history.json", chat("user", early)),
                ("chat-history-reviewer.json", chat("assistant", late)),
            ],
        ),
        (
            "asked-elsewhere",
            vec![
                ("chat-history.json", chat("assistant", early)),
                ("chat-history-assistant.json", chat("user", late)),
            ],
        ),
    ];
    for (ticket, files) in histories {
        let worktree = shop.local.at("wt").join(format!("shop-{ticket}"));
        std::fs::create_dir_all(&worktree)?;
        for (name, text) in files {
            write(&worktree.join(".loopgate/work").join(name), text)?;
        }
        let session = json!({"ticketId": ticket, "repoPath": shop.repo, "worktreePath": worktree});
        shop.sessions(Method::POST, "", &session).await?.ok()?;
    }
    let missing =
        json!({"ticketId": "gone", "repoPath": shop.repo, "worktreePath": shop.local.at("wt/gone")});
    shop.sessions(Method::POST, "", &missing).await?.ok()?;
    let count = shop.local.send(Method::GET, "orchestrator/sessions/unread-count", "").await?;
    count.is(200, &json!({"count": 2}))
}

// OR-06
#[tokio::test]
async fn sessions_require_a_sandbox() -> Result<()> {
    let local = TestGateway::with(Setup::without_sandbox).await?;
    let text = "Server not configured — complete onboarding";
    let session = json!({"ticketId": "SHOP-7", "repoPath": "/x", "worktreePath": "/x"}).to_string();
    for (method, route, body) in [
        (Method::GET, "sessions", ""),
        (Method::GET, "sessions/unread-count", ""),
        (Method::POST, "sessions", session.as_str()),
        (Method::POST, "sessions", "{"),
        (Method::DELETE, "sessions?ticketId=SHOP-7", ""),
        (Method::DELETE, "sessions", ""),
    ] {
        let answer = local.send(method, &format!("orchestrator/{route}"), body.to_owned()).await?;
        answer.refused(503, text, "not_configured")?;
    }
    Ok(())
}
