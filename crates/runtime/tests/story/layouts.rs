//! Places and forms of clones: a loop finds the repository by its name and delivers, whatever the layout on the disk.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use loopgate_api::job::JobStatus;
use serde_json::{Value, json};

use crate::support::{Desktop, IMPLEMENTS, PLANS, new_id, request, start};

const FETCH: [&str; 3] = ["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"];

impl Desktop {
    fn remote(&self) -> String {
        self.at("remote/acme/api.git").to_string_lossy().into_owned()
    }

    /// Removes the clone, so that a test can create another one.
    fn without_clone(&self) {
        std::fs::remove_dir_all(self.at("box/api")).unwrap();
    }
}

/// Plans and executes with the repository `acme/api`.
async fn delivers(desktop: &Desktop, trusted: PathBuf) {
    desktop.trust_clone(&trusted).await;
    let runtime = desktop.open().await;
    for (command, driver) in [("PLAN", PLANS), ("EXECUTE", IMPLEMENTS)] {
        desktop.driver(driver);
        let id = new_id();
        start(&runtime, &request(id, command)).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        let errors = desktop.cloud.events(id, "error");
        assert_eq!(
            (job.status(), job.warnings()),
            (JobStatus::Completed, Vec::new()),
            "{command} {errors:?}"
        );
    }
    assert_eq!(desktop.pushed("orchestrator/plan-5").await.len(), 1);
    assert_eq!(desktop.state("created").trim(), "orchestrator/plan-5");
    assert!(!desktop.at("box/api-acme").exists(), "it was cloned again");
}

#[tokio::test(flavor = "multi_thread")]
async fn bare_repository_with_worktrees() {
    for directory in ["box/project/api.git", "box/project/.bare"] {
        let desktop = Desktop::new().await;
        desktop.without_clone();
        let bare = desktop.at(directory);
        std::fs::create_dir_all(bare.parent().unwrap()).unwrap();
        desktop
            .git(&desktop.at("box"), &["clone", "-q", "--bare", &desktop.remote(), &bare.to_string_lossy()])
            .await;
        desktop.git(&bare, &FETCH).await;
        desktop.git(&bare, &["fetch", "-q"]).await;
        desktop.git(&bare, &["worktree", "add", "-q", "../main", "main"]).await;
        if bare.ends_with(".bare") {
            std::fs::write(desktop.at("box/project/.git"), "gitdir: ./.bare\n").unwrap();
        }
        delivers(&desktop, desktop.at("box/project/main")).await;
    }
}

// Without a refspec, `git fetch` updates no branch of the clone.
#[tokio::test(flavor = "multi_thread")]
async fn bare_repository_without_remote_tracking_branches() {
    let desktop = Desktop::new().await;
    desktop.without_clone();
    desktop.git(&desktop.at("box"), &["clone", "-q", "--bare", &desktop.remote(), "api"]).await;
    delivers(&desktop, desktop.at("box/api")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn worktree_of_another_clone_at_the_usual_place() {
    let desktop = Desktop::new().await;
    std::fs::create_dir_all(desktop.at("box/a/b/c/d")).unwrap();
    let clone = desktop.at("box/a/b/c/d/main");
    std::fs::rename(desktop.at("box/api"), &clone).unwrap();
    let place = desktop.at("box/api").to_string_lossy().into_owned();
    desktop.git(&clone, &["worktree", "add", "-q", "-b", "mine", &place]).await;
    delivers(&desktop, clone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn separate_git_directory_that_names_its_working_tree() {
    let desktop = Desktop::new().await;
    desktop.without_clone();
    std::fs::create_dir(desktop.at("box/gits")).unwrap();
    let separate = ["clone", "-q", "--separate-git-dir", "gits/api", &desktop.remote(), "api"];
    desktop.git(&desktop.at("box"), &separate).await;
    let clone = desktop.at("box/api");
    // Another directory could claim the git directory as well.
    let runtime = desktop.open().await;
    let mut body = request(new_id(), "PLAN");
    body["localRepoPath"] = json!(clone);
    let refused = start(&runtime, &body).await.unwrap_err();
    assert!(refused.message.contains("git config core.worktree \"$PWD\""), "{}", refused.message);
    drop(runtime);
    desktop.git(&clone, &["config", "core.worktree", &clone.to_string_lossy()]).await;
    delivers(&desktop, clone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clone_behind_a_symbolic_link() {
    let desktop = Desktop::new().await;
    std::fs::create_dir_all(desktop.at("box/a/b/c/d")).unwrap();
    let clone = desktop.at("box/a/b/c/d/api");
    std::fs::rename(desktop.at("box/api"), &clone).unwrap();
    symlink("a/b/c/d", desktop.at("box/links")).unwrap();
    delivers(&desktop, clone).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_that_is_a_symbolic_link() {
    let desktop = Desktop::new().await;
    std::fs::rename(desktop.at("box"), desktop.at("disk")).unwrap();
    symlink("disk", desktop.at("box")).unwrap();
    delivers(&desktop, desktop.at("box/api")).await;
}

// The clone is created while the runtime is open.
#[tokio::test(flavor = "multi_thread")]
async fn clone_that_is_created_later() {
    let desktop = Desktop::new().await;
    desktop.without_clone();
    desktop.program("gh", "exit 1");
    let runtime = desktop.open().await;
    let refused = start(&runtime, &request(new_id(), "PLAN")).await.unwrap_err();
    assert_eq!(refused.status, 404, "{}", refused.message);
    let clone = desktop.at("box/gitlab.example/Acme/API");
    std::fs::create_dir_all(clone.parent().unwrap()).unwrap();
    desktop.git(&desktop.at("box"), &["clone", "-q", &desktop.remote(), &clone.to_string_lossy()]).await;
    desktop.trust_clone(&clone).await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    let peers: Value = json!([{"fullName": "acme/missing", "branch": "main"}]);
    let mut body = request(new_id(), "PLAN");
    body["additionalRepos"] = peers;
    let refused = start(&runtime, &body).await.unwrap_err().message;
    let place = desktop.at("box");
    assert!(
        refused.starts_with("Additional repo not found locally: acme/missing. Loopgate looked in "),
        "{refused}"
    );
    assert!(refused.contains(&*place.to_string_lossy()), "{refused}");
}

// Names that git cannot create next to the existing ones, in the clone or at the remote.
#[tokio::test(flavor = "multi_thread")]
async fn branch_names_that_git_cannot_create() {
    for (names, expected) in [
        (vec!["orchestrator"], Some("orchestrator-plan-5")),
        (vec!["orchestrator/plan-5/notes"], Some("orchestrator-plan-5")),
        (vec!["Orchestrator/other"], Some("orchestrator-plan-5")),
        (vec!["orchestrator", "orchestrator-PLAN-5"], None),
    ] {
        for at_remote in [false, true] {
            let desktop = Desktop::new().await;
            let clone = desktop.at("box/api");
            for name in &names {
                if at_remote {
                    desktop.git(&clone, &["push", "-q", "origin", &format!("main:refs/heads/{name}")]).await;
                } else {
                    desktop.git(&clone, &["branch", name]).await;
                }
            }
            desktop.driver(IMPLEMENTS);
            let (runtime, id) = (desktop.open().await, new_id());
            let started = start(&runtime, &request(id, "EXECUTE")).await;
            let Some(expected) = expected else {
                let refused = started.unwrap_err().message;
                assert!(refused.contains("rename or delete one of these branches"), "{refused}");
                continue;
            };
            started.unwrap();
            let job = desktop.reported(&runtime, id).await;
            assert_eq!(job.status(), JobStatus::Completed, "{names:?}");
            assert_eq!(desktop.pushed(expected).await.len(), 1, "{names:?} {at_remote}");
        }
    }
}
