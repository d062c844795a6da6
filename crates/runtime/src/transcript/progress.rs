//! Phase and tasks of a running loop, from the files that it writes. Performs blocking I/O.

use std::path::PathBuf;
use std::time::SystemTime;

use loopgate_api::event_body::{ProgressEvent, TaskCounts};
use loopgate_api::names::{PLAN_JSON, STATE_JSON};
use loopgate_api::plan;
use loopgate_home::untrusted;
use serde_json::Value;

/// Reads the progress of one loop, when its files have changed.
pub(crate) struct ProgressReader {
    work_dir: PathBuf,
    /// Start of the run: an older state belongs to an earlier run.
    spawned: Option<SystemTime>,
    modified: [Option<SystemTime>; 2],
    reported: ProgressEvent,
}

impl ProgressReader {
    pub fn new(work_dir: PathBuf, spawned: Option<SystemTime>) -> Self {
        Self { work_dir, spawned, modified: [None; 2], reported: ProgressEvent::default() }
    }

    /// Returns the progress if it has changed since the last call.
    pub fn read(&mut self) -> Option<ProgressEvent> {
        let modified = [STATE_JSON, PLAN_JSON].map(|name| {
            untrusted::metadata(&self.work_dir.join(name)).and_then(|metadata| metadata.modified()).ok()
        });
        if modified == self.modified {
            return None;
        }
        self.modified = modified;
        let progress = self.current();
        if progress == self.reported {
            return None;
        }
        self.reported = progress.clone();
        Some(progress)
    }

    fn current(&self) -> ProgressEvent {
        let is_of_run =
            self.modified[0].zip(self.spawned).is_some_and(|(modified, spawned)| modified >= spawned);
        let state: Option<Value> =
            is_of_run.then(|| untrusted::read_json(&self.work_dir.join(STATE_JSON))).flatten();
        let plan = untrusted::read_text(&self.work_dir.join(PLAN_JSON)).ok();
        let tasks = plan.and_then(|text| plan::progress(&plan::parse(&text).ok()?));
        let tasks = tasks.filter(|(tasks, _)| tasks.total > 0);
        let stage = state.as_ref().and_then(|state| state.get("phase")).and_then(Value::as_str);
        if tasks.is_none() && stage.is_none() {
            return ProgressEvent::default();
        }
        let percent = tasks.as_ref().map_or(0, |(tasks, _)| tasks.completed * 100 / tasks.total);
        ProgressEvent {
            #[expect(clippy::cast_precision_loss, reason = "at most 100")]
            percent: Some(percent as f64),
            stage: stage.map(str::to_owned),
            tasks: tasks.map(|(tasks, current)| TaskCounts {
                completed: tasks.completed as u64,
                total: tasks.total as u64,
                current,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn phase_and_tasks_are_reported_when_they_change() {
        let dir = tempfile::tempdir().unwrap();
        let mut clock = SystemTime::now();
        let mut write = |name: &str, value: Value| {
            let path = dir.path().join(name);
            std::fs::write(&path, value.to_string()).unwrap();
            // The resolution of a file system's clock can be lower than the time between two writes.
            clock += Duration::from_secs(1);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(clock).unwrap();
        };
        let mut reader = ProgressReader::new(dir.path().to_owned(), Some(SystemTime::now()));
        assert_eq!(reader.read(), None, "there are no files yet");
        write(PLAN_JSON, json!({"content": "# Plan"}));
        assert_eq!(reader.read(), None, "a plan without tasks says nothing");
        write(STATE_JSON, json!({"phase": "build"}));
        let plan = |done: &[&str], pending: &[&str]| {
            let tasks = |ids: &[&str]| ids.iter().map(|id| json!({"id": id})).collect::<Vec<_>>();
            json!({"completedTasks": tasks(done), "pendingTasks": tasks(pending)})
        };
        write(PLAN_JSON, plan(&["T-1"], &["T-2", "T-3", "T-4"]));
        let tasks = |completed, current: Option<&str>| TaskCounts {
            completed,
            total: 4,
            current: current.map(str::to_owned),
        };
        let progress = reader.read().unwrap();
        assert_eq!((progress.percent, progress.stage.as_deref()), (Some(25.0), Some("build")));
        assert_eq!(progress.tasks, Some(tasks(1, Some("T-2"))));
        assert_eq!(reader.read(), None);
        write(PLAN_JSON, plan(&["T-1"], &["T-2", "T-3", "T-4"]));
        assert_eq!(reader.read(), None, "nothing has changed");
        write(PLAN_JSON, plan(&["T-1", "T-2", "T-3", "T-4"], &[]));
        assert_eq!(reader.read().unwrap().tasks, Some(tasks(4, None)));
    }

    #[test]
    fn state_of_an_earlier_run_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(STATE_JSON), json!({"phase": "old"}).to_string()).unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        let mut reader = ProgressReader::new(dir.path().to_owned(), Some(later));
        assert_eq!(reader.read().and_then(|progress| progress.stage), None);
    }
}
