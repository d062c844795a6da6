//! Tests of the store: messages are queued atomically with their record, and stale copies overwrite nothing.

use loopgate_api::command::LoopCommand;
use loopgate_api::event::LoopEvent;
use loopgate_api::job::JobStatus;
use loopgate_home::DataDir;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement, Value};
use secrecy::ExposeSecret as _;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::request::LoopHeaders;

struct StoreFixture {
    dir: tempfile::TempDir,
    _data: DataDir,
    store: JobStore,
}

async fn fixture() -> StoreFixture {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::open(dir.path()).unwrap();
    let credentials = Arc::new(Credentials::open(&data).unwrap());
    let store = JobStore::open(&data.file("desktop.db"), credentials).await.unwrap();
    StoreFixture { dir, _data: data, store }
}

fn new_job() -> Job {
    Job::starting(LoopId(Uuid::new_v4()), LoopCommand::Plan)
}

fn event(kind: &str) -> LoopEvent {
    LoopEvent::new(kind, &json!({}))
}

#[tokio::test]
async fn change_and_event_are_atomic() {
    let fixture = fixture().await;
    let job = new_job();
    fixture.store.create(&job).await.unwrap();
    let failed = fixture
        .store
        .change(job.id, |now| {
            now.apply(JobEvent::Spawned)?;
            now.send(OutboxMessage::event(&event("output")));
            now.apply(JobEvent::Vanished)?;
            now.apply(JobEvent::Spawned)?;
            Ok(())
        })
        .await;
    assert!(matches!(failed, Err(StoreError::InvalidTransition(_))));
    assert_eq!(fixture.store.job(job.id).await.unwrap().unwrap().status(), JobStatus::Starting);
    assert_eq!(fixture.store.next_message(job.id).await.unwrap(), None);
}

#[tokio::test]
async fn stale_copy_overwrites_nothing() {
    let fixture = fixture().await;
    let job = new_job();
    fixture.store.create(&job).await.unwrap();
    fixture.store.update(job.id, |job| job.report.artifacts_uploaded_at = Some("then".into())).await.unwrap();
    // A writer with an old copy tries to unset the marker.
    fixture
        .store
        .change(job.id, |now| {
            now.apply(JobEvent::Failed)?;
            now.job.report.artifacts_uploaded_at = None;
            Ok(())
        })
        .await
        .unwrap();
    // A terminal job cannot start running again.
    let revived = fixture.store.change(job.id, |now| Ok(now.apply(JobEvent::Spawned)?)).await;
    assert!(matches!(revived, Err(StoreError::InvalidTransition(_))));
    let job = fixture.store.job(job.id).await.unwrap().unwrap();
    assert_eq!(job.status(), JobStatus::Failed);
    assert_eq!(job.report.artifacts_uploaded_at.as_deref(), Some("then"));
    assert!(job.report.completed_at.is_some());
}

#[tokio::test]
async fn last_event_marks_the_job_when_it_is_delivered() {
    let fixture = fixture().await;
    let job = new_job();
    fixture.store.create(&job).await.unwrap();
    fixture
        .store
        .change(job.id, |now| {
            now.apply(JobEvent::Failed)?;
            now.send(OutboxMessage::new(MessageKind::Artifacts, &json!({})));
            now.send(OutboxMessage::last(&event("error")));
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(fixture.store.unreported().await.unwrap().len(), 1);
    let artifacts = fixture.store.next_message(job.id).await.unwrap().unwrap();
    assert_eq!(artifacts.outgoing.kind, MessageKind::Artifacts);
    // A rejected upload adds a warning to the final event, which is still queued.
    fixture.store.mark_rejected(job.id, &artifacts, "HTTP 400").await.unwrap();
    let last = fixture.store.next_message(job.id).await.unwrap().unwrap();
    assert!(last.outgoing.body.contains("ARTIFACT_UPLOAD_FAILED"), "{}", last.outgoing.body);
    fixture.store.mark_delivered(job.id, &last).await.unwrap();
    let job = fixture.store.job(job.id).await.unwrap().unwrap();
    assert!(job.report.cloud_finalized_at.is_some() && job.report.completed_event_posted_at.is_some());
    assert_eq!(job.warnings(), ["ARTIFACT_UPLOAD_FAILED"]);
    assert!(fixture.store.unreported().await.unwrap().is_empty());
}

#[tokio::test]
async fn abandoned_start_restores_the_previous_record() {
    let fixture = fixture().await;
    let job = new_job();
    assert_eq!(fixture.store.create(&job).await.unwrap(), PreviousJob::default());
    let end = |now: &mut JobUpdate<'_>| {
        now.apply(JobEvent::Failed)?;
        now.send(OutboxMessage::last(&event("error")));
        Ok(())
    };
    fixture.store.change(job.id, end).await.unwrap();
    let unsent = fixture.store.next_message(job.id).await.unwrap().unwrap().outgoing;
    let previous = fixture.store.create(&job).await.unwrap();
    assert_eq!(fixture.store.next_message(job.id).await.unwrap(), None);
    fixture.store.abandon(job.id, &previous).await.unwrap();
    assert_eq!(fixture.store.job(job.id).await.unwrap().unwrap().status(), JobStatus::Failed);
    assert_eq!(fixture.store.next_message(job.id).await.unwrap().unwrap().outgoing, unsent);
}

#[tokio::test]
async fn hundred_reported_jobs_are_kept() {
    let fixture = fixture().await;
    let mut ids = Vec::new();
    for _ in 0..103 {
        let job = new_job();
        ids.push(job.id);
        fixture.store.create(&job).await.unwrap();
        fixture
            .store
            .change(job.id, |now| {
                now.apply(JobEvent::Failed)?;
                now.job.report.cloud_finalized_at = Some("now".into());
                Ok(())
            })
            .await
            .unwrap();
    }
    let jobs = fixture.store.jobs().await.unwrap();
    assert_eq!(jobs.len(), 100);
    assert_eq!(jobs[0].id, ids[102], "the newest first");
    assert!(fixture.store.job(ids[0]).await.unwrap().is_none());
}

#[tokio::test]
async fn tokens_are_sealed_on_disk_and_survive() {
    let fixture = fixture().await;
    let id = LoopId(Uuid::new_v4());
    let claims = URL_SAFE_NO_PAD_ENCODED;
    let token = StoredToken::new(format!("eyJhbGciOiJIUzI1NiJ9.{claims}.sig").into());
    assert_eq!(token.expires_at, Some(1_900_000_000_000));
    fixture.store.put_token(id, &token).await.unwrap();
    let reloaded = fixture.store.token(id).await.unwrap().unwrap();
    assert_eq!(reloaded.token.0.expose_secret(), token.token.0.expose_secret());
    assert_eq!(reloaded.jti.as_deref(), Some("j1"));
    for entry in std::fs::read_dir(fixture.dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        assert!(!bytes.windows(20).any(|part| part == b"eyJhbGciOiJIUzI1NiJ9"), "{}", path.display());
    }
    fixture.store.delete_token(id).await.unwrap();
    assert!(fixture.store.token(id).await.unwrap().is_none());
}

/// Unpadded Base64 of `{"exp":1900000000,"jti":"j1"}`.
const URL_SAFE_NO_PAD_ENCODED: &str = "eyJleHAiOjE5MDAwMDAwMDAsImp0aSI6ImoxIn0";

#[tokio::test]
async fn pending_notifications_are_found_until_they_are_sent() {
    let fixture = fixture().await;
    let (job, silent) = (new_job(), new_job());
    for job in [&job, &silent] {
        fixture.store.create(job).await.unwrap();
        fixture.store.change(job.id, |now| Ok(now.apply(JobEvent::Spawned)?)).await.unwrap();
    }
    assert_eq!(fixture.store.with_pending_notifications().await.unwrap(), []);
    let failed = fixture.store.change(job.id, |now| Ok(now.apply(JobEvent::Failed)?)).await.unwrap();
    assert_eq!(fixture.store.with_pending_notifications().await.unwrap(), [failed]);
    fixture.store.update(job.id, |job| job.progress.notifications.clear()).await.unwrap();
    assert_eq!(fixture.store.with_pending_notifications().await.unwrap(), []);
}

#[tokio::test]
async fn migration_marks_pending_notifications() {
    let dir = tempfile::tempdir().unwrap();
    let data = DataDir::open(dir.path()).unwrap();
    let path = data.file("desktop.db");
    // A database of the version before the column existed.
    let db = Database::connect(format!("sqlite://{}?mode=rwc", path.display())).await.unwrap();
    migration::JobMigrator::up(&db, Some(2)).await.unwrap();
    let (mut pending_notifications, silent) = (new_job(), new_job());
    pending_notifications.progress.notifications.push(Notification::Failed);
    for job in [&pending_notifications, &silent] {
        // The member's name in records of that version.
        let record = serde_json::to_string(job).unwrap().replace("\"notifications\"", "\"notices\"");
        let values = [job.id.to_string(), record].map(Value::from);
        let sql = "INSERT INTO job (loop_id, status, terminal, reported, record, updated_at) \
                   VALUES ($1, 'Failed', 1, 1, $2, 1)";
        db.execute_raw(Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)).await.unwrap();
    }
    db.close().await.unwrap();

    let store = JobStore::open(&path, Arc::new(Credentials::open(&data).unwrap())).await.unwrap();
    assert_eq!(store.with_pending_notifications().await.unwrap(), [pending_notifications]);
}

#[tokio::test]
async fn launch_request_files_are_imported_once() {
    let fixture = fixture().await;
    let (id, dir) = (LoopId(Uuid::new_v4()), fixture.dir.path().join("queue"));
    let request = LaunchRequest { body: "{}".to_owned(), headers: LoopHeaders::default() };
    let sealed = fixture.store.credentials.seal(&serde_json::to_vec(&request).unwrap()).unwrap();
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join(id.to_string()), sealed).unwrap();
    // The partial file of an interrupted write has no loop id as its name and is ignored.
    std::fs::write(dir.join(".loopgate-x.part"), "half").unwrap();
    fixture.store.import_launch_requests(&dir).await.unwrap();
    assert_eq!(fixture.store.launch_request(id).await.unwrap(), Some(request));
    assert!(!dir.exists(), "the imported files are removed");
    fixture.store.import_launch_requests(&dir).await.unwrap();
    fixture.store.retain_launch_requests(&[id]).await.unwrap();
    assert!(fixture.store.loops_with_launch_request().await.unwrap().contains(&id));
    fixture.store.retain_launch_requests(&[]).await.unwrap();
    assert_eq!(fixture.store.launch_request(id).await.unwrap(), None);
}
