//! Browser sessions: random tokens, each bound to the exact text of one origin. In memory only.
//!
//! Only digests of tokens are stored. An origin cannot evict the sessions of other origins.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Maximum number of live sessions.
const CAPACITY: usize = 8;

type TokenDigest = [u8; 32];

/// A created session. The token is not stored and cannot be retrieved later.
pub(crate) struct NewSession {
    /// Token of 64 hex characters.
    pub(crate) token: String,
    pub(crate) expires_at: Timestamp,
}

#[derive(Debug)]
struct GatewaySession {
    digest: TokenDigest,
    origin: String,
    expires_at: Timestamp,
}

/// Live sessions of this process, ordered by creation.
#[derive(Debug, Default)]
pub(crate) struct GatewaySessions(Mutex<Vec<GatewaySession>>);

impl GatewaySessions {
    /// Creates a session for exactly this origin. At capacity, evicts the oldest session of the origin that
    /// has the most.
    pub(crate) fn create(&self, origin: &str, life: Duration, now: Timestamp) -> NewSession {
        let token = hex::encode(rand::random::<[u8; 32]>());
        let expires_at = now.saturating_add(life).unwrap_or(Timestamp::MAX);
        let session = GatewaySession { digest: digest(&token), origin: origin.to_owned(), expires_at };
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Expired sessions are removed on access instead of by a background task.
        live.retain(|session| now < session.expires_at);
        while live.len() >= CAPACITY {
            let index = eviction_candidate(&live);
            live.remove(index);
        }
        live.push(session);
        NewSession { token, expires_at }
    }

    /// Whether the token belongs to a live session of exactly this origin.
    pub(crate) fn is_valid(&self, token: &str, origin: &str, now: Timestamp) -> bool {
        let presented = digest(token);
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|session| now < session.expires_at);
        // Compares all sessions, so that the time does not reveal which one matched.
        live.iter().fold(false, |matched, session| {
            matched | (bool::from(session.digest.ct_eq(&presented)) && session.origin == origin)
        })
    }
}

fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// Returns the index of the oldest session of the origin that has the most sessions; on a tie, the oldest of
/// all.
fn eviction_candidate(live: &[GatewaySession]) -> usize {
    let count = |origin: &str| live.iter().filter(|session| session.origin == origin).count();
    let most = live.iter().map(|session| count(&session.origin)).max().unwrap_or_default();
    live.iter().position(|session| count(&session.origin) == most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIFE: Duration = Duration::from_secs(600);
    const APP: &str = "https://app.example.test";

    #[test]
    fn token_is_valid_for_its_origin_until_it_expires() {
        let sessions = GatewaySessions::default();
        let now = Timestamp::from_second(1_000_000).unwrap();
        let session = sessions.create(APP, LIFE, now);
        assert_eq!(session.token.len(), 64);
        assert!(sessions.is_valid(&session.token, APP, now));
        assert!(!sessions.is_valid(&session.token, "https://app.example.test:443", now));
        assert!(!sessions.is_valid("", APP, now));
        let end = now.saturating_add(LIFE).unwrap();
        assert_eq!(session.expires_at, end);
        assert!(!sessions.is_valid(&session.token, APP, end));
    }

    #[test]
    fn ninth_session_evicts_the_oldest() {
        let sessions = GatewaySessions::default();
        let now = Timestamp::now();
        let tokens: Vec<String> = (0..9).map(|_| sessions.create(APP, LIFE, now).token).collect();
        assert!(!sessions.is_valid(&tokens[0], APP, now));
        assert!(tokens[1..].iter().all(|token| sessions.is_valid(token, APP, now)));
    }

    proptest! {
        #[test]
        fn sessions_of_one_origin_evict_none_of_another(greedy in 1usize..40) {
            let sessions = GatewaySessions::default();
            let now = Timestamp::now();
            let mine: Vec<String> = (0..2).map(|_| sessions.create(APP, LIFE, now).token).collect();
            for _ in 0..greedy {
                sessions.create("http://localhost:1", LIFE, now);
            }
            prop_assert!(mine.iter().all(|token| sessions.is_valid(token, APP, now)));
        }
    }
}
