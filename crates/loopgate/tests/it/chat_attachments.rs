//! Files that a user attaches to a message, in every kind of chat.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::home::UserHome;
use loopgate_testkit::model::{Conversation, ModelServer, ModelStep, Script};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::files::form::{TestPart, content_type, form};
use crate::origin_checks::percent_encode;
use crate::test_gateway::{TestGateway, write};

/// Stand-in for the assistant: appends its arguments and its prompt to files, and answers.
const ASSISTANT: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/args"; cat >> "$HOME/prompt"
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"I see."}]}}'
"#;
const REVIEWER: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/args"; cat >> "$HOME/prompt"
echo '{"type":"item.completed","item":{"type":"agent_message","text":"I see."}}'
"#;
/// A PNG image of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

struct Chats {
    local: TestGateway,
    repo: PathBuf,
    image: PathBuf,
    notes: PathBuf,
}

impl Chats {
    /// Uploads an image to a ticket and writes a file into its repository.
    async fn new(local: TestGateway) -> Result<Self> {
        let repo = local.repository("shop", &[("notes.txt", "The port is 4000.\n")])?;
        let repo = repo.canonicalize()?;
        std::fs::create_dir(local.at("shop-SHOP-7"))?;
        let upload = format!(
            "/api/gateway/orchestrator/upload/SHOP-7?repo={}",
            percent_encode(&repo.to_string_lossy())
        );
        let request = local.loopgate.gateway(Method::POST, &upload).header(CONTENT_TYPE, content_type());
        let sent = request.body(form(&[TestPart(Some("shot.png"), "image/png", PNG)])).send().await?;
        let uploaded: Value = sent.json().await?;
        let image = uploaded["files"][0]["path"].as_str().with_context(|| uploaded.to_string())?;
        Ok(Self { image: PathBuf::from(image).canonicalize()?, notes: repo.join("notes.txt"), repo, local })
    }

    /// Returns every kind of chat: its route, a message without attachments, and the route of its history.
    fn kinds(&self) -> Vec<(String, Value, Option<String>)> {
        let repo = percent_encode(&self.repo.to_string_lossy());
        let about = |route: &str| format!("{route}?ticketId=SHOP-7&repo={repo}");
        let with_history = |route: String, body: Value| (route.clone(), body, Some(route));
        let message = json!({"message": "What is this?"});
        let ticket = json!({"identifier": "SHOP-7", "title": "t", "url": "https://tickets.test/7"});
        vec![
            (
                "orchestrator/chat/SHOP-7".to_owned(),
                json!({"message": "What is this?", "repoPath": self.repo}),
                Some(format!("orchestrator/chat-history/SHOP-7?repo={repo}")),
            ),
            with_history(about("orchestrator/comment-chat/c1"), message.clone()),
            with_history(about("reviewer/finding-chat/finding-0"), message.clone()),
            with_history("terminal-chat".to_owned(), message.clone()),
            with_history("run-viewer-chat".to_owned(), message),
            (
                "ticket-chat".to_owned(),
                json!({"ticketId": "SHOP-7", "message": "What is this?", "ticketContext": ticket}),
                Some("ticket-chat?ticketId=SHOP-7".to_owned()),
            ),
            (
                "reviewer/chat/SHOP-7".to_owned(),
                json!({"prompt": "What is this?", "repoPath": self.repo}),
                None,
            ),
        ]
    }

    async fn send(&self, route: &str, body: &Value) -> Result<String> {
        let request = self.local.loopgate.gateway(Method::POST, &format!("/api/gateway/{route}"));
        let answer = request.json(body).send().await?;
        ensure!(answer.status() == 200, "{route}: {}", answer.text().await?);
        Ok(answer.text().await?)
    }

    fn home_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.local.home.path().join(name)).unwrap_or_default()
    }
}

fn with(body: &Value, attachments: Value) -> Value {
    let mut body = body.clone();
    body["attachments"] = attachments;
    body
}

#[tokio::test]
async fn every_chat_passes_attachments_to_the_provider_and_stores_them() -> Result<()> {
    let chats = Chats::new(TestGateway::new().await?).await?;
    chats.local.home.script("claude", ASSISTANT)?;
    chats.local.home.script("codex", REVIEWER)?;
    for (route, body, history) in chats.kinds() {
        write(&chats.local.home.path().join("prompt"), "")?;
        chats.send(&route, &with(&body, json!([chats.image, chats.notes]))).await?;
        let prompt = chats.home_file("prompt");
        let files = format!("- {}\n- {}\n", chats.image.display(), chats.notes.display());
        ensure!(prompt.contains(&files) && prompt.ends_with("What is this?"), "{route}: {prompt}");
        if let Some(history) = history {
            let messages = chats.local.send(Method::GET, &history, "").await?.ok()?["messages"].take();
            ensure!(messages[0]["attachments"] == json!([chats.image, chats.notes]), "{route}: {messages}");
            ensure!(messages[0]["content"] == "What is this?", "{route}: {messages}");
            ensure!(messages[1]["attachments"].is_null(), "{route}: {messages}");
        }
    }
    let image = format!("--image {}", chats.image.display());
    ensure!(chats.home_file("args").contains(&image) && !chats.home_file("args").contains("notes.txt"));
    Ok(())
}

#[tokio::test]
async fn every_chat_refuses_invalid_attachments() -> Result<()> {
    let chats = Chats::new(TestGateway::new().await?).await?;
    chats.local.home.script("claude", ASSISTANT)?;
    chats.local.home.script("codex", REVIEWER)?;
    let (missing, large, link) = (chats.local.at("missing"), chats.local.at("large"), chats.local.at("link"));
    // One byte above the limit of 10 MB. The file is sparse.
    std::fs::File::create(&large)?.set_len(10 * 1024 * 1024 + 1)?;
    std::os::unix::fs::symlink("/etc/hostname", &link)?;
    let no_file = |path: &Path| format!("attachment is not a readable file: {}", path.display());
    let too_large = format!("attachment is too large: {} (10485761 bytes). Max 10MB.", large.display());
    let many = vec![chats.notes.clone(); 11];
    let no_list = "attachments must be a list of paths";
    for (route, body, history) in chats.kinds() {
        for (attachments, error) in [
            (json!("notes.txt"), no_list.to_owned()),
            (json!([7]), no_list.to_owned()),
            (json!(many), "Too many attachments: 11. Max 10.".to_owned()),
            (json!([missing]), no_file(&missing)),
            (json!([chats.repo]), no_file(&chats.repo)),
            (json!([chats.notes, large]), too_large.clone()),
        ] {
            let answer = chats.local.post(&route, with(&body, attachments)).await?;
            answer.refused(400, &error, "invalid_request")?;
        }
        for outside in [json!(["/etc/hostname"]), json!([link]), json!(["notes.txt"])] {
            let answer = chats.local.post(&route, with(&body, outside)).await?;
            answer.refused(403, "directory not allowed", "directory_not_allowed")?;
        }
        if let Some(history) = history {
            let messages = chats.local.send(Method::GET, &history, "").await?.ok()?["messages"].take();
            ensure!(messages == json!([]), "{route}: {messages}");
        }
    }
    ensure!(chats.home_file("args").is_empty(), "a provider was started");
    Ok(())
}

// The real assistant reads the attachments, although the tools of this chat read no other files; the real
// reviewer receives the image.
#[tokio::test]
async fn real_providers_receive_attachments() -> Result<()> {
    let mut home = UserHome::temporary()?;
    let model = ModelServer::start(Script::default()).await?;
    home.reach_model(&model)?;
    let chats = Chats::new(TestGateway::in_home(home, |setup| setup).await?).await?;
    let read = |path: &Path| ModelStep::tool("Read", json!({"file_path": path}));
    model.play(Script::new([
        Conversation::when("assistant", "Which port")
            .turn([read(&chats.notes)])
            .turn([read(&chats.image)])
            .says("4000."),
        Conversation::when("reviewer", "Is that right").says("It is."),
    ]))?;
    let attachments = json!([chats.notes, chats.image]);
    let ticket = json!({"identifier": "SHOP-7", "title": "t", "url": "https://tickets.test/7"});
    let body = json!({"ticketId": "SHOP-7", "message": "Which port?", "ticketContext": ticket});
    chats.send("ticket-chat", &with(&body, attachments.clone())).await?;
    let requests = model.requests_of("assistant");
    let last = requests.last().context("a request of the assistant")?;
    ensure!(last.tool_results().contains("The port is 4000."), "{}", last.tool_results());
    ensure!(last.body().to_string().contains("image/png"), "{}", last.body());

    chats
        .send("terminal-chat", &json!({"message": "@reviewer Is that right?", "attachments": attachments}))
        .await?;
    let requests = model.requests_of("reviewer");
    let first = requests.first().context("a request of the reviewer")?;
    ensure!(first.body().to_string().contains("data:image/png"), "{}", first.body());
    Ok(())
}
