//! Reviews of a ticket's worktree.

mod duplicates;
mod extraction;
mod findings;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::tests::approval_subjects::worktree;
use crate::tests::test_gateway::{TestGateway, TestResponse};

/// A gateway and a repository with the worktree of ticket `T-1`.
struct Review {
    fixture: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
}

impl Review {
    async fn new() -> Self {
        let fixture = TestGateway::new().await;
        let repo = fixture.clone_of("shop", "https://github.com/acme/shop.git");
        let parent = fixture.sandbox().join("worktrees");
        let worktree_dir = parent.join("shop-T-1");
        worktree(&repo, &worktree_dir);
        let repos =
            json!({"repos": [{"path": repo, "addedAt": ""}], "settings": {"worktreeParentDir": parent}});
        std::fs::create_dir_all(fixture.repos_file().parent().unwrap()).unwrap();
        std::fs::write(fixture.repos_file(), repos.to_string()).unwrap();
        Self { fixture, repo, worktree: worktree_dir }
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

    /// Sends a request about the repository. `route` may contain query parameters.
    async fn request(&self, method: &str, route: &str, body: &Value) -> TestResponse {
        let separator = if route.contains('?') { '&' } else { '?' };
        let route = format!("/api/gateway/reviewer/{route}{separator}repo={}", self.repo.display());
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.fixture.internal(method, &route).body(body).send().await
    }
}
