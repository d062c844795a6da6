//! The repositories in which a loop works, as its record names them.

use std::path::PathBuf;

use super::Job;

/// A worktree of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRepository {
    /// Full name (`owner/name`), else the name of the worktree's directory.
    pub name: String,
    pub worktree: PathBuf,
    /// Branch from which the loop started, when known.
    pub base_branch: Option<String>,
    /// HEAD before the loop started.
    pub start_commit: Option<String>,
}

impl Job {
    /// Returns the worktrees of the loop, that of the primary repository first.
    #[must_use]
    pub fn repositories(&self) -> Vec<JobRepository> {
        let workspace = &self.workspace;
        let primary = workspace.worktree_dir.as_ref().map(|worktree| {
            let name = workspace.primary_repo_full_name.as_ref();
            repository(worktree, name, workspace.base_branch.as_ref(), workspace.start_sha.as_ref())
        });
        let peers = workspace.additional_worktree_dirs.iter().map(|peer| {
            repository(&peer.dir, peer.full_name.as_ref(), peer.base_branch.as_ref(), peer.start_sha.as_ref())
        });
        primary.into_iter().chain(peers).collect()
    }
}

fn repository(
    worktree: &str,
    full_name: Option<&String>,
    base_branch: Option<&String>,
    start_commit: Option<&String>,
) -> JobRepository {
    let worktree = PathBuf::from(worktree);
    let directory_name = || worktree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    JobRepository {
        name: full_name.filter(|name| !name.is_empty()).cloned().unwrap_or_else(directory_name),
        base_branch: base_branch.cloned(),
        start_commit: start_commit.cloned(),
        worktree,
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;
    use uuid::Uuid;

    use super::super::PeerWorktree;
    use super::*;

    #[test]
    fn primary_repository_precedes_its_peers() {
        let mut job = Job::starting(LoopId(Uuid::nil()), LoopCommand::Execute);
        assert_eq!(job.repositories(), []);
        job.workspace.worktree_dir = Some("/w/shop-AB-1".to_owned());
        job.workspace.start_sha = Some("abc".to_owned());
        let peer: PeerWorktree = serde_json::from_value(serde_json::json!({
            "dir": "/w/api-AB-1", "repoPath": "/src/api", "fullName": "acme/api", "baseBranch": "main",
        }))
        .unwrap();
        job.workspace.additional_worktree_dirs.push(peer);
        let found = job.repositories();
        let names: Vec<&str> = found.iter().map(|repository| repository.name.as_str()).collect();
        assert_eq!(names, ["shop-AB-1", "acme/api"]);
        assert_eq!(found[0].start_commit.as_deref(), Some("abc"));
        assert_eq!(found[1].base_branch.as_deref(), Some("main"));
    }
}
