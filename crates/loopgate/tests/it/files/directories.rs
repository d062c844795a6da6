//! The route that lists the folders of a directory.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::test_gateway::{TestGateway, write};

fn folder(name: &str, path: impl Into<String>, is_git_repo: bool) -> Value {
    json!({"name": name, "path": path.into(), "isDirectory": true, "isGitRepo": is_git_repo})
}

// GF-39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repositories_are_listed_before_other_folders() -> Result<()> {
    let local = TestGateway::new().await?;
    let base = local.at("code");
    for name in ["repo/.git/x", "Beta/x", "alpha/x", ".hidden/x", "file", "worktree/.git"] {
        write(&base.join(name), "")?;
    }
    std::fs::create_dir(local.home.path().join("outside"))?;
    // Links are listed only when they resolve to a folder in the sandbox.
    for (target, name) in [("repo", "linked"), ("../../outside", "out"), ("file", "to-file"), ("/etc", "etc")]
    {
        std::os::unix::fs::symlink(target, base.join(name))?;
    }
    let at = |name: &str| base.join(name).display().to_string();
    let expected = json!({"directories": [
        folder("linked", at("linked"), true),
        folder("repo", at("repo"), true),
        folder("worktree", at("worktree"), true),
        folder("alpha", at("alpha"), false),
        folder("Beta", at("Beta"), false),
    ]});
    let path = base.display().to_string();
    local.get("directories", &[("path", path.as_str())]).await?.is(200, &expected)?;
    local.get("directories", &[("path", &format!("{path}//"))]).await?.is(200, &expected)?;

    let in_home = json!({"directories": [folder("x", "~/src/only/x", false)]});
    write(&local.at("only/x/y"), "")?;
    for path in ["~/src/only", "~/src/only/", "~//src/./only/../only"] {
        local.get("directories", &[("path", path)]).await?.is(200, &in_home)?;
    }
    let none = json!({"directories": []});
    local.get("directories", &[("path", &at("missing"))]).await?.is(200, &none)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_does_not_disclose_whether_a_path_exists() -> Result<()> {
    let local = TestGateway::new().await?;
    write(&local.at("file"), "")?;
    let home = local.home.path().display().to_string();
    let outside = [
        "~",
        "",
        "/",
        "/etc",
        "~/.ssh",
        "~/.SSH",
        "relative",
        "~nobody",
        "/nowhere/at/all",
        "~/src-evil",
        "~/src/../x",
    ];
    for path in outside.iter().map(ToString::to_string).chain([home.clone(), format!("{home}/src\0")]) {
        let answer = local.get("directories", &[("path", path.as_str())]).await?;
        answer.refused(403, "directory not allowed", "directory_not_allowed")?;
    }
    local.get("directories", &[]).await?.refused(403, "directory not allowed", "directory_not_allowed")?;
    let file = local.at("file").display().to_string();
    let text = "Failed to list directories: not a directory";
    local.get("directories", &[("path", file.as_str())]).await?.refused(500, text, "operation_failed")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_is_truncated() -> Result<()> {
    let local = TestGateway::new().await?;
    // The list is truncated to 2,000 folders.
    for number in 0..2001 {
        std::fs::create_dir_all(local.at(&format!("many/{number:04}")))?;
    }
    let answer = local.get("directories", &[("path", &local.at("many").to_string_lossy())]).await?.ok()?;
    let listed = answer["directories"].as_array().context("a list")?;
    assert_eq!((listed.len(), &listed[1999]["name"]), (2000, &json!("1999")));
    Ok(())
}
