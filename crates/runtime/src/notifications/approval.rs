//! Notifications of requests that wait for the user's approval.

use std::sync::Arc;

use loopgate_api::link::Fingerprint;
use serde_json::json;
use uuid::Uuid;

use super::message::NotificationMessage;
use super::sender::Notifications;

const TITLE: &str = "Approval Required";

/// A request that waits for approval, as shown in a notification.
#[derive(Debug, Clone)]
pub struct ApprovalNotice {
    /// Id that the decision refers to.
    pub id: Uuid,
    /// Why an approval is required.
    pub reason: String,
    pub operation: &'static str,
    /// HTTP method in upper case.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Summary of the request body, if any.
    pub action: Option<String>,
    /// Origin or address of the caller.
    pub location: String,
    /// End of the wait, ISO 8601.
    pub waits_until: String,
    /// Loop that the request launches, if any.
    pub loop_id: Option<String>,
    /// Command line that approves the request.
    pub command: String,
}

impl Notifications {
    /// Notifies the user of a request, in a task that ends with the runtime. The notification is not stored,
    /// because pending requests do not outlive the process.
    pub fn notify_of_approval(self: &Arc<Self>, request: &ApprovalNotice) {
        let (service, message) = (self.clone(), NotificationMessage::of_request(request));
        self.tasks.spawn(async move {
            let stop = service.tasks.stop.clone();
            stop.run_until_cancelled(service.notify(message)).await;
        });
    }
}

impl Notifications {
    /// Notifies the user of a browser key that requests to sign commands for this desktop, in a task that
    /// ends with the runtime.
    pub fn notify_of_key(self: &Arc<Self>, fingerprint: &Fingerprint, owner: &str, command: &str) {
        let (service, message) = (self.clone(), NotificationMessage::of_key(fingerprint, owner, command));
        self.tasks.spawn(async move {
            let stop = service.tasks.stop.clone();
            stop.run_until_cancelled(service.notify(message)).await;
        });
    }
}

impl NotificationMessage {
    fn of_key(fingerprint: &Fingerprint, owner: &str, command: &str) -> Self {
        let reason = format!(
            "The browser of {owner} requests permission to sign commands for this machine, with the key {fingerprint}."
        );
        let facts = json!({
            "event": "needs-answer",
            "reason": "browser-key",
            "title": TITLE,
            "message": reason,
            "fingerprint": fingerprint,
            "approveWith": command,
        });
        Self { title: TITLE, message: format!("{reason}\nTo authorize it: {command}"), facts }
    }

    fn of_request(request: &ApprovalNotice) -> Self {
        let mut facts = json!({
            "event": "needs-answer",
            "reason": "approval",
            "title": TITLE,
            "message": request.reason,
            "approvalId": request.id,
            "operation": request.operation,
            "method": request.method,
            "path": request.path,
            "location": request.location,
            "waitsUntil": request.waits_until,
            "approveWith": request.command,
        });
        if let Some(id) = &request.loop_id {
            facts["loopId"] = json!(id);
        }
        if let Some(action) = &request.action {
            facts["action"] = json!(action);
        }
        let message = format!("{}\nTo approve it: {}", request.reason, request.command);
        Self { title: TITLE, message, facts }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn approval_notification_shows_the_reason() {
        let message = NotificationMessage::of_request(&ApprovalNotice {
            id: Uuid::nil(),
            reason: "it deploys".to_owned(),
            operation: "deploy",
            method: "POST".to_owned(),
            path: "/api/gateway/deploy".to_owned(),
            action: Some("action=start".to_owned()),
            location: "https://app.example.test".to_owned(),
            waits_until: "2030-01-02T09:00:00.000Z".to_owned(),
            loop_id: Some("a-loop".to_owned()),
            command: "loopgate approvals approve 00000000".to_owned(),
        });
        assert_eq!(
            (message.title, message.message.as_str()),
            ("Approval Required", "it deploys\nTo approve it: loopgate approvals approve 00000000")
        );
        let variables: BTreeMap<String, String> = message.variables().into_iter().collect();
        for (name, value) in [
            ("LOOPGATE_EVENT", "needs-answer"),
            ("LOOPGATE_EVENT_REASON", "approval"),
            ("LOOPGATE_EVENT_TITLE", "Approval Required"),
            ("LOOPGATE_EVENT_MESSAGE", "it deploys"),
            ("LOOPGATE_EVENT_APPROVAL_ID", "00000000-0000-0000-0000-000000000000"),
            ("LOOPGATE_EVENT_OPERATION", "deploy"),
            ("LOOPGATE_EVENT_METHOD", "POST"),
            ("LOOPGATE_EVENT_PATH", "/api/gateway/deploy"),
            ("LOOPGATE_EVENT_ACTION", "action=start"),
            ("LOOPGATE_EVENT_LOCATION", "https://app.example.test"),
            ("LOOPGATE_EVENT_WAITS_UNTIL", "2030-01-02T09:00:00.000Z"),
            ("LOOPGATE_EVENT_APPROVE_WITH", "loopgate approvals approve 00000000"),
            ("LOOPGATE_EVENT_LOOP_ID", "a-loop"),
        ] {
            assert_eq!(variables.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(variables.len(), 13);
    }
}
