//! Delivering with git and the code host's command line alone: commit what is there, push, open or
//! find the pull request. Every step may be repeated.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use loopgate_api::ids::BranchName;
use loopgate_home::Directory;
use loopgate_home::untrusted::write_private;
use loopgate_tools::code_host::{NewPullRequest, PullRequest};
use loopgate_tools::git::time;

use super::delivery::{Delivered, DeliveryError, Site, by_git, git_failed};
use super::{Ending, result_file};
use crate::job::Job;

const LABEL: &str = "orchestrator";
/// Bytes of a pull request's template.
const MAX_TEMPLATE: u64 = 256 * 1024;
const TEMPLATES: [&str; 4] = [
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "pull_request_template.md",
];

/// Delivers the work of a site.
pub(super) async fn deliver(ending: &Ending<'_>, job: &Job, site: &Site) -> Result<Delivered, DeliveryError> {
    let (git, directory) = (&ending.runtime.git, site.directory.as_path());
    let title = commit_title(job);
    git.commit_all(directory, &title, job.facts.committer.as_ref()).await?;
    let branch = match own_branch(ending, site).await {
        Ok(branch) => branch,
        Err(reason) => return Ok(git_failed(&reason)),
    };
    let branch = push(ending, job, site, branch).await?;
    let head = git.head(directory).await?;
    match pull_request(ending, job, site, &branch, &title).await {
        Ok(pull_request) => {
            let named = result_file::repository_and_number(&pull_request.url).and_then(|(name, _)| name);
            let name =
                if site.full_name.is_empty() { named.unwrap_or_default() } else { site.full_name.clone() };
            let result = result_file::success(
                &name,
                pull_request.number,
                branch.as_str(),
                site.base.as_str(),
                &head,
                None,
            );
            Ok(by_git(result))
        }
        Err(reason) => Ok(git_failed(&reason)),
    }
}

/// Commits the work of a site on its branch.
///
/// # Errors
/// Why not, for the log.
pub(super) async fn commit_unfinished(ending: &Ending<'_>, job: &Job, site: &Site) -> Result<(), String> {
    own_branch(ending, site).await?;
    let title = format!("{} (unfinished)", commit_title(job));
    let git = &ending.runtime.git;
    let committed = git.commit_all(&site.directory, &title, job.facts.committer.as_ref()).await;
    committed.map(|_| ()).map_err(|error| error.to_string())
}

/// The branch that the work belongs on.
async fn own_branch(ending: &Ending<'_>, site: &Site) -> Result<BranchName, String> {
    let branch =
        ending.runtime.git.current_branch(&site.directory).await.map_err(|error| error.to_string())?;
    let branch: BranchName = branch
        .ok_or("the worktree is on no branch")?
        .parse()
        .map_err(|_| "the worktree's branch has a name that cannot be used")?;
    if branch == site.base {
        return Err("the worktree is on its base branch; nothing is pushed there".to_owned());
    }
    Ok(branch)
}

/// Pushes the branch. When `origin` has other work on it, that work stays and ours gets a branch of
/// its own: nothing is ever forced.
async fn push(
    ending: &Ending<'_>,
    job: &Job,
    site: &Site,
    branch: BranchName,
) -> Result<BranchName, DeliveryError> {
    let (git, directory) = (&ending.runtime.git, site.directory.as_path());
    let refused = match git.push(directory, &branch, time::PUSH).await {
        Ok(()) => return Ok(branch),
        Err(error) => error,
    };
    let diverged = refused
        .printed()
        .is_some_and(|said| ["non-fast-forward", "fetch first"].iter().any(|sign| said.contains(sign)));
    let Ok(own) = format!("{branch}-{}", job.id.short()).parse::<BranchName>() else {
        return Err(refused.into());
    };
    if !diverged || branch.as_str().ends_with(&job.id.short()) {
        return Err(refused.into());
    }
    tracing::info!(loop_id = %job.id, %branch, %own, "the remote branch has other work; ours gets its own");
    git.text(directory, &["switch", "--quiet", "-C", own.as_str()], time::LOCAL).await?;
    git.push(directory, &own, time::PUSH).await?;
    Ok(own)
}

async fn pull_request(
    ending: &Ending<'_>,
    job: &Job,
    site: &Site,
    branch: &BranchName,
    title: &str,
) -> Result<PullRequest, String> {
    let (host, directory) = (&ending.runtime.code_host, site.directory.as_path());
    let known = host.pr_view(directory, branch).await.unwrap_or_else(|error| {
        tracing::info!(%error, "the code host could not say whether there is a pull request");
        None
    });
    let body_file = site.work_dir.join("pr-body.md");
    let pull_request = match known {
        Some(known) => {
            ensure_footer(ending, job, site, &known, body_file).await;
            known
        }
        None => {
            let body = write_body(job, site, body_file, None).await.map_err(|error| error.to_string())?;
            let title = subject(ending, site).await.unwrap_or_else(|| title.to_owned());
            let new = NewPullRequest { title: &title, body: &body, base: &site.base, head: Some(branch) };
            match host.pr_create(directory, &new).await {
                Ok(made) => made,
                // Somebody may have made it meanwhile, or the answer was lost on its way.
                Err(error) => match host.pr_view(directory, branch).await {
                    Ok(Some(there)) => there,
                    _ => return Err(error.to_string()),
                },
            }
        }
    };
    if let Err(error) = host.pr_add_label(directory, pull_request.number, LABEL).await {
        tracing::debug!(%error, "the pull request has no label");
    }
    Ok(pull_request)
}

/// An existing pull request learns which loop changed it.
async fn ensure_footer(ending: &Ending<'_>, job: &Job, site: &Site, known: &PullRequest, body_file: PathBuf) {
    let (host, directory) = (&ending.runtime.code_host, site.directory.as_path());
    let Ok(body) = host.pr_body(directory, known.number).await else { return };
    if body.contains(&format!("Loop ID: {}", job.id)) {
        return;
    }
    let edited = match write_body(job, site, body_file, Some(body)).await {
        Ok(body) => host.pr_edit_body(directory, known.number, &body).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = edited {
        tracing::debug!(error, "the pull request's text was not completed");
    }
}

/// The last commit's subject says more than a name made by a rule.
async fn subject(ending: &Ending<'_>, site: &Site) -> Option<String> {
    let args = ["log", "-1", "--format=%s"];
    let text = ending.runtime.git.text(&site.directory, &args, time::LOCAL).await.ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Title of a commit that no person and no assistant worded.
fn commit_title(job: &Job) -> String {
    let prefix = job.facts.artifact_slug.as_ref().map(|slug| format!("{slug}: ")).unwrap_or_default();
    format!("{prefix}Automated changes from loop {}", job.id.short())
}

/// What stands below the text of every pull request of a loop.
pub(super) fn footer(job: &Job) -> String {
    let mut footer = format!("---\nLoop ID: {}", job.id);
    if let (Some(origin), Some(slug)) = (&job.facts.web_app_origin, &job.facts.artifact_slug) {
        let _ = write!(footer, "\nArtifact: {}/implementation-plans/{slug}", origin.trim_end_matches('/'));
    }
    footer
}

/// The text that the repository wants pull requests to begin with. Blocks on the disk.
fn template_in(directory: &Path) -> Option<String> {
    let directory = Directory::of(directory).ok()?;
    let bytes = TEMPLATES.iter().find_map(|name| directory.read(Path::new(name), MAX_TEMPLATE).ok())?;
    String::from_utf8(bytes).ok()
}

/// Keeps the text of a pull request in a file, and answers it.
async fn write_body(
    job: &Job,
    site: &Site,
    file: PathBuf,
    present: Option<String>,
) -> std::io::Result<String> {
    let (directory, footer) = (site.directory.clone(), footer(job));
    let header = format!("Changes made by loop {} ({}).", job.id, job.command);
    let command = job.command;
    tokio::task::spawn_blocking(move || {
        let text = match present {
            Some(body) => format!("{}\n\n{footer}\n", body.trim_end()),
            None => {
                let template = template_in(&directory);
                let template = template.map(|text| format!("{}\n\n", text.trim_end())).unwrap_or_default();
                format!("{header}\n\n{template}{footer}\nCommand: {command}\n")
            }
        };
        write_private(&file, text.as_bytes())?;
        Ok(text)
    })
    .await
    .map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_a_file_of_the_repository_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, key) = (dir.path().join("tree"), dir.path().join("id_ed25519"));
        std::fs::create_dir_all(tree.join("docs")).unwrap();
        std::fs::write(&key, "private").unwrap();
        std::fs::write(tree.join("pull_request_template.md"), "What and why").unwrap();
        let of = || template_in(&tree);
        assert_eq!(of().as_deref(), Some("What and why"));
        std::os::unix::fs::symlink("/dev/zero", tree.join("docs/pull_request_template.md")).unwrap();
        std::os::unix::fs::symlink(dir.path(), tree.join(".github")).unwrap();
        std::fs::copy(&key, dir.path().join("pull_request_template.md")).unwrap();
        assert_eq!(of().as_deref(), Some("What and why"));
        std::fs::remove_file(tree.join(".github")).unwrap();
        std::fs::create_dir(tree.join(".github")).unwrap();
        std::os::unix::fs::symlink(&key, tree.join(TEMPLATES[0])).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, tree.join(TEMPLATES[1]), mode).unwrap();
        assert_eq!(of().as_deref(), Some("What and why"));
        std::fs::write(tree.join(TEMPLATES[3]), vec![b'x'; 300 * 1024]).unwrap();
        assert_eq!(of(), None, "too large");
    }
}
