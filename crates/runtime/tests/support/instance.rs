//! Instances of the runtime that end abruptly, as if killed, while their environment keeps running.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_runtime::Runtime;
use loopgate_runtime::jobs::Job;
use loopgate_testkit::wait::Changes;

use super::{Desktop, new_id, request, start};

/// An instance of the runtime. Dropping it stops all its tasks at once, like a kill.
pub struct RuntimeInstance<'a> {
    desktop: &'a Desktop,
    tokio: Option<tokio::runtime::Runtime>,
    pub runtime: Arc<Runtime>,
}

impl<'a> RuntimeInstance<'a> {
    /// Starts an instance, which recovers the loops of earlier ones.
    pub fn start(desktop: &'a Desktop) -> Self {
        let instance = Self::start_idle(desktop);
        instance.block_on(instance.runtime.recovery.recover()).unwrap();
        let runtime = instance.runtime.clone();
        instance
            .spawn(async move { tokio::join!(runtime.launcher.run_queue(), runtime.recovery.run_watch()) });
        instance
    }

    /// Starts an instance and launches a loop in it.
    pub fn with_loop(desktop: &'a Desktop, command: &str) -> (Self, LoopId) {
        let (instance, id) = (Self::start(desktop), new_id());
        instance.block_on(start(&instance.runtime, &request(id, command))).unwrap();
        (instance, id)
    }

    /// Starts an instance without recovery and periodic checks.
    pub fn start_idle(desktop: &'a Desktop) -> Self {
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let runtime = tokio.block_on(desktop.open());
        Self { desktop, tokio: Some(tokio), runtime }
    }

    /// Spawns work that ends with the instance.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) {
        self.tokio.as_ref().unwrap().spawn(work);
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.tokio.as_ref().unwrap().block_on(work)
    }

    /// Runs until files of the desktop have changed that many times, or the control plane has received the
    /// end of all these loops.
    pub fn run_for(&self, changes: usize, loops: &[(LoopId, String)]) {
        let has_ended = |id| !self.desktop.cloud.events(id, "completed").is_empty();
        let (mut remaining, mut files) = (changes, Changes::below(&self.desktop.at("")).unwrap());
        self.block_on(async {
            while remaining > 0 && !loops.iter().all(|(id, _)| has_ended(*id)) {
                files.next().await.unwrap();
                remaining -= 1;
            }
        });
    }

    pub fn reported(&self, id: LoopId) -> Job {
        self.block_on(self.desktop.reported(&self.runtime, id))
    }
}

impl Drop for RuntimeInstance<'_> {
    fn drop(&mut self) {
        // Returns when no task of this instance runs any more.
        self.tokio.take().unwrap().shutdown_timeout(Duration::from_secs(5));
    }
}

/// Returns a desktop, and the tokio runtime of the control plane and of the test's own calls, which outlives
/// every instance.
pub fn outer() -> (tokio::runtime::Runtime, Desktop) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let desktop = tokio.block_on(Desktop::new());
    (tokio, desktop)
}
