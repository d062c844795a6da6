//! Creates the pull request of a pushed branch, or adds to the one that is open.

use loopgate_api::test_evidence::TestEvidence;
use loopgate_evidence::markdown;
use loopgate_tools::code_host::{NewPullRequest, PullRequest};
use loopgate_tools::git::time;

use super::delivery_text::{DeliveryText, generated_title, write_body};
use super::outcome::LoopOutcome;
use super::push::PushedBranch;
use super::result::DeliveryContext;
use super::retry::DeliveryError;
use crate::jobs::Job;

const LABEL: &str = "orchestrator";

/// What a pull request says.
pub(super) struct PullRequestText<'a> {
    pub text: Option<&'a DeliveryText>,
    pub tests: Option<&'a TestEvidence>,
}

/// Returns the open pull request of a branch; creates it if there is none.
pub(super) async fn pull_request(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    pushed: &PushedBranch,
    new: &PullRequestText<'_>,
) -> Result<PullRequest, DeliveryError> {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let branch = &pushed.branch;
    // A new branch has no pull request. If the clone only did not know the branch, the host refuses to create
    // a second one.
    let existing = if pushed.is_new { Ok(None) } else { host.pr_view(directory, branch).await };
    let existing = match existing {
        // Without knowing whether a pull request exists, creating one could produce a duplicate: retry.
        Err(error) if error.is_transient() => return Err(error.into()),
        result => result.unwrap_or_else(|error| {
            tracing::info!(%error, "failed to look up the pull request; creating one");
            None
        }),
    };
    let existing = match existing {
        Some(existing) => existing,
        None => {
            let body = body(job, context, new, None).await?;
            let title = title(outcome, job, context, new.text).await;
            let new = NewPullRequest {
                title: &title,
                body: &body,
                base: &context.base,
                head: branch,
                label: LABEL,
            };
            match host.pr_create(directory, &new).await {
                Ok(created) => return Ok(created),
                // Another process may have created it, or the response was lost after the code host had
                // created it.
                Err(error) => match host.pr_view(directory, branch).await {
                    Ok(Some(existing)) => existing,
                    _ => return Err(error.into()),
                },
            }
        }
    };
    update(outcome, job, context, &existing, new).await;
    Ok(existing)
}

async fn body(
    job: &Job,
    context: &DeliveryContext,
    new: &PullRequestText<'_>,
    present: Option<String>,
) -> std::io::Result<String> {
    let section = new.tests.map(markdown);
    write_body(job, context, new.text, present, section.as_deref()).await
}

/// Returns the title of a new pull request. The subject of the last commit describes the change better than a
/// generated title.
async fn title(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    text: Option<&DeliveryText>,
) -> String {
    if let Some(text) = text {
        return text.title(job);
    }
    let args = ["log", "-1", "--format=%s"];
    let subject = outcome.finalizer.git.text(&context.directory, &args, time::LOCAL).await;
    subject.ok().filter(|subject| !subject.is_empty()).unwrap_or_else(|| generated_title(job))
}

/// Adds the loop's text, footer and test results to an existing pull request, and labels it. Best-effort:
/// failures are logged.
async fn update(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    existing: &PullRequest,
    new: &PullRequestText<'_>,
) {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    // The repository may not define this label.
    if let Err(error) = host.pr_add_label(directory, existing.number, LABEL).await {
        tracing::debug!(%error, "failed to label the pull request");
    }
    let Ok(present) = host.pr_body(directory, existing.number).await else { return };
    // A repeated delivery must not append its text again.
    if present.contains(&format!("Loop ID: {}", job.id)) {
        return;
    }
    let result = match body(job, context, new, Some(present)).await {
        Ok(body) => host.pr_edit_body(directory, existing.number, &body).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = result {
        tracing::debug!(error, "failed to add the footer to the pull request");
    }
}
