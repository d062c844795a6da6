//! Background tasks of the runtime, tracked and cancelled together.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Spawns and tracks the tasks of services.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    /// Cancelled on shutdown: tasks stop, loops keep running under their shims.
    pub stop: CancellationToken,
}

impl Tasks {
    /// Spawns a task; [`Tasks::shut_down`] waits for its end.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.tracker.spawn(task)
    }

    /// Cancels [`Tasks::stop`] and waits until every task has ended.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        // `wait` only returns for a tracker that is closed as well as empty.
        self.tracker.close();
        self.tracker.wait().await;
    }
}
