//! Desktop notifications, shown by the notification program of the platform.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loopgate_api::redact;
use loopgate_tools::process::{Command, Limits};

use super::message::NotificationMessage;

/// Timeout of the notification program.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether a failure was already logged by this process.
static LOGGED: AtomicBool = AtomicBool::new(false);

/// Shows a notification. Only the first failure is logged: a machine without a desktop fails every time.
pub(super) async fn show(message: &NotificationMessage, environment: &BTreeMap<OsString, OsString>) {
    let reason = if has_session(environment) {
        let command = command(message).environment(environment.clone()).session();
        match command.run(Limits::time(LIMIT)).await {
            Ok(output) if output.status.success() => return,
            Ok(output) => redact::message(&output.stderr_text()),
            Err(error) => error.to_string(),
        }
    } else {
        "no desktop session".to_owned()
    };
    if !LOGGED.swap(true, Ordering::Relaxed) {
        tracing::info!(
            reason,
            "cannot show desktop notifications; set notify.desktop = false in settings.toml to disable them"
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
    // The text is passed as arguments, so that it cannot inject AppleScript.
    Command::new("osascript").args(script).arg(message.title).arg(&message.message)
}

#[cfg(not(target_os = "macos"))]
fn has_session(environment: &BTreeMap<OsString, OsString>) -> bool {
    let variables = ["DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "DISPLAY"];
    variables.iter().any(|name| environment.get(&OsString::from(name)).is_some_and(|value| !value.is_empty()))
}

#[cfg(not(target_os = "macos"))]
fn command(message: &NotificationMessage) -> Command {
    // Notification servers may interpret the body as markup.
    let text = message.message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // `--` ends the options, because a text may begin with a hyphen.
    Command::new("notify-send").args(["--app-name=Loopgate", "--", message.title, text.as_str()])
}
