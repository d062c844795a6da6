//! Detection of an expected MCP server in the configuration of the assistant and the reviewer.
//!
//! A detection can take half a minute, so callers wait with a short timeout. The detection continues in the
//! background, and a later call returns its result.

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

/// How long a result is cached. Users configure a server in a terminal and then return to the page.
const RESULT_TTL: Duration = Duration::from_secs(60);
/// How long a server's name is cached. A stale name is harmless: the server's URL is verified.
const NAME_TTL: Duration = Duration::from_hours(24);
/// Maximum number of cached results. Callers choose the URLs, so their number is otherwise unbounded.
const MAX_RESULTS: usize = 32;

/// A program that can be configured with MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum McpHost {
    /// The AI coding program (`claude`).
    Assistant,
    /// The AI program for reviews (`codex`).
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

/// Program and URL in normal form.
type Key = (McpHost, String);
type PendingDetection = Shared<BoxFuture<'static, CachedRecord>>;

/// A result and the time of its detection.
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

/// A cache of recent and running detections. Clones share it.
#[derive(Clone)]
pub struct Detector(Arc<DetectorInner>);

struct DetectorInner {
    programs: Arc<Programs>,
    /// Its base directory is the working directory of the programs.
    sandbox: Arc<Sandbox>,
    state: Mutex<DetectorState>,
}

impl Detector {
    /// Creates a detector without cached results.
    #[must_use]
    pub fn new(programs: Arc<Programs>, sandbox: Arc<Sandbox>) -> Self {
        Self(Arc::new(DetectorInner { programs, sandbox, state: Mutex::default() }))
    }

    /// Starts a detection in the background.
    pub fn start(&self, provider: McpHost, expected: &str) {
        if let Some(url) = normal_form(expected) {
            drop(self.start_detection((provider, url), expected));
        }
    }

    /// Returns the result of a detection, or a negative one when it takes longer than `patience`. Without a
    /// URL, returns the latest cached result; with an invalid URL, a negative one.
    pub async fn detect(&self, provider: McpHost, expected: Option<&str>, patience: Duration) -> McpRecord {
        let Some(expected) = expected else { return self.cached(provider, None) };
        let Some(url) = normal_form(expected) else { return McpRecord::negative() };
        let detection = self.start_detection((provider, url), expected);
        let detected = tokio::time::timeout(patience, detection).await;
        detected.map_or_else(|_| McpRecord::negative(), |detected| detected.record)
    }

    /// Returns the cached result for a URL, or the latest one without a URL. Never starts a detection.
    #[must_use]
    pub fn cached(&self, provider: McpHost, expected: Option<&str>) -> McpRecord {
        let url = expected.map(normal_form);
        let state = self.state();
        let is_match =
            |of: &Key| of.0 == provider && url.as_ref().is_none_or(|url| url.as_ref() == Some(&of.1));
        let results = state.detections.iter().filter(|(of, _)| is_match(of));
        let fresh = results
            .filter(|(_, (_, detection))| is_running_or_fresh(detection))
            .filter_map(|(_, (_, d))| d.peek());
        let latest = fresh.max_by_key(|detected| detected.at);
        latest.map_or_else(McpRecord::negative, |detected| detected.record.clone())
    }

    /// Discards all results, for example after the path of a program was changed.
    pub fn clear(&self) {
        *self.state() = DetectorState::default();
    }

    fn start_detection(&self, key: Key, expected: &str) -> PendingDetection {
        let mut state = self.state();
        if let Some((_, detection)) =
            state.detections.get(&key).filter(|(_, detection)| is_running_or_fresh(detection))
        {
            return detection.clone();
        }
        state.detections.retain(|_, (_, detection)| is_running_or_fresh(detection));
        if state.detections.len() >= MAX_RESULTS {
            let oldest = state.detections.iter().min_by_key(|(_, (began, _))| *began);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                state.detections.remove(&oldest);
            }
        }
        let name = state.names.get(&key).filter(|(at, _)| at.elapsed() < NAME_TTL);
        let name = name.map(|(_, name)| name.clone());
        let (this, own, expected) = (self.clone(), key.clone(), expected.to_owned());
        // Spawned, so that the detection completes for later callers when this one stops waiting. Its
        // timeouts bound it.
        let task = tokio::spawn(async move {
            let detected = detect::detect(&this.0, own.0, &own.1, &expected, name).await;
            if let Some(name) = detected.name {
                this.state().names.insert(own, (Instant::now(), name));
            }
            CachedRecord { record: detected.record, at: Instant::now() }
        });
        let detection = async move {
            let panicked = |_| CachedRecord { record: McpRecord::negative(), at: Instant::now() };
            task.await.unwrap_or_else(panicked)
        };
        let detection = detection.boxed().shared();
        state.detections.insert(key, (Instant::now(), detection.clone()));
        detection
    }

    fn state(&self) -> MutexGuard<'_, DetectorState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a detection is running or its result is fresh. Polls it once, because a shared future that
/// is never polled does not complete.
fn is_running_or_fresh(detection: &PendingDetection) -> bool {
    detection.clone().now_or_never().is_none_or(|detected| detected.at.elapsed() < RESULT_TTL)
}

/// Normalizes a URL for comparison: without its fragment and the trailing slashes of its path.
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
    fn urls_are_compared_without_fragment_and_trailing_slashes() {
        let same = |a, b| normal_form(a).is_some_and(|a| Some(a) == normal_form(b));
        assert!(same("https://mcp.example.test/mcp", "https://mcp.example.test/mcp///#x"));
        assert!(same("https://mcp.example.test", "https://MCP.example.test/"));
        assert!(!same("https://mcp.example.test/mcp?a=1", "https://mcp.example.test/mcp"));
        assert_eq!(normal_form("no url"), None);
    }
}
