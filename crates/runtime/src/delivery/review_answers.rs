//! The answers of an EXECUTE to the comments of a review. The assistant writes them, so that the file may contain anything.

use loopgate_api::execution_result::ResultEntry;
use loopgate_api::names::REVIEW_ANSWERS;
use loopgate_api::redact;
use loopgate_api::review_comments::{CommentAnswer, NumberedAnswer, ReviewAnswers};
use loopgate_home::untrusted;
use serde_json::Value;

use crate::jobs::Job;

/// Returns the answers of a loop; `None` for a loop without a review. `results` name the commits that contain the changes.
pub(super) async fn read(job: &Job, results: Option<&[ResultEntry]>) -> Option<ReviewAnswers> {
    let numbers = job.launch.review_comments.clone();
    if numbers.is_empty() {
        return None;
    }
    let path = job.work_dir().join(REVIEW_ANSWERS);
    let read = tokio::task::spawn_blocking(move || {
        let document: Option<Value> = untrusted::read_json(&path);
        document.map(|document| ReviewAnswers::read(&redact::json(document), &numbers)).unwrap_or_default()
    });
    let answers = read.await.unwrap_or_default();
    let committed = commit(job, results);
    let with_commit = |NumberedAnswer { number, answer }| match answer {
        CommentAnswer::Done { note, .. } => {
            NumberedAnswer { number, answer: CommentAnswer::Done { note, commit: committed.clone() } }
        }
        declined @ CommentAnswer::Declined { .. } => NumberedAnswer { number, answer: declined },
    };
    Some(ReviewAnswers { answers: answers.answers.into_iter().map(with_commit).collect() })
}

/// Returns the commit of the delivery of the primary repository, else of the first delivered one.
fn commit(job: &Job, results: Option<&[ResultEntry]>) -> Option<String> {
    let delivered: Vec<_> =
        results?.iter().filter_map(|entry| Some((entry.full_name(), entry.commit()?))).collect();
    let primary = job.workspace.primary_repo_full_name.as_deref();
    let own = delivered.iter().find(|(name, _)| Some(*name) == primary).or_else(|| delivered.first());
    own.map(|(_, commit)| (*commit).to_owned())
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use loopgate_api::ids::LoopId;
    use serde_json::json;

    use super::*;

    fn job(dir: &tempfile::TempDir, numbers: &[u32]) -> Job {
        let mut job = Job::starting(LoopId(uuid::Uuid::nil()), LoopCommand::Execute);
        job.workspace.work_dir = Some(dir.path().to_string_lossy().into_owned());
        job.workspace.primary_repo_full_name = Some("acme/api".to_owned());
        job.launch.review_comments = numbers.to_vec();
        job
    }

    fn delivered() -> Vec<ResultEntry> {
        let entry = |name: &str, commit: &str| {
            json!({"status": "success", "fullName": name, "prUrl": format!("https://github.com/{name}/pull/1"),
                "prNumber": 1, "branchName": "b", "baseBranch": "main", "hasChanges": true, "commitSha": commit})
        };
        serde_json::from_value(json!([entry("acme/docs", "aaaaaaa"), entry("acme/api", "bbbbbbb")])).unwrap()
    }

    #[tokio::test]
    async fn done_answers_have_the_commit_of_the_delivery() {
        let dir = tempfile::tempdir().unwrap();
        let written = json!({"answers": [{"number": 1, "status": "done", "note": "Named."},
            {"number": 2, "status": "declined", "reason": "Used by the export."}]});
        std::fs::write(dir.path().join(REVIEW_ANSWERS), written.to_string()).unwrap();
        let answers = read(&job(&dir, &[1, 2, 3]), Some(&delivered())).await.unwrap();
        let done = CommentAnswer::Done { note: Some("Named.".into()), commit: Some("bbbbbbb".into()) };
        assert_eq!(answers.answers[0].answer, done);
        assert_eq!((answers.answers.len(), answers.missing(&[1, 2, 3])), (2, vec![3]));
        let undelivered = read(&job(&dir, &[1]), None).await.unwrap();
        assert_eq!(
            undelivered.answers[0].answer,
            CommentAnswer::Done { note: Some("Named.".into()), commit: None }
        );
        assert_eq!(read(&job(&dir, &[]), None).await, None, "the loop has no review");
    }

    #[tokio::test]
    async fn missing_malformed_or_huge_file_answers_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (path, job) = (dir.path().join(REVIEW_ANSWERS), job(&dir, &[1, 2]));
        let unanswered = Some(ReviewAnswers::default());
        assert_eq!(read(&job, None).await, unanswered, "no file");
        for text in ["", "done", "[]", "{\"answers\": 7}", "\u{0}\u{1}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read(&job, None).await, unanswered, "{text:?}");
        }
        // A valid document of 40 MB.
        let answer = r#"{"answers":[{"number":1,"status":"done"}]}"#;
        std::fs::write(&path, format!("{answer}{}", " ".repeat(40_000_000))).unwrap();
        assert_eq!(read(&job, None).await, unanswered);
        std::fs::remove_file(&path).unwrap();
        let outside = dir.path().join("outside.json");
        std::fs::write(&outside, answer).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        assert_eq!(read(&job, None).await, unanswered, "a symbolic link");
    }
}
