//! Reviews of a ticket's worktree.

mod duplicates;
mod extraction;
mod findings;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::tests::approval_subjects::worktree;
use crate::tests::test_gateway::{TestGateway, TestResponse};

/// A gateway, and a repository with the worktree of ticket `T-1`.
struct Review {
    place: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
}

impl Review {
    async fn new() -> Self {
        let place = TestGateway::new().await;
        let repo = place.clone_of("shop", "https://github.com/acme/shop.git");
        let parent = place.sandbox().join("worktrees");
        let worktree_dir = parent.join("shop-T-1");
        worktree(&repo, &worktree_dir);
        let repos =
            json!({"repos": [{"path": repo, "addedAt": ""}], "settings": {"worktreeParentDir": parent}});
        std::fs::create_dir_all(place.repos_file().parent().unwrap()).unwrap();
        std::fs::write(place.repos_file(), repos.to_string()).unwrap();
        Self { place, repo, worktree: worktree_dir }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.worktree.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn stored(&self, name: &str) -> Value {
        let text = std::fs::read(self.worktree.join(".loopgate/work").join(name)).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Asks about the repository; `route` may have further members of the query.
    async fn ask(&self, method: &str, route: &str, body: &Value) -> TestResponse {
        let separator = if route.contains('?') { '&' } else { '?' };
        let route = format!("/api/gateway/reviewer/{route}{separator}repo={}", self.repo.display());
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.place.internal(method, &route).body(body).send().await
    }
}
