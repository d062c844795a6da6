//! `loopgate code-review post-comments` and `resolve-threads`.
//!
//! Both print what they have done and exit with 0, also when the code host rejects a request: posting must not fail a job
//! whose review has succeeded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::RepoFullName;
use loopgate_api::review_comments::CommentSide;
use loopgate_code_review::finding::FindingSide;
use loopgate_code_review::posting::{
    CommentableLines, FindingsToPost, PostedFindings, PostedThread, PostingPlan, ThreadsToResolve,
    is_about_finding,
};
use loopgate_home::{Overrides, SETTINGS_FILE, Sandbox, SettingsStore, default_data_dir};
use loopgate_tools::code_host::{
    ApiRequest, CodeHost, CodeHostApiError, NewReview, NewReviewComment, OwnReviews, PullNumber,
    RateLimitWait, ReviewPlacement,
};
use loopgate_tools::git::Git;
use loopgate_tools::programs::Programs;
use serde::Serialize;

use crate::console::print_error;

/// Arguments of `code-review post-comments`.
#[derive(Debug, clap::Args)]
pub struct PostCommentsArgs {
    /// File with the findings and the number of the pull request
    #[arg(long, value_name = "FILE")]
    findings: PathBuf,
    #[command(flatten)]
    target: PostingTarget,
}

/// Arguments of `code-review resolve-threads`.
#[derive(Debug, clap::Args)]
pub struct ResolveThreadsArgs {
    /// File with the ids of the threads and the number of the pull request
    #[arg(long, value_name = "FILE")]
    threads: PathBuf,
    #[command(flatten)]
    target: PostingTarget,
}

/// Where to post.
#[derive(Debug, clap::Args)]
struct PostingTarget {
    /// Repository of the pull request
    #[arg(long, value_name = "OWNER/NAME", env = "GITHUB_REPOSITORY")]
    repo: Option<RepoFullName>,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// Seconds to wait for rate limits in total
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    max_wait: u64,
}

/// What a command has posted.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct PostingReport {
    pub dry_run: bool,
    /// Comments on lines.
    pub posted: u64,
    /// Findings in the text of the review.
    pub posted_in_text: u64,
    pub skipped_non_inline: u64,
    /// Findings that were posted before.
    pub skipped_existing: u64,
    /// Findings for which the text of the review has no space.
    pub skipped_too_long: u64,
    /// Findings that were not posted because a request failed.
    pub failed: u64,
    /// Failed requests by reason: a status, the type of a GraphQL error, `timeout`, `unreadable` or `unavailable`.
    pub failures: BTreeMap<String, u64>,
    pub waited_seconds: u64,
    /// What was sent, or would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<ApiRequest>,
}

/// What became of the threads.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct ResolutionReport {
    pub dry_run: bool,
    pub resolved: u64,
    /// Threads that were resolved before.
    pub skipped_resolved: u64,
    /// Threads with a comment of another account, which a person resolves.
    pub skipped_answered: u64,
    /// Threads of others, of another pull request or about no finding.
    pub skipped_foreign: u64,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    pub waited_seconds: u64,
    /// Ids of the threads that were resolved, or would be.
    pub threads: Vec<String>,
}

impl PostCommentsArgs {
    pub(super) fn run(&self) -> Result<String, String> {
        let findings: FindingsToPost = super::read(&self.findings)?;
        let (repository, number) = self.target.pull_request(findings.pr_number)?;
        let report = block_on(async {
            let host = code_host()?;
            Ok(post(&host, &repository, number, &findings, &self.target).await)
        })?;
        super::json(&report)
    }
}

impl ResolveThreadsArgs {
    pub(super) fn run(&self) -> Result<String, String> {
        let threads: ThreadsToResolve = super::read(&self.threads)?;
        let (repository, number) = self.target.pull_request(threads.pr_number)?;
        let report = block_on(async {
            let host = code_host()?;
            Ok(resolve(&host, &repository, number, &threads.outdated_thread_ids, &self.target).await)
        })?;
        super::json(&report)
    }
}

impl PostingTarget {
    fn pull_request(&self, number: Option<u64>) -> Result<(RepoFullName, PullNumber), String> {
        let repository =
            self.repo.clone().ok_or("no repository; pass --repo OWNER/NAME, or set GITHUB_REPOSITORY")?;
        let number = number.and_then(PullNumber::new);
        Ok((
            repository,
            number.ok_or("the file contains no valid pr_number, the number of the pull request")?,
        ))
    }

    const fn wait(&self) -> RateLimitWait {
        RateLimitWait::at_most(Duration::from_secs(self.max_wait))
    }
}

/// Returns the user's code host program, as the settings of this machine select it.
fn code_host() -> Result<CodeHost, String> {
    let data_dir = default_data_dir().map_err(|error| error.to_string())?;
    let settings = SettingsStore::open(&data_dir.join(SETTINGS_FILE), Overrides::default());
    let settings = Arc::new(settings.map_err(|error| error.to_string())?);
    let programs = Arc::new(Programs::new(settings.clone()));
    Ok(CodeHost::new(programs.clone(), Git::new(programs, Arc::new(Sandbox::new(settings, &data_dir)))))
}

fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("cannot start the code host's program: {error}"))?.block_on(work)
}

/// Posts the findings that are new, in one review.
async fn post(
    host: &CodeHost,
    repository: &RepoFullName,
    number: PullNumber,
    findings: &FindingsToPost,
    target: &PostingTarget,
) -> PostingReport {
    let mut wait = target.wait();
    let mut report = PostingReport { dry_run: target.dry_run, ..PostingReport::default() };
    let inline = findings.findings.iter().filter(|finding| finding.inline != Some(false)).count() as u64;
    if inline == 0 {
        report.skipped_non_inline = findings.findings.len() as u64;
        return report;
    }
    let (posted, lines) = match state(host, repository, number, &mut wait).await {
        Ok(state) => state,
        // Without knowing what was posted before, findings would be posted twice.
        Err(error) if !target.dry_run => {
            print_error(format!("Warning: nothing was posted: {error}"));
            report.skipped_non_inline = findings.findings.len() as u64 - inline;
            report.failed = inline;
            report.failures.insert(error.kind(), 1);
            report.waited_seconds = wait.waited().as_secs();
            return report;
        }
        Err(error) => {
            print_error(format!("Warning: shown as if nothing was posted before: {error}"));
            report.failures.insert(error.kind(), 1);
            let mut lines = CommentableLines::default();
            // As if the diff contained every line.
            for finding in &findings.findings {
                lines.add(&finding.file, &format!("@@ -1,{0} +1,{0} @@", u32::MAX));
            }
            (PostedFindings::default(), lines)
        }
    };
    let plan = PostingPlan::new(&findings.findings, &posted, &lines);
    (report.skipped_non_inline, report.skipped_existing) = (plan.non_inline, plan.existing);
    report.skipped_too_long = plan.too_long;
    if !plan.is_empty() {
        let (comments, in_text) = (plan.comments.len() as u64, plan.in_text);
        let review = review(number, findings.head_sha.clone(), plan);
        report.request = Some(review.request(repository));
        let outcome = match target.dry_run {
            true => Ok(ReviewPlacement::OnLines),
            false => host.submit_review(repository, &review, &mut wait).await,
        };
        match outcome {
            Ok(ReviewPlacement::OnLines) => (report.posted, report.posted_in_text) = (comments, in_text),
            Ok(ReviewPlacement::AsText) => report.posted_in_text = comments + in_text,
            Err(error) => {
                print_error(format!("Warning: nothing was posted: {error}"));
                report.failed = comments + in_text;
                report.failures.insert(error.kind(), 1);
            }
        }
    }
    report.waited_seconds = wait.waited().as_secs();
    report
}

/// Reads what was posted before, and the lines that can have comments.
async fn state(
    host: &CodeHost,
    repository: &RepoFullName,
    number: PullNumber,
    wait: &mut RateLimitWait,
) -> Result<(PostedFindings, CommentableLines), CodeHostApiError> {
    let OwnReviews { threads, reviews } = host.own_reviews(repository, number, wait).await?;
    let threads = threads.into_iter().map(|thread| PostedThread {
        path: thread.path,
        line: thread.line,
        is_resolved: thread.is_resolved,
        is_outdated: thread.is_outdated,
        text: thread.text,
    });
    let mut lines = CommentableLines::default();
    for file in host.pull_request_patches(repository, number, wait).await? {
        lines.add(&file.filename, file.patch.as_deref().unwrap_or_default());
    }
    Ok((PostedFindings { threads: threads.collect(), reviews }, lines))
}

fn review(number: PullNumber, commit: Option<String>, plan: PostingPlan) -> NewReview {
    let side = |side| match side {
        FindingSide::Left => CommentSide::Old,
        FindingSide::Right => CommentSide::New,
    };
    let comments = plan.comments.into_iter().map(|comment| NewReviewComment {
        path: comment.path,
        lines: Some((side(comment.side), comment.line, comment.line)),
        body: comment.body,
    });
    NewReview { number, commit, body: plan.body, comments: comments.collect() }
}

/// Resolves those of the threads that the own account began about a finding, and in which no other account has written.
async fn resolve(
    host: &CodeHost,
    repository: &RepoFullName,
    number: PullNumber,
    ids: &[String],
    target: &PostingTarget,
) -> ResolutionReport {
    let mut wait = target.wait();
    let mut report = ResolutionReport { dry_run: target.dry_run, ..ResolutionReport::default() };
    if ids.is_empty() {
        return report;
    }
    let own = match host.own_reviews(repository, number, &mut wait).await {
        Ok(own) => own,
        Err(error) => {
            print_error(format!("Warning: no thread was resolved: {error}"));
            report.failed = ids.len() as u64;
            report.failures.insert(error.kind(), 1);
            report.waited_seconds = wait.waited().as_secs();
            return report;
        }
    };
    let ids: std::collections::BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    for id in ids {
        // The ids come from a model that has read the change: they may name any thread.
        let Some(thread) =
            own.threads.iter().find(|thread| thread.id == id && is_about_finding(&thread.text))
        else {
            report.skipped_foreign += 1;
            continue;
        };
        if thread.is_resolved {
            report.skipped_resolved += 1;
            continue;
        }
        if thread.is_answered {
            report.skipped_answered += 1;
            continue;
        }
        let outcome = if target.dry_run { Ok(()) } else { host.resolve_thread(id, &mut wait).await };
        match outcome {
            Ok(()) => {
                report.resolved += 1;
                report.threads.push(id.to_owned());
            }
            Err(error) => {
                print_error(format!("Warning: {id} was not resolved: {error}"));
                report.failed += 1;
                *report.failures.entry(error.kind()).or_default() += 1;
            }
        }
    }
    report.waited_seconds = wait.waited().as_secs();
    report
}

#[cfg(test)]
mod tests;
