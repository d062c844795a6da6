//! Messages of a person to a running loop: written to its work directory, from which the hooks of the assistant read them,
//! and reported when the assistant has received them.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::command::Runner;
use loopgate_api::event::LoopEvent;
use loopgate_api::event_body::MessageDeliveryEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::loop_message::{LoopMessage, MAX_MESSAGE_BYTES, file_name, id_of_file};
use loopgate_api::names::{DELIVERED_MESSAGES, MESSAGES};
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;
use serde_json::Value;
use uuid::Uuid;

use crate::error::LoopRequestError;
use crate::jobs::{Job, Jobs};
use crate::request;

// Attempts to write a message: a hook removes the directory when it has delivered the last one in it.
const WRITE_ATTEMPTS: u32 = 5;

/// Accepts messages to running loops.
pub struct LoopMessages {
    pub(crate) jobs: Jobs,
}

impl LoopMessages {
    /// Writes the message of a request body for the assistant of its loop. The id of the message is that of the command
    /// from the control plane; a repeated one changes nothing.
    ///
    /// # Errors
    /// Returns 400 for an invalid request, 404 for an unknown loop, and 409 when its assistant does not run.
    pub async fn accept(&self, body: &[u8], command_id: Option<&str>) -> Result<(), LoopRequestError> {
        let members = request::members(body)?;
        let text =
            |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let id = text("loopId").ok_or_else(|| LoopRequestError::missing_field("loopId is required"))?;
        let message = text("text").ok_or_else(|| LoopRequestError::missing_field("text is required"))?;
        if message.len() > MAX_MESSAGE_BYTES {
            return Err(LoopRequestError::malformed("text", &format!("more than {MAX_MESSAGE_BYTES} bytes")));
        }
        // The control plane records who has sent the message, so that it accepts no other way.
        let message_id: Uuid = command_id.and_then(|id| id.parse().ok()).ok_or_else(|| {
            LoopRequestError::bad_request("Messages to loops are sent through the control plane.")
        })?;
        let unknown = || LoopRequestError::new(404, "This machine has no such loop.");
        let id: LoopId = id.parse().map_err(|_| unknown())?;
        let job = self.jobs.store.job(id).await?.ok_or_else(unknown)?;
        check_state(&job)?;
        let message = LoopMessage { text: message.to_owned(), received_at: now_iso(), delivered_at: None };
        let work_dir = job.work_dir();
        let written = tokio::task::spawn_blocking(move || write(&work_dir, message_id, &message)).await;
        let written = written.map_err(|_| LoopRequestError::internal())?;
        written.map_err(|error| {
            tracing::error!(loop_id = %id, %error, "failed to write a message to the work directory");
            LoopRequestError::new(500, "The message could not be written to the work directory of the loop.")
        })
    }
}

/// Returns 409 unless the assistant of the loop runs and can receive messages.
fn check_state(job: &Job) -> Result<(), LoopRequestError> {
    let refusal = if job.status().is_terminal() || job.is_cancelled() {
        "The loop has ended."
    } else if !matches!(job.command.spec().runner, Runner::Driver(_)) {
        "Loops of this command receive no messages."
    } else if job.run.process.is_none() {
        "The assistant of the loop has not started yet. Send the message again when it runs."
    } else if job.run.exit_code.is_some() {
        "The assistant has ended, and the work of the loop is being delivered."
    } else {
        return Ok(());
    };
    Err(LoopRequestError::new(409, refusal))
}

/// Writes a message, unless it was written before.
fn write(work_dir: &Path, id: Uuid, message: &LoopMessage) -> io::Result<()> {
    let (pending, delivered) = (work_dir.join(MESSAGES), work_dir.join(DELIVERED_MESSAGES));
    let name = file_name(id);
    // In this order: a hook moves it from the first directory to the second.
    if untrusted::is_file(&pending.join(&name)) || untrusted::is_file(&delivered.join(&name)) {
        return Ok(());
    }
    let json = serde_json::to_vec(message)?;
    let mut attempts = 1;
    loop {
        match untrusted::write_private(&pending.join(&name), &json) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < WRITE_ATTEMPTS => {
                attempts += 1
            }
            written => return written,
        }
    }
}

/// Removes the messages of earlier loops from a work directory. Performs blocking I/O.
///
/// # Errors
/// Fails on any I/O error.
pub(crate) fn clear(work_dir: &Path) -> io::Result<()> {
    for directory in [MESSAGES, DELIVERED_MESSAGES].map(|name| work_dir.join(name)) {
        let Ok(opened) = untrusted::directory(&directory) else { continue };
        for entry in opened.entries()? {
            opened.remove_file(&entry.name)?;
        }
        std::fs::remove_dir(&directory)?;
    }
    Ok(())
}

/// Finds messages that the assistant has received and that are not reported.
pub(crate) struct DeliveryReader {
    directory: PathBuf,
    reported: Vec<Uuid>,
}

impl DeliveryReader {
    pub fn new(work_dir: &Path, reported: &[Uuid]) -> Self {
        Self { directory: work_dir.join(DELIVERED_MESSAGES), reported: reported.to_vec() }
    }

    /// Returns the messages that were delivered since the last call, with the time of their delivery.
    pub fn read(&mut self) -> Vec<(Uuid, String)> {
        // The directory exists only in loops with messages.
        if self.directory.symlink_metadata().is_err() {
            return Vec::new();
        }
        let entries = untrusted::entries(&self.directory);
        let ids = entries.iter().filter_map(|entry| id_of_file(entry.name.to_str()?));
        let mut new: Vec<Uuid> = ids.filter(|id| !self.reported.contains(id)).collect();
        new.sort_unstable();
        let time = |id: Uuid| {
            let message: LoopMessage = untrusted::read_json(&self.directory.join(file_name(id)))?;
            Some((id, message.delivered_at?))
        };
        let delivered: Vec<_> = new.into_iter().filter_map(time).collect();
        self.reported.extend(delivered.iter().map(|(id, _)| *id));
        delivered
    }
}

/// Returns the event that reports a delivery.
pub(crate) fn delivery_event(id: Uuid, delivered_at: &str) -> LoopEvent {
    let body = MessageDeliveryEvent {
        message_id: id.to_string(),
        is_delivered: true,
        delivered_at: Some(delivered_at.to_owned()),
        reason: None,
    };
    LoopEvent::new("message_delivery", &body)
}
