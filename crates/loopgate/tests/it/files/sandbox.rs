//! Paths that the sandbox refuses, tested with a route that also accepts missing directories.

use anyhow::Result;
use serde_json::json;

use crate::test_gateway::{TestGateway, write};

const NOT_ALLOWED: (&str, &str) = ("directory not allowed", "directory_not_allowed");

// GC-37
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn symlinks_out_of_the_sandbox_are_refused() -> Result<()> {
    let local = TestGateway::new().await?;
    let home = local.home.path();
    for name in ["src/sub/x", "src-evil/x", "outside/x", ".ssh/x"] {
        write(&home.join(name), "")?;
    }
    for (target, name) in [
        ("../outside", "out"),
        ("/etc", "etc"),
        ("../.ssh", "keys"),
        ("sub", "in"),
        ("../not-there-yet", "dangling-out"),
        ("not-there-yet", "dangling-in"),
        ("loop", "loop"),
    ] {
        std::os::unix::fs::symlink(target, local.at(name))?;
    }
    let base = local.at("").display().to_string();
    let base = base.trim_end_matches('/');
    // Besides links: sibling directories, NUL bytes, overlong paths, secret directories in any case (file
    // systems may be case-insensitive), and relative paths.
    let refused = [
        format!("{base}/.."),
        format!("{base}/sub/../../outside"),
        format!("{base}/../../../../../../etc"),
        format!("{base}-evil"),
        format!("{base}/out"),
        format!("{base}/out/new"),
        format!("{base}/etc"),
        format!("{base}/keys"),
        format!("{base}/dangling-out"),
        format!("{base}/dangling-out/new"),
        format!("{base}/loop"),
        format!("{base}/a\0b"),
        format!("{base}/{}", "x/".repeat(3000)),
        "~/.ssh".into(),
        "~/.SSH/x".into(),
        "~/.config/gh".into(),
        "~/loopgate-data".into(),
        "/PROC/self".into(),
        "sub".into(),
        "./sub".into(),
    ];
    for path in refused {
        let answer = local.get("directories", &[("path", path.as_str())]).await?;
        answer.refused(403, NOT_ALLOWED.0, NOT_ALLOWED.1)?;
    }
    let none = json!({"directories": []});
    for path in
        ["missing", "missing/child", "sub/../sub", "in", "dangling-in", "%2e%2e", "..%2foutside", "..."]
    {
        local.get("directories", &[("path", &format!("{base}/{path}"))]).await?.is(200, &none)?;
    }
    Ok(())
}

// GC-47
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn existence_outside_the_sandbox_is_not_disclosed() -> Result<()> {
    let local = TestGateway::new().await?;
    let outside = local.home.path().join("outside");
    std::fs::create_dir(&outside)?;
    // An existing and a missing directory must have the same response.
    for path in [outside.join("missing"), outside] {
        let answer = local.post("repos", json!({"path": path})).await?;
        answer.refused(403, NOT_ALLOWED.0, NOT_ALLOWED.1)?;
    }
    Ok(())
}
