//! External stop requests: a signal, or removal of the state file.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::lock;

/// Interval between two checks of the state file. `loopgate loop cancel` removes it to stop the loop.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Checks between two heartbeats on the lock: one per minute, far below the age at which a lock is stale.
const POLLS_PER_HEARTBEAT: u32 = 60;

/// Cancels the token at the first SIGINT or SIGTERM. Later signals are consumed without effect.
///
/// # Errors
/// Fails when the operating system refuses a handler.
pub fn on_signals(stop: CancellationToken) -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        signals.next().await;
        stop.cancel();
        // Keep the handlers installed: with the default action, an impatient second signal would kill the
        // driver in the middle of its cleanup.
        loop {
            signals.next().await;
        }
    });
    Ok(())
}

/// Returns a token that is cancelled at the first SIGINT or SIGTERM, and when the parent of this process ends:
/// the result of a command whose caller was killed is not read.
///
/// # Errors
/// Fails when the operating system refuses a thread or a handler.
pub fn with_caller() -> std::io::Result<CancellationToken> {
    use std::os::unix::process::parent_id;

    let (stop, caller) = (CancellationToken::new(), parent_id());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    on_signals(stop.clone())?;
    drop(guard);
    let cancelled = stop.clone();
    // A thread, because the commands that use the token block.
    std::thread::Builder::new().spawn(move || {
        runtime.block_on(async move {
            let mut ticks = tokio::time::interval(POLL_INTERVAL);
            // An orphan gets another parent.
            while parent_id() == caller {
                ticks.tick().await;
            }
            cancelled.cancel();
            std::future::pending::<()>().await;
        });
    })?;
    Ok(stop)
}

/// Cancels the token when the state file is removed. Until then, refreshes the lock's modification time.
pub fn on_removal(state_file: PathBuf, workdir: PathBuf, stop: CancellationToken) {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        let mut polls = 0;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = stop.cancelled() => return,
            }
            // Only a definite "does not exist" stops the loop; an I/O error is inconclusive.
            if matches!(tokio::fs::try_exists(&state_file).await, Ok(false)) {
                stop.cancel();
            }
            polls += 1;
            if polls % POLLS_PER_HEARTBEAT == 0 {
                lock::refresh(&workdir);
            }
        }
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
