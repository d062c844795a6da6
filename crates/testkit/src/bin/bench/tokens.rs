//! Measures what a plan and its execution send to the model: requests, bytes, and the part that a cache of
//! prompts can reuse.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use loopgate_testkit::model::ModelRequest;
use loopgate_testkit::story;
use loopgate_testkit::testbed::Testbed;
use serde_json::Value;

use crate::table::Table;

/// Goal for the bytes of plan and execution together.
const GOAL: usize = 2_500_000;
/// Conversations of the orchestrator, one for each loop. All others are those of its agents.
const LOOPS: [&str; 2] = [story::PLAN, story::EXECUTE];

/// Requests of one conversation.
#[derive(Default)]
struct Sent {
    requests: usize,
    bytes: usize,
    /// Bytes of the definitions of the tools.
    tools: usize,
    /// Bytes of the system prompt.
    system: usize,
    /// Bytes that equal the beginning of the previous request of the same conversation.
    repeated: usize,
    previous: String,
}

impl Sent {
    fn add(&mut self, request: &ModelRequest) {
        // In the order in which a cache of prompts compares them.
        let [tools, system, messages] = ["tools", "system", "messages"].map(|name| {
            let mut part = request.body()[name].clone();
            remove_cache_marks(&mut part);
            part.to_string()
        });
        self.requests += 1;
        self.bytes += request.body().to_string().len();
        self.tools += tools.len();
        self.system += system.len();
        let text = [tools, system, messages].concat();
        self.repeated += text.bytes().zip(self.previous.bytes()).take_while(|(a, b)| a == b).count();
        self.previous = text;
    }

    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |sum, sent| Self {
            requests: sum.requests + sent.requests,
            bytes: sum.bytes + sent.bytes,
            tools: sum.tools + sent.tools,
            system: sum.system + sent.system,
            repeated: sum.repeated + sent.repeated,
            previous: String::new(),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "printed without decimals")]
    fn row(&self) -> String {
        let share = |part: usize| 100.0 * part as f64 / self.bytes.max(1) as f64;
        format!(
            "{} requests, {} KB ({:.0} % tools, {:.0} % system prompt), {:.0} % repeated",
            self.requests,
            self.bytes / 1000,
            share(self.tools),
            share(self.system),
            share(self.repeated)
        )
    }
}

/// Removes the marks that tell the cache where a prefix ends. They move from request to request.
fn remove_cache_marks(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("cache_control");
            members.values_mut().for_each(remove_cache_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_cache_marks),
        _ => {}
    }
}

/// Runs the demo story with the pinned assistant and a scripted model.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let testbed = Testbed::story().await?;
    let mut loopgate = testbed.loopgate()?.binary(binary).start().await?;
    let session = loopgate.sign_in().await?;
    let (_, plan) = session.plan(story::REPOSITORY, story::REQUEST).await?;
    let planned = session.wait_for_end(&plan).await?;
    let document = planned["producedDocument"]["id"].as_str().context("the loop produced no plan")?;
    let start = Instant::now();
    let run = session.run(document, "execute", story::REPOSITORY).await?;
    let executed = session.wait_for_end(&run).await?;
    let execution = start.elapsed();
    ensure!(executed["status"] == "COMPLETED", "{executed:#}");

    let last_answer = testbed.model.requests().iter().map(|request| request.received_at).max();
    let last_answer = last_answer.context("the model received no request")?;
    let mut conversations: BTreeMap<String, Sent> = BTreeMap::new();
    for request in testbed.model.requests() {
        conversations.entry(request.conversation.clone().unwrap_or_default()).or_default().add(&request);
    }
    let bytes = conversations.values().map(|sent| sent.bytes).sum();
    for name in LOOPS {
        let sent = conversations.remove(name).unwrap_or_default();
        table.plain(&format!("story: orchestrator, {name}"), sent.row());
    }
    table.plain("story: agents and others", Sent::sum(conversations.into_values()).row());
    table.bytes("story: all requests", bytes, GOAL);
    table.time("story: execution, to the pull request", execution, Duration::from_secs(60));
    table.time("story: last answer to COMPLETED", delivery(last_answer, &executed)?, Duration::from_secs(5));
    loopgate.stop().await?;
    Ok(())
}

/// Returns the time from the last answer of the model to the end of a loop, as the control plane recorded it: tests,
/// commit, push and pull request.
fn delivery(last_answer: SystemTime, executed: &Value) -> anyhow::Result<Duration> {
    let completed: jiff::Timestamp = executed["completedAt"].as_str().context("no end")?.parse()?;
    Ok(SystemTime::from(completed).duration_since(last_answer)?)
}
