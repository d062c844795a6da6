//! Messages of the user to a running loop.

use loopgate_api::job::JobStatus;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Desktop, PLANS, new_id, request, start};

/// A driver that moves the message to the delivered ones, as the hooks do, when the test signals it.
const DELIVERS: &str = r#"wait_for_signal go
mkdir -p "$W/.loopgate/messages-delivered"
for file in "$W"/.loopgate/messages/*.json; do
  sed 's/}$/,"deliveredAt":"2031-04-02T10:00:00.000Z"}/' "$file" > "$W/.loopgate/messages-delivered/${file##*/}"
  rm "$file"
done
rmdir "$W/.loopgate/messages"
wait_for_signal end
"#;

#[tokio::test(flavor = "multi_thread")]
async fn message_is_written_once_and_its_delivery_is_reported_once() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("{DELIVERS}{PLANS}"));
    let runtime = desktop.open().await;
    let (id, message_id) = (new_id(), Uuid::now_v7());
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let body = json!({"loopId": id, "text": "Use tabs."}).to_string();
    let send = async |message_id: Uuid| {
        runtime.messages.accept(body.as_bytes(), Some(&message_id.to_string())).await
    };
    // A command is delivered again when its acknowledgement was lost.
    send(message_id).await.unwrap();
    send(message_id).await.unwrap();
    let work_dir = desktop.at("box/api-loop-plan-5/.loopgate/work");
    let file = work_dir.join(".loopgate/messages").join(format!("{message_id}.json"));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["text"], "Use tabs.");
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    desktop.signal("go");
    let delivery = desktop
        .eventually("the delivery is reported", || async {
            desktop.cloud.events(id, "message_delivery").pop()
        })
        .await;
    assert_eq!(
        (&delivery["messageId"], &delivery["isDelivered"], &delivery["deliveredAt"]),
        (&json!(message_id), &json!(true), &json!("2031-04-02T10:00:00.000Z"))
    );
    send(message_id).await.unwrap();
    assert!(!file.exists(), "a delivered message is not written again");
    desktop.signal("end");
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    assert_eq!(desktop.cloud.events(id, "message_delivery").len(), 1);
    let late = send(Uuid::now_v7()).await.unwrap_err();
    assert_eq!((late.status, late.message.as_str()), (409, "The loop has ended."));
    // The next loop in the worktree is another one.
    desktop.driver(&format!("ls -a \"$W/.loopgate\" > \"$STATE/found\"\n{PLANS}"));
    let next = new_id();
    start(&runtime, &request(next, "PLAN")).await.unwrap();
    desktop.reported(&runtime, next).await;
    assert!(!desktop.state("found").contains("messages"), "{}", desktop.state("found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn delivery_before_a_restart_is_reported_after_it() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("{DELIVERS}{PLANS}"));
    let runtime = desktop.open().await;
    let (id, message_id) = (new_id(), Uuid::now_v7());
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let body = json!({"loopId": id, "text": "Use tabs."}).to_string();
    runtime.messages.accept(body.as_bytes(), Some(&message_id.to_string())).await.unwrap();
    runtime.shutdown().await;
    drop(runtime);
    desktop.signal("go");
    desktop.signal("end");
    let exit = desktop.at("box/api-loop-plan-5/.loopgate/work/exit.json");
    desktop.eventually("the driver has ended", || async { exit.is_file().then_some(()) }).await;
    let runtime = desktop.open().await;
    runtime.recovery.recover().await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    let deliveries = desktop.cloud.events(id, "message_delivery");
    assert_eq!((deliveries.len(), &deliveries[0]["messageId"]), (1, &json!(message_id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_messages_are_refused() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("wait_for_signal go\n{PLANS}"));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    let command_id = Uuid::now_v7().to_string();
    let refusal = async |body: Value, command_id: Option<&str>| {
        let error = runtime.messages.accept(body.to_string().as_bytes(), command_id).await.unwrap_err();
        (error.status, error.message)
    };
    let id_only = Some(command_id.as_str());
    for (body, status, text) in [
        (json!({"text": "x"}), 400, "loopId is required"),
        (json!({"loopId": id, "text": " \n"}), 400, "text is required"),
        (json!({"loopId": id, "text": "x".repeat(10_001)}), 400, "text is malformed: more than 10000 bytes"),
        (json!({"loopId": new_id(), "text": "x"}), 404, "This machine has no such loop."),
    ] {
        assert_eq!(refusal(body, id_only).await, (status, text.to_owned()));
    }
    for command_id in [None, Some("../../x")] {
        let (status, _) = refusal(json!({"loopId": id, "text": "x"}), command_id).await;
        assert_eq!(status, 400, "the control plane records who has sent a message");
    }
    desktop.signal("go");
    desktop.reported(&runtime, id).await;
}
