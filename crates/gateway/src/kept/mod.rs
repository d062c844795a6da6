//! Answers that are kept ready for as long as nothing changes that they were made from.
//!
//! An answer names its sources; it is kept when each of them is watched and it came out again with
//! the same ones after that. On Linux the kernel queues a change before the call that made it
//! returns, and an answer is given only when the queue is empty, so that no answer is older than its
//! question. Elsewhere nothing is kept. Other machines' changes to a shared file system are not
//! told; no answer is kept for longer than [`LIFE`].

mod sources;
mod watched;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use loopgate_home::Settings;
use serde::Serialize;

pub(crate) use self::sources::Sources;
use self::watched::Watched;
use crate::answer::Failure;

/// How long an answer is kept at most.
const LIFE: Duration = Duration::from_secs(5);
/// Answers that are kept at once, and bytes of one.
const MOST_ANSWERS: usize = 64;
const MOST_BYTES: usize = 64 * 1024;

/// What tells answers apart; no other one ever has the same.
type Number = u64;

/// What changed since the last look.
#[derive(Debug, PartialEq, Eq)]
enum Changes {
    /// Sources of these answers, each named at least once.
    Of(Vec<Number>),
    /// Nothing that was kept can be relied on.
    Everything,
}

/// Ready answers by their questions. Cheap to ask.
pub(crate) struct KeptAnswers {
    kept: RwLock<Kept>,
    /// The questions of which an answer is being made.
    making: Mutex<HashMap<String, Arc<Making>>>,
    /// Counts questions and beginnings of answers, to tell which came first.
    order: AtomicU64,
}

/// Whoever makes an answer holds it; the others wait for what comes of it.
type Making = tokio::sync::Mutex<Option<Made>>;

/// An answer that was just made.
struct Made {
    began: u64,
    settings: Arc<Settings>,
    answer: Result<Bytes, Failure>,
}

#[derive(Default)]
struct Kept {
    answers: HashMap<String, Answer>,
    /// Made with the first answer that may be kept.
    watches: Option<Watched>,
    numbers: Number,
}

struct Answer {
    number: Number,
    made: Instant,
    /// Settings decide about every path.
    settings: Arc<Settings>,
    /// Absent while it is being made.
    json: Option<Bytes>,
}

impl KeptAnswers {
    pub(crate) fn new() -> Self {
        Self { kept: RwLock::default(), making: Mutex::default(), order: AtomicU64::new(0) }
    }

    /// The answer to a question: the one that is at hand and still right, else the one that `make`
    /// makes. Of those who ask the same at the same time one makes it for all.
    pub(crate) async fn answer<F>(
        &self,
        question: &str,
        settings: &Arc<Settings>,
        make: impl FnOnce() -> F,
    ) -> Result<Response, Failure>
    where
        F: Future<Output = Result<Bytes, Failure>>,
    {
        if let Some(ready) = self.get(question, settings) {
            return Ok(reply(ready));
        }
        let came = self.order.fetch_add(1, Ordering::Relaxed);
        let making = self.making(question);
        let mut last = making.lock().await;
        if let Some(ready) = self.get(question, settings) {
            return Ok(reply(ready));
        }
        let good = |made: &&Made| made.began > came && Arc::ptr_eq(&made.settings, settings);
        if let Some(made) = last.as_ref().filter(good) {
            return made.answer.clone().map(reply);
        }
        let began = self.order.fetch_add(1, Ordering::Relaxed);
        let answer = make().await;
        *last = Some(Made { began, settings: settings.clone(), answer: answer.clone() });
        answer.map(reply)
    }

    fn making(&self, question: &str) -> Arc<Making> {
        let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody holds any more.
        making.retain(|_, other| Arc::strong_count(other) > 1);
        making.entry(question.to_owned()).or_default().clone()
    }

    /// The answer to a question, when it is at hand and still right.
    pub(crate) fn get(&self, question: &str, settings: &Arc<Settings>) -> Option<Bytes> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let ready = kept.ready(question, settings)?;
        if kept.watches.as_ref().is_none_or(Watched::are_silent) {
            // Many may look at the same time; it is only the changes that one has to heed for all.
            return Some(ready);
        }
        drop(kept);
        let mut kept = self.lock();
        kept.heed_changes();
        kept.ready(question, settings)
    }

    /// Makes an answer, and keeps it when it may be kept. Blocks on the disk.
    pub(crate) fn make<T: Serialize, E>(
        &self,
        question: String,
        settings: Arc<Settings>,
        make: impl Fn(&mut Sources) -> Result<T, E>,
    ) -> Result<Bytes, E> {
        let mut sources = Sources::default();
        let answer = make(&mut sources)?;
        let Some(number) = self.begin(&question, settings, &sources) else {
            return Ok(json_of(&answer));
        };
        // Once more, now that nothing can change unseen.
        let mut again = Sources::default();
        let made = make(&mut again).map(|answer| json_of(&answer));
        let ready = made.as_ref().ok().filter(|json| again == sources && json.len() <= MOST_BYTES);
        self.lock().finish(&question, number, ready.cloned());
        made
    }

    /// Watches the sources of an answer; `None` when it cannot be kept.
    fn begin(&self, question: &str, settings: Arc<Settings>, sources: &Sources) -> Option<Number> {
        let mut kept = self.lock();
        kept.heed_changes();
        kept.forget(question);
        if kept.answers.len() >= MOST_ANSWERS {
            kept.forget_oldest();
        }
        kept.numbers += 1;
        let number = kept.numbers;
        let watched = sources.watched()?;
        if kept.watches.is_none() {
            kept.watches = Watched::new();
        }
        let watches = kept.watches.as_mut()?;
        if !watched.iter().all(|(directory, interest)| watches.add(directory, interest, number)) {
            watches.remove(number);
            return None;
        }
        let answer = Answer { number, made: Instant::now(), settings, json: None };
        kept.answers.insert(question.to_owned(), answer);
        Some(number)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn ready(&self, question: &str, settings: &Arc<Settings>) -> Option<Bytes> {
        let answer = self.answers.get(question)?;
        let right = Arc::ptr_eq(&answer.settings, settings) && answer.made.elapsed() < LIFE;
        right.then(|| answer.json.clone()).flatten()
    }

    /// Forgets the answers whose sources have changed.
    fn heed_changes(&mut self) {
        let Some(watches) = &mut self.watches else { return };
        match watches.changes() {
            Changes::Everything => {
                self.answers.clear();
                self.watches = None;
            }
            Changes::Of(numbers) => {
                for number in numbers {
                    watches.remove(number);
                    self.answers.retain(|_, answer| answer.number != number);
                }
            }
        }
    }

    /// Completes an answer, unless a source has changed since it was begun.
    fn finish(&mut self, question: &str, number: Number, json: Option<Bytes>) {
        self.heed_changes();
        match (self.answers.get_mut(question).filter(|answer| answer.number == number), json) {
            (Some(answer), Some(json)) => answer.json = Some(json),
            (Some(_), None) => self.forget(question),
            (None, _) => {}
        }
    }

    fn forget(&mut self, question: &str) {
        if let (Some(answer), Some(watches)) = (self.answers.remove(question), &mut self.watches) {
            watches.remove(answer.number);
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.answers.iter().min_by_key(|(_, answer)| answer.made);
        if let Some(question) = oldest.map(|(question, _)| question.clone()) {
            self.forget(&question);
        }
    }
}

fn json_of(answer: &impl Serialize) -> Bytes {
    serde_json::to_vec(answer).unwrap_or_default().into()
}

fn reply(json: Bytes) -> Response {
    crate::answer::json(json).map(Body::new)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
