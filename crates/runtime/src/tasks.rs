//! Background tasks of the runtime: counted, and asked to end together.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where services spawn their tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    /// Cancelled when the process ends: tasks stop, loops go on.
    pub stop: CancellationToken,
}

impl Tasks {
    /// Spawns a task, which a shutdown waits for.
    pub fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.tracker.spawn(task)
    }

    /// Asks every task to end and waits until all have.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}
