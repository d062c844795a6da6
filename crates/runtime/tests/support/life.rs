//! Lives of the program that end at once, as by a kill, while everything around them goes on.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_runtime::Runtime;
use loopgate_runtime::jobs::Job;
use loopgate_testkit::wait::Changes;

use super::{Desktop, new_id, request, start};

/// One life of the program. When it is over, every task of it is gone at once, as with a kill.
pub struct RuntimeInstance<'a> {
    desktop: &'a Desktop,
    tokio: Option<tokio::runtime::Runtime>,
    pub runtime: Arc<Runtime>,
}

impl<'a> RuntimeInstance<'a> {
    /// Begins a life, which takes up what earlier ones left.
    pub fn start(desktop: &'a Desktop) -> Self {
        let life = Self::start_idle(desktop);
        life.block_on(life.runtime.recovery.recover()).unwrap();
        let runtime = life.runtime.clone();
        life.spawn(async move { tokio::join!(runtime.launcher.run_queue(), runtime.recovery.run_watch()) });
        life
    }

    /// Begins a life and has it start a loop.
    pub fn with_loop(desktop: &'a Desktop, command: &str) -> (Self, LoopId) {
        let (life, id) = (Self::start(desktop), new_id());
        life.block_on(start(&life.runtime, &request(id, command))).unwrap();
        (life, id)
    }

    /// Begins a life that looks at nothing by itself.
    pub fn start_idle(desktop: &'a Desktop) -> Self {
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let runtime = tokio.block_on(desktop.open());
        Self { desktop, tokio: Some(tokio), runtime }
    }

    /// Does something beside all else, until the life ends.
    pub fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) {
        self.tokio.as_ref().unwrap().spawn(work);
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.tokio.as_ref().unwrap().block_on(work)
    }

    /// Lives until files of the desktop have changed so many times, or the control plane knows the
    /// end of all these loops.
    pub fn live_through(&self, changes: usize, loops: &[(LoopId, String)]) {
        let over = |id| !self.desktop.cloud.events(id, "completed").is_empty();
        let (mut left, mut files) = (changes, Changes::below(&self.desktop.at("")).unwrap());
        self.block_on(async {
            while left > 0 && !loops.iter().all(|(id, _)| over(*id)) {
                files.next().await.unwrap();
                left -= 1;
            }
        });
    }

    pub fn reported(&self, id: LoopId) -> Job {
        self.block_on(self.desktop.reported(&self.runtime, id))
    }
}

impl Drop for RuntimeInstance<'_> {
    fn drop(&mut self) {
        // Returns when nothing of this life runs any more, as after a kill.
        self.tokio.take().unwrap().shutdown_timeout(Duration::from_secs(5));
    }
}

/// The control plane and the test's own calls outlive every life.
pub fn world() -> (tokio::runtime::Runtime, Desktop) {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let desktop = tokio.block_on(Desktop::new());
    (tokio, desktop)
}
