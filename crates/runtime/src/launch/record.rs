//! Creates the job record that a loop is started with.

use std::path::Path;

use loopgate_api::names::{ASSISTANT_OUTPUT, LOOP_LOG, STATE_JSON};
use loopgate_api::review_comments::ReviewComments;

use super::Launcher;
use crate::jobs::Job;
use crate::request::{LoopHeaders, LoopRequest};
use crate::workspace::Workspace;
use crate::workspace::repository::LoopRepository;

impl Launcher {
    /// Builds the record of a loop before its process starts.
    pub(super) fn record(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        repository: Option<&LoopRepository>,
        workspace: &Workspace,
        previous: Option<&Job>,
    ) -> Job {
        let work_dir = &workspace.work_dir;
        let text = |path: &Path| Some(path.to_string_lossy().into_owned());
        let mut job = Job::starting(request.loop_id, request.command);
        job.launch.command_id.clone_from(&headers.command_id);
        job.launch.operation_id.clone_from(&headers.operation_id);
        job.launch.ticket_id.clone_from(&request.ticket_id);
        job.launch.artifact_id = request.artifact_id.clone().or_else(|| request.primary_artifact_id.clone());
        job.launch.artifact_slug.clone_from(&request.artifact_slug);
        job.launch.issue_id.clone_from(&request.issue_id);
        job.launch.hold_pull_request = request.hold_pull_request;
        job.launch.approved_commits.clone_from(&request.approved_commits);
        let comments = request.review_comments.as_ref();
        job.launch.review_comments = comments.map(ReviewComments::numbers).unwrap_or_default();
        job.workspace.base_branch =
            Some(request.base_branch().to_owned()).filter(|branch| !branch.is_empty());
        let name = repository.and_then(|repository| repository.full_name.as_ref());
        job.workspace.primary_repo_full_name = name.map(ToString::to_string);
        job.launch.web_app_origin.clone_from(&self.settings.get().web_app_origin);
        job.launch.expected_mcp_url.clone_from(&request.expected_mcp_url);
        job.launch.api_base_url = self.cloud.origin();
        job.launch.committer.clone_from(&request.committer);
        job.workspace.repo_path = repository.and_then(|repository| text(repository.path.as_path()));
        job.workspace.local_repo_path.clone_from(&request.local_repo_path);
        job.workspace.worktree_dir =
            workspace.worktree.as_ref().and_then(|worktree| text(worktree.as_path()));
        job.workspace.worktree_branch = workspace.branch.as_ref().map(ToString::to_string);
        job.workspace.additional_worktree_dirs = workspace.recorded();
        job.workspace.temp_dir = if workspace.is_temporary { text(&workspace.dir) } else { None };
        job.workspace.work_dir = text(work_dir);
        job.launch.s3_state_key.clone_from(&request.s3_state_key);
        job.workspace.log_path = text(&work_dir.join(LOOP_LOG));
        job.workspace.jsonl_path = text(&work_dir.join(ASSISTANT_OUTPUT));
        job.workspace.state_path = text(&work_dir.join(STATE_JSON));
        job.workspace.start_sha.clone_from(&workspace.start_sha);
        job.workspace.start = workspace.start;
        if let Some(previous) = previous {
            carry_over(&mut job, previous);
        }
        job
    }
}

/// Copies ticket and document of an earlier record of the loop, where the new request does not name them.
pub(super) fn carry_over(job: &mut Job, previous: &Job) {
    // A retry keeps the original start time, so that lists do not reorder.
    job.started_at.clone_from(&previous.started_at);
    let (new, old) = (&mut job.launch, &previous.launch);
    let fill = |new: &mut Option<String>, old: &Option<String>| {
        if new.is_none() {
            new.clone_from(old);
        }
    };
    fill(&mut new.ticket_id, &old.ticket_id);
    fill(&mut new.artifact_id, &old.artifact_id);
    fill(&mut new.artifact_slug, &old.artifact_slug);
    fill(&mut new.issue_id, &old.issue_id);
    if new.committer.is_none() {
        new.committer.clone_from(&old.committer);
    }
}
