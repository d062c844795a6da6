//! Stopping: one token that every part holds, cancelled by Ctrl-C or a termination signal, and a
//! failsafe that ends the process when the stop takes too long.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// After this long a stop that hangs is cut short, with exit code 1.
pub const HARD_EXIT: Duration = Duration::from_secs(8);

/// A token that is cancelled when the process is asked to stop. A second request changes nothing.
pub fn on_signals() -> std::io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let stop = token.clone();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            stop.cancel();
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    Ok(token)
}

/// Ends the process by force unless it has ended by itself in [`HARD_EXIT`]. Runs on a thread of
/// its own, so that a stuck async runtime cannot hold it.
pub fn arm_failsafe() {
    std::thread::spawn(|| {
        let (_keep, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(HARD_EXIT);
        eprintln!("loopgate: stopping took longer than {} s and was cut short", HARD_EXIT.as_secs());
        std::process::exit(1);
    });
}
