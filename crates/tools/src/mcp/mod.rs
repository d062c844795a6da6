//! Whether the assistant and the reviewer know the MCP server that somebody expects.
//!
//! Asking the two programs can take half a minute, so a caller waits only a moment; the detection
//! goes on, and the next caller finds its result.

mod detect;
mod listing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use loopgate_api::mcp::McpRecord;
use loopgate_home::{Program, Sandbox};
use url::Url;

use crate::programs::Programs;

/// Life of a result.
const RESULT_LIFE: Duration = Duration::from_secs(60);
/// Life of a server's name.
const NAME_LIFE: Duration = Duration::from_hours(24);
/// Results kept; callers choose the URLs.
const MAX_RESULTS: usize = 32;

/// Who may know an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum McpHost {
    /// The assistant.
    Assistant,
    /// The reviewer.
    Reviewer,
}

impl McpHost {
    const fn program(self) -> Program {
        match self {
            Self::Assistant => Program::Assistant,
            Self::Reviewer => Program::Reviewer,
        }
    }
}

/// A provider and the normal form of a URL.
type Key = (McpHost, String);
type PendingDetection = Shared<BoxFuture<'static, CachedRecord>>;

/// A result and when it came.
#[derive(Debug, Clone)]
struct CachedRecord {
    record: McpRecord,
    at: Instant,
}

#[derive(Default)]
struct DetectorState {
    detections: HashMap<Key, (Instant, PendingDetection)>,
    names: HashMap<Key, (Instant, String)>,
}

/// What was detected lately, and what is being detected. Clones share it.
#[derive(Clone)]
pub struct Detector(Arc<Inner>);

struct Inner {
    programs: Arc<Programs>,
    /// The programs are asked in its base directory.
    sandbox: Arc<Sandbox>,
    state: Mutex<DetectorState>,
}

impl Detector {
    /// A detector that knows nothing yet.
    #[must_use]
    pub fn new(programs: Arc<Programs>, sandbox: Arc<Sandbox>) -> Self {
        Self(Arc::new(Inner { programs, sandbox, state: Mutex::default() }))
    }

    /// Looks for a server without waiting for what is found.
    pub fn expect(&self, provider: McpHost, expected: &str) {
        if let Some(url) = normal_form(expected) {
            drop(self.start_detection((provider, url), expected));
        }
    }

    /// What is known after waiting for no longer than `patience`. Without a URL, or with one that is
    /// none, nothing is started.
    pub async fn look(&self, provider: McpHost, expected: Option<&str>, patience: Duration) -> McpRecord {
        let Some(expected) = expected else { return self.known(provider, None) };
        let Some(url) = normal_form(expected) else { return McpRecord::negative() };
        let detection = self.start_detection((provider, url), expected);
        let detected = tokio::time::timeout(patience, detection).await;
        detected.map_or_else(|_| McpRecord::negative(), |detected| detected.record)
    }

    /// What is known already, of one server or of the one that was looked for last. Starts nothing.
    #[must_use]
    pub fn known(&self, provider: McpHost, expected: Option<&str>) -> McpRecord {
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
    pub fn forget(&self) {
        *self.state() = DetectorState::default();
    }

    fn start_detection(&self, key: Key, expected: &str) -> PendingDetection {
        let mut state = self.state();
        if let Some((_, detection)) = state.detections.get(&key).filter(|(_, detection)| is_good(detection)) {
            return detection.clone();
        }
        state.detections.retain(|_, (_, detection)| is_good(detection));
        if state.detections.len() >= MAX_RESULTS {
            let oldest = state.detections.iter().min_by_key(|(_, (began, _))| *began);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                state.detections.remove(&oldest);
            }
        }
        let name = state.names.get(&key).filter(|(at, _)| at.elapsed() < NAME_LIFE);
        let name = name.map(|(_, name)| name.clone());
        let (this, own, expected) = (self.clone(), key.clone(), expected.to_owned());
        // Runs on, whoever of its callers goes away: its end is bounded.
        let task = tokio::spawn(async move {
            let found = detect::detect(&this.0, own.0, &own.1, &expected, name).await;
            if let Some(name) = found.name {
                this.state().names.insert(own, (Instant::now(), name));
            }
            CachedRecord { record: found.record, at: Instant::now() }
        });
        let detection = async move {
            let lost = |_| CachedRecord { record: McpRecord::negative(), at: Instant::now() };
            task.await.unwrap_or_else(lost)
        };
        let detection = detection.boxed().shared();
        state.detections.insert(key, (Instant::now(), detection.clone()));
        detection
    }

    fn state(&self) -> MutexGuard<'_, DetectorState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it still runs, or its result is fresh. Takes up a result that nobody waited for.
fn is_good(detection: &PendingDetection) -> bool {
    detection.clone().now_or_never().is_none_or(|detected| detected.at.elapsed() < RESULT_LIFE)
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
