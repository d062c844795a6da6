//! Finding clones and worktrees by the names that the code host knows.

use anyhow::Result;
use loopgate_testkit::git::GitRemotes;
use loopgate_testkit::git::git;
use serde_json::json;

use crate::local::Local;

const UNSET: &str = "Server not configured — complete onboarding";

#[tokio::test]
async fn a_clone_is_found_by_its_origin() -> Result<()> {
    let local = Local::new().await?;
    let clone = local.clone_of("acme/widget", &[("README.md", "A widget\n")])?;
    local.manage(&[&clone], None)?;
    let path = |name: &'static str| {
        let local = &local;
        async move { local.get("git/repo-path", &[("repoFullName", name)]).await?.ok() }
    };
    assert_eq!(path("acme/widget").await?, json!({"path": clone}));
    assert_eq!(path("Acme/Widget").await?, json!({"path": clone}), "the code host ignores case");
    assert_eq!(path("acme/other").await?, json!({"path": null}));
    for url in ["https://github.com/acme/widget/", "ssh://git@github.com:22/acme/widget.git"] {
        git(&clone, &["remote", "set-url", "origin", url])?;
        assert_eq!(path("acme/widget").await?, json!({"path": clone}), "{url}");
    }
    git(&clone, &["remote", "set-url", "origin", &GitRemotes::url("acme/renamed")])?;
    assert_eq!(path("acme/widget").await?, json!({"path": null}));
    let unnamed = local.get("git/repo-path", &[]).await?;
    unnamed.refused(400, "repoFullName is required", "missing_field")
}

#[tokio::test]
async fn without_a_sandbox_nothing_is_found() -> Result<()> {
    let local = Local::with(|setup| setup.without_sandbox()).await?;
    let asked = local.get("git/repo-path", &[("repoFullName", "acme/widget")]).await?;
    asked.refused(503, UNSET, "not_configured")
}
