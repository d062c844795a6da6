//! Notifications of the desktop, by the program that each desktop has for them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loopgate_api::redact;
use loopgate_tools::process::{Command, Limits};

use super::message::NotificationMessage;

/// How long a desktop may take to show something.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether it was logged that nothing can be shown.
static SAID: AtomicBool = AtomicBool::new(false);

/// Shows a notification. Where there is no desktop the log says so, once.
pub(super) async fn show(message: &NotificationMessage, environment: &BTreeMap<OsString, OsString>) {
    let refusal = if has_session(environment) {
        let command = command(message).environment(environment.clone()).session();
        match command.run(Limits::time(LIMIT)).await {
            Ok(output) if output.status.success() => return,
            Ok(output) => redact::message(&output.stderr_text()),
            Err(error) => error.to_string(),
        }
    } else {
        "there is no desktop session".to_owned()
    };
    if !SAID.swap(true, Ordering::Relaxed) {
        tracing::info!(
            refusal,
            "no notification was shown; notify.desktop in settings.toml switches them off"
        );
    }
}

#[cfg(target_os = "macos")]
fn has_session(_: &BTreeMap<OsString, OsString>) -> bool {
    true
}

#[cfg(target_os = "macos")]
fn command(message: &NotificationMessage) -> Command {
    let script =
        ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
    let script = script.iter().flat_map(|line| ["-e", line]);
    Command::new("osascript").args(script).arg(message.title).arg(&message.message)
}

#[cfg(not(target_os = "macos"))]
fn has_session(environment: &BTreeMap<OsString, OsString>) -> bool {
    let signs = ["DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "DISPLAY"];
    signs.iter().any(|name| environment.get(&OsString::from(name)).is_some_and(|value| !value.is_empty()))
}

#[cfg(not(target_os = "macos"))]
fn command(message: &NotificationMessage) -> Command {
    // What is shown may be read as markup.
    let text = message.message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Command::new("notify-send").args(["--app-name=Loopgate", "--", message.title, text.as_str()])
}
