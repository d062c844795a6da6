//! What the code host says about a repository before work is delivered to it.

use std::path::Path;

use loopgate_home::RemoteRepository;
use serde::Deserialize;

use super::{CodeHost, time};

/// The parts of `GET /repos/{owner}/{repo}` that can prevent a delivery. Hosts of other versions omit some of them.
#[derive(Deserialize)]
struct RepositoryPermissions {
    archived: Option<bool>,
    has_pull_requests: Option<bool>,
    permissions: Option<Permissions>,
}

#[derive(Deserialize)]
struct Permissions {
    push: Option<bool>,
}

impl CodeHost {
    /// Returns why the work of a clone cannot be delivered, as a sentence that says what to do. Returns `None` also when
    /// the host gives no answer: only a definite refusal counts.
    pub async fn delivery_obstacle(&self, directory: &Path) -> Option<String> {
        let remotes = self.remotes(directory).await.ok()?;
        let (push, base) = (remotes.push_repository?, remotes.base_repository?);
        let (pushed, proposed) = if push == base {
            let hosted = self.repository(&push).await?;
            (push_obstacle(&push, &hosted), proposal_obstacle(&base, &hosted))
        } else {
            let (pushed, proposed) = tokio::join!(self.repository(&push), self.repository(&base));
            (
                pushed.and_then(|hosted| push_obstacle(&push, &hosted)),
                proposed.and_then(|hosted| proposal_obstacle(&base, &hosted)),
            )
        };
        pushed.or(proposed)
    }

    async fn repository(&self, repository: &RemoteRepository) -> Option<RepositoryPermissions> {
        let path = format!("repos/{}", repository.full_name);
        let mut args = vec!["api", &path];
        args.extend(repository.host.iter().flat_map(|host| ["--hostname", host]));
        let answer = self.command().await.args(args).run(super::limits(time::VIEW)).await;
        let answer = answer.ok().filter(|answer| answer.status.success())?;
        serde_json::from_slice(&answer.stdout).ok()
    }
}

fn push_obstacle(repository: &RemoteRepository, hosted: &RepositoryPermissions) -> Option<String> {
    let name = &repository.full_name;
    if hosted.archived == Some(true) {
        return Some(format!(
            "{name} is archived, so nothing can be pushed to it; unarchive it, or work in a fork"
        ));
    }
    let may_push = hosted.permissions.as_ref().and_then(|permissions| permissions.push);
    (may_push == Some(false)).then(|| {
        format!(
            "your account at the code host cannot push to {name}; request write access, or work in a fork: gh repo \
             fork --remote"
        )
    })
}

fn proposal_obstacle(repository: &RemoteRepository, hosted: &RepositoryPermissions) -> Option<String> {
    let name = &repository.full_name;
    if hosted.archived == Some(true) {
        return Some(format!("{name} is archived and accepts no pull requests; unarchive it first"));
    }
    (hosted.has_pull_requests == Some(false)).then(|| {
        format!("pull requests are disabled in {name}; enable them in the settings of the repository")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacles(answer: &str) -> [Option<String>; 2] {
        let repository = RemoteRepository::from_url("git@github.com:acme/shop.git").unwrap();
        let hosted = serde_json::from_str(answer).unwrap();
        [push_obstacle(&repository, &hosted), proposal_obstacle(&repository, &hosted)]
    }

    #[test]
    fn only_definite_refusals_count() {
        for allowed in [
            "{}",
            r#"{"permissions": null, "archived": null}"#,
            r#"{"permissions": {"pull": true}, "has_pull_requests": true, "archived": false}"#,
            r#"{"permissions": {"push": true}}"#,
        ] {
            assert_eq!(obstacles(allowed), [None, None], "{allowed}");
        }
        let [push, proposal] = obstacles(r#"{"permissions": {"push": false}, "has_pull_requests": false}"#);
        assert!(push.unwrap().contains("cannot push to acme/shop") && proposal.unwrap().contains("disabled"));
        assert!(obstacles(r#"{"archived": true}"#).iter().all(Option::is_some));
    }
}
