//! Reasons to stop from outside: a signal, or a state file that somebody removed.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::lock;

/// How often the state file is looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How many looks are between two signs of life on the lock.
const LOOKS_A_BEAT: u32 = 60;

/// Cancels the token at the first interrupt or request to terminate, and from then on at each.
///
/// # Errors
/// When the system refuses a handler.
pub fn on_signals(stop: CancellationToken) -> std::io::Result<()> {
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        signals.next().await;
        stop.cancel();
        // Keep the handlers, so that an impatient second signal does not cut the clean-up short.
        loop {
            signals.next().await;
        }
    });
    Ok(())
}

/// Cancels the token when the state file is gone, and keeps the lock fresh until then.
pub fn on_removal(state_file: PathBuf, workdir: PathBuf, stop: CancellationToken) {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(LOOK);
        let mut looks = 0;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = stop.cancelled() => return,
            }
            if matches!(tokio::fs::try_exists(&state_file).await, Ok(false)) {
                stop.cancel();
            }
            looks += 1;
            if looks % LOOKS_A_BEAT == 0 {
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
