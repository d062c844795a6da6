//! Whether the assistant and the reviewer reach the MCP server that a page expects.
//!
//! Asking the two programs can take half a minute, so a caller waits only a moment; the detection
//! goes on, and the next caller finds its result.

mod detect;
mod listing;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::time::now_iso;
use loopgate_home::Program;
use serde::Serialize;
use url::Url;
use utoipa::ToSchema;

use crate::app::App;

/// Life of a result.
const RESULT_LIFE: Duration = Duration::from_secs(60);
/// Life of a server's name.
const NAME_LIFE: Duration = Duration::from_hours(24);
/// Results kept; callers choose the URLs.
const MOST_RESULTS: usize = 32;

/// Whether a provider reaches the expected MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct McpRecord {
    available: bool,
    /// Name that the provider gives the server.
    #[schema(required)]
    server_name: Option<String>,
    /// The URL as the provider has it.
    #[schema(required)]
    matched_url: Option<String>,
    /// ISO 8601.
    checked_at: String,
    /// Why nothing is known, or why the server does not count.
    #[schema(required)]
    error: Option<String>,
    /// Repeats `available` for old clients.
    loopgate_available: bool,
}

impl McpRecord {
    fn new(available: bool, server: Option<(String, String)>, error: Option<&str>) -> Self {
        let (server_name, matched_url) = server.unzip();
        Self {
            available,
            server_name,
            matched_url,
            checked_at: now_iso(),
            error: error.map(ToOwned::to_owned),
            loopgate_available: available,
        }
    }

    /// Name that the provider gives the server.
    pub(crate) fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// Nothing is known.
    pub(crate) fn negative() -> Self {
        Self::new(false, None, None)
    }
}

/// Who may know an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Provider {
    Assistant,
    Reviewer,
}

impl Provider {
    const fn program(self) -> Program {
        match self {
            Self::Assistant => Program::Assistant,
            Self::Reviewer => Program::Reviewer,
        }
    }
}

/// A provider and the normal form of a URL.
type Key = (Provider, String);
type Detection = Shared<BoxFuture<'static, Detected>>;

/// A result and when it came.
#[derive(Debug, Clone)]
struct Detected {
    record: McpRecord,
    at: Instant,
}

#[derive(Default)]
struct State {
    detections: HashMap<Key, (Instant, Detection)>,
    names: HashMap<Key, (Instant, String)>,
}

/// What was detected lately, and what is being detected.
#[derive(Default)]
pub(crate) struct Detector(Mutex<State>);

impl Detector {
    /// What is known after waiting a moment. Without a URL, or with one that is none, nothing is
    /// started.
    pub(crate) async fn look(&self, app: &App, provider: Provider, expected: Option<&str>) -> McpRecord {
        let Some(expected) = expected else { return self.known(provider, None) };
        let Some(url) = normal_form(expected) else { return McpRecord::negative() };
        let detection = self.begin(app, (provider, url), expected);
        let detected = tokio::time::timeout(app.limits.probe_timeout, detection).await;
        detected.map_or_else(|_| McpRecord::negative(), |detected| detected.record)
    }

    /// What is known already, of one server or of the one that was looked for last. Starts nothing.
    pub(crate) fn known(&self, provider: Provider, expected: Option<&str>) -> McpRecord {
        let url = expected.map(normal_form);
        let state = self.state();
        let wanted =
            |of: &Key| of.0 == provider && url.as_ref().is_none_or(|url| url.as_ref() == Some(&of.1));
        let results = state.detections.iter().filter(|(of, _)| wanted(of));
        let fresh =
            results.filter(|(_, (_, detection))| is_good(detection)).filter_map(|(_, (_, d))| d.peek());
        let latest = fresh.max_by_key(|detected| detected.at);
        latest.map_or_else(McpRecord::negative, |detected| detected.record.clone())
    }

    /// Forgets everything, for example because another program is meant now.
    pub(crate) fn forget(&self) {
        *self.state() = State::default();
    }

    fn begin(&self, app: &App, key: Key, expected: &str) -> Detection {
        let mut state = self.state();
        if let Some((_, detection)) = state.detections.get(&key).filter(|(_, detection)| is_good(detection)) {
            return detection.clone();
        }
        state.detections.retain(|_, (_, detection)| is_good(detection));
        if state.detections.len() >= MOST_RESULTS {
            let oldest = state.detections.iter().min_by_key(|(_, (began, _))| *began);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                state.detections.remove(&oldest);
            }
        }
        let name = state.names.get(&key).filter(|(at, _)| at.elapsed() < NAME_LIFE);
        let name = name.map(|(_, name)| name.clone());
        let (app, own, expected) = (app.clone(), key.clone(), expected.to_owned());
        // Runs on, whoever of its callers goes away: its end is bounded.
        let task = tokio::spawn(async move {
            let found = detect::detect(&app, own.0, &own.1, &expected, name).await;
            if let Some(name) = found.name {
                app.mcp.state().names.insert(own, (Instant::now(), name));
            }
            Detected { record: found.record, at: Instant::now() }
        });
        let detection = async move {
            let lost = |_| Detected { record: McpRecord::negative(), at: Instant::now() };
            task.await.unwrap_or_else(lost)
        };
        let detection = detection.boxed().shared();
        state.detections.insert(key, (Instant::now(), detection.clone()));
        detection
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it still runs, or its result is fresh.
fn is_good(detection: &Detection) -> bool {
    detection.peek().is_none_or(|detected| detected.at.elapsed() < RESULT_LIFE)
}

/// A URL without its fragment and the slashes at the end of its path, by which two are compared.
fn normal_form(text: &str) -> Option<String> {
    let mut url = Url::parse(text).ok()?;
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    if !url.cannot_be_a_base() {
        url.set_path(&path);
    }
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_compared_without_what_does_not_matter() {
        let same = |a, b| normal_form(a).is_some_and(|a| Some(a) == normal_form(b));
        assert!(same("https://mcp.example.test/mcp", "https://mcp.example.test/mcp///#x"));
        assert!(same("https://mcp.example.test", "https://MCP.example.test/"));
        assert!(!same("https://mcp.example.test/mcp?a=1", "https://mcp.example.test/mcp"));
        assert_eq!(normal_form("no url"), None);
    }
}
