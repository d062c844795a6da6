//! Command signing: a desktop accepts only commands signed by an authorized browser key.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use loopgate_api::launch::launch_digests;
use loopgate_api::link::{BrowserPublicKey, LinkCommand, SignaturePayload, USER_INTENT};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use loopgate_testkit::wait::Changes;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::run;
use crate::page::{Page, text};
use crate::settings::base;

const PROGRAM: &str = env!("CARGO_BIN_EXE_loopgate");

/// Returns the output of `loopgate keys`.
async fn keys(home: &UserHome, arguments: &[&str]) -> Result<String> {
    let output = run(home, &[&["keys"], arguments].concat(), &[]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Signs a request to start a loop, like a browser does.
fn signed(key: &SigningKey, intent: &Value) -> Result<Value> {
    let command = LinkCommand {
        command_id: Uuid::now_v7().to_string(),
        method: "POST".to_owned(),
        path: "/api/gateway/orchestrator/loop".to_owned(),
        body: Some(json!({USER_INTENT: intent})),
        ..LinkCommand::default()
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    let payload = SignaturePayload::of(&command, i64::try_from(now)?, Uuid::new_v4().to_string());
    let text = serde_json::to_string(&payload)?;
    Ok(json!({
        "commandId": command.command_id,
        "signature": STANDARD.encode(key.sign(text.as_bytes()).to_bytes()),
        "signaturePayload": text,
        "publicKeyFingerprint": BrowserPublicKey::from(key.verifying_key().to_bytes()).fingerprint(),
        "body": intent,
    }))
}

// CL-31 CL-33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signed_loop_starts_after_browser_key_is_authorized() -> Result<()> {
    let testbed = Testbed::new(story::script()).await?;
    testbed.add_story()?;
    let home = &testbed.home;
    let state = home.path().join(".loopgate");
    std::fs::create_dir_all(&state)?;
    let mut changes = Changes::of(&[&state])?;
    let settings = format!("{}command_signing_required = true\n", base(home));
    let loopgate = testbed.loopgate()?.binary(PROGRAM).settings(&settings)?.start().await?;
    let page = Page(loopgate.sign_in().await?);
    let document = page.create_document().await?;
    ensure!(keys(home, &["list"]).await?.contains("No browser key is authorized"));

    let key = SigningKey::from_bytes(&[7; 32]);
    let public_key = BrowserPublicKey::from(key.verifying_key().to_bytes());
    let fingerprint = public_key.fingerprint().to_string();
    // The desktop learns registered keys over the link, and stores them below `.loopgate`.
    page.0.post("/public-keys", &json!({"publicKeyBase64": public_key, "fingerprint": fingerprint})).await?;
    while !keys(home, &["list"]).await?.contains(&fingerprint) {
        changes.next().await?;
    }
    let start = async || -> Result<Value> {
        let path = format!("/documents/{document}/run-loop");
        let preview = page.0.post(&format!("{path}/preview"), &json!({"command": "plan"})).await?;
        let launch = preview["data"]["launch"].as_object().context("a preview")?;
        let mut body =
            json!({"command": "plan", "version": 1, "launch": {"digests": launch_digests(launch)}});
        let mut intent = body.clone();
        intent["documentId"] = json!(document);
        body["userIntentSignature"] = signed(&key, &intent)?;
        let started = page.0.post(&path, &body).await?;
        page.wait_for_end(&text(&started["data"]["loopId"])?).await
    };
    let refused = start().await?;
    let message = refused["error"]["message"].as_str().context("a reason")?;
    ensure!(message.contains("no keys authorized") && message.contains("loopgate keys"), "{message}");
    ensure!(testbed.model.requests().is_empty(), "no assistant was started");

    ensure!(keys(home, &["authorize", &fingerprint]).await?.contains("may sign commands"));
    let planned = start().await?;
    ensure!(planned["status"] == "COMPLETED", "{planned}");

    let removed = page.0.request(Method::DELETE, &format!("/public-keys?fingerprint={fingerprint}"));
    removed.send().await?.error_for_status()?;
    while keys(home, &["list"]).await?.contains(&fingerprint) {
        changes.next().await?;
    }
    Ok(())
}
