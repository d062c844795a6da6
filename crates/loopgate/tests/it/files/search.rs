//! File search by a part of the path, in a repository and in the worktree of a ticket.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::test_gateway::{TestGateway, write};

const BASE: (&str, &str) = ("base", "true");
const AB_1: (&str, &str) = ("ticket", "AB-1");

/// Searches and compares the response.
async fn finds(local: &TestGateway, query: &[(&str, &str)], expected: &Value) -> Result<()> {
    local.get("files/search", query).await?.is(200, expected)
}

fn matches(files: &[&str]) -> Value {
    json!({"files": files, "truncated": false})
}

// GF-40
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_covers_the_worktree_without_dependencies_and_build_output() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("shop", &[("src/Widget.tsx", "")])?.display().to_string();
    for name in
        ["src/WidgetPanel.tsx", "node_modules/Widget.ts", "dist/widget.js", ".hidden/my-widget", "*.md"]
    {
        write(&local.at("shop-AB-1").join(name), "")?;
    }
    write(&local.at("secret-widget"), "")?;
    let repo = ("repo", repo.as_str());
    let in_ticket = |piece: &'static str| [repo, AB_1, ("query", piece)];
    let widgets = matches(&["src/WidgetPanel.tsx", ".hidden/my-widget"]);
    finds(&local, &in_ticket("widget"), &widgets).await?;
    finds(&local, &in_ticket("WIDGET"), &widgets).await?;
    finds(&local, &in_ticket("src/wid"), &matches(&["src/WidgetPanel.tsx"])).await?;
    finds(&local, &in_ticket("wdgpnl"), &matches(&["src/WidgetPanel.tsx"])).await?;
    finds(&local, &in_ticket("*.m"), &matches(&["*.md"])).await?;
    // The query is no glob and cannot leave the directory.
    for piece in ["../", "..", "../secret", "{src,lib}/w", "[sS]rc", "wid?et", "secret"] {
        finds(&local, &in_ticket(piece), &matches(&[])).await?;
    }
    finds(&local, &[repo, BASE, ("query", "widget")], &matches(&["src/Widget.tsx"])).await?;
    finds(&local, &[repo, BASE, AB_1, ("query", "widget")], &matches(&["src/Widget.tsx"])).await?;

    for n in 0..9 {
        write(&local.at(&format!("shop-AB-1/w/widget-{n}")), "")?;
    }
    let answer = local.get("files/search", &in_ticket("widget")).await?.ok()?;
    ensure!(answer["files"].as_array().is_some_and(|files| files.len() == 10), "{answer}");
    ensure!(answer["truncated"] == true, "11 files match: {answer}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_reflects_all_earlier_changes() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("shop", &[("a/one.rs", ""), (".gitignore", "/target\n")])?;
    let path = repo.display().to_string();
    let query = [("repo", path.as_str()), BASE, ("query", ".rs")];
    finds(&local, &query, &matches(&["a/one.rs"])).await?;
    // Each change is visible to the next request, which applies queued file events before it searches.
    write(&repo.join("b/c/two.rs"), "")?;
    write(&repo.join("target/no.rs"), "")?;
    finds(&local, &query, &matches(&["a/one.rs", "b/c/two.rs"])).await?;
    std::fs::rename(repo.join("b"), repo.join("moved"))?;
    std::fs::remove_file(repo.join("a/one.rs"))?;
    finds(&local, &query, &matches(&["moved/c/two.rs"])).await?;
    write(&repo.join(".gitignore"), "/moved\n")?;
    finds(&local, &query, &matches(&["target/no.rs"])).await?;
    std::fs::remove_dir_all(&repo)?;
    let missing = json!({"files": [], "truncated": false, "error": "Repository not found"});
    finds(&local, &query, &missing).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_search_is_refused() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.at("absent").display().to_string();
    let repo = ("repo", repo.as_str());
    let refused = async |query: &[(&str, &str)], text: &str| {
        local.get("files/search", query).await?.refused(400, text, "missing_field")
    };
    refused(&[], "repo query parameter is required").await?;
    refused(&[("repo", ""), BASE], "repo query parameter is required").await?;
    refused(&[repo], "ticket query parameter is required").await?;
    refused(&[repo, ("ticket", "")], "ticket query parameter is required").await?;
    refused(&[repo, ("base", "1")], "ticket query parameter is required").await?;
    for outside in ["/etc", "~", "shop", "~/.ssh"] {
        let answer = local.get("files/search", &[("repo", outside), BASE]).await?;
        answer.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    let missing = |text: &str| json!({"files": [], "truncated": false, "error": text});
    finds(&local, &[repo, AB_1], &missing("Worktree not found")).await?;
    finds(&local, &[repo, BASE], &missing("Repository not found")).await?;
    finds(&local, &[repo, ("ticket", "../../etc")], &missing("Worktree not found")).await?;
    write(&local.at("absent-AB-1/x"), "")?;
    finds(&local, &[repo, AB_1], &matches(&["x"])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_ordered_by_exact_name_then_prefix_then_length() -> Result<()> {
    let local = TestGateway::new().await?;
    let names = [
        "deep/down/Widget.ts",
        "deep/down/widget",
        "deep/widget.tsx",
        "a-widget",
        "widget-list.ts",
        "lib/widgets.css",
        "lib/a-widget",
        "lib/b-widget",
    ];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
    let path = local.repository("shop", &files)?.display().to_string();
    let repo = ("repo", path.as_str());
    let expected = matches(&[
        "deep/widget.tsx",
        "deep/down/widget",
        "deep/down/Widget.ts",
        "widget-list.ts",
        "lib/widgets.css",
        "a-widget",
        "lib/a-widget",
        "lib/b-widget",
    ]);
    finds(&local, &[repo, BASE, ("query", "widget")], &expected).await?;
    let all = local.get("files/search", &[repo, BASE]).await?.ok()?;
    let names_in_order: Vec<_> =
        all["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut sorted = names_in_order.clone();
    sorted.sort_by_key(|name| (name.len(), name.to_lowercase()));
    ensure!(names_in_order.len() == names.len() && names_in_order == sorted, "{names_in_order:?}");
    Ok(())
}
