//! Browser sessions: random tokens, each bound to the text of one origin, in memory only.
//!
//! Only digests are held. One origin can never push out the sessions of others.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Live sessions at most.
const CAPACITY: usize = 8;

type TokenDigest = [u8; 32];

/// A new session, for its owner alone.
pub(crate) struct NewSession {
    /// 64 hex characters.
    pub(crate) token: String,
    pub(crate) expires_at: Timestamp,
}

#[derive(Debug)]
struct GatewaySession {
    digest: TokenDigest,
    origin: String,
    expires_at: Timestamp,
}

/// The sessions of this process, in order of their creation.
#[derive(Debug, Default)]
pub(crate) struct GatewaySessions(Mutex<Vec<GatewaySession>>);

impl GatewaySessions {
    /// Makes a session for exactly this origin.
    pub(crate) fn create(&self, origin: &str, life: Duration, now: Timestamp) -> NewSession {
        let token = hex::encode(rand::random::<[u8; 32]>());
        let expires_at = now.saturating_add(life).unwrap_or(Timestamp::MAX);
        let session = GatewaySession { digest: digest(&token), origin: origin.to_owned(), expires_at };
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|session| now < session.expires_at);
        while live.len() >= CAPACITY {
            let index = eviction_candidate(&live);
            live.remove(index);
        }
        live.push(session);
        NewSession { token, expires_at }
    }

    /// Whether the token is alive and belongs to exactly this origin.
    pub(crate) fn is_valid(&self, token: &str, origin: &str, now: Timestamp) -> bool {
        let given = digest(token);
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|session| now < session.expires_at);
        // Every session is compared, so that the time tells nothing about which one matched.
        live.iter().fold(false, |found, session| {
            found | (bool::from(session.digest.ct_eq(&given)) && session.origin == origin)
        })
    }
}

fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// The oldest session of the origin that holds the most; among equals, the oldest of all.
fn eviction_candidate(live: &[GatewaySession]) -> usize {
    let held = |origin: &str| live.iter().filter(|session| session.origin == origin).count();
    let most = live.iter().map(|session| held(&session.origin)).max().unwrap_or_default();
    live.iter().position(|session| held(&session.origin) == most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIFE: Duration = Duration::from_secs(600);
    const APP: &str = "https://app.example.test";

    #[test]
    fn token_is_good_for_its_origin_until_it_expires() {
        let sessions = GatewaySessions::default();
        let now = Timestamp::from_second(1_000_000).unwrap();
        let granted = sessions.create(APP, LIFE, now);
        assert_eq!(granted.token.len(), 64);
        assert!(sessions.is_valid(&granted.token, APP, now));
        assert!(!sessions.is_valid(&granted.token, "https://app.example.test:443", now));
        assert!(!sessions.is_valid("", APP, now));
        let end = now.saturating_add(LIFE).unwrap();
        assert_eq!(granted.expires_at, end);
        assert!(!sessions.is_valid(&granted.token, APP, end));
    }

    #[test]
    fn ninth_entry_drops_the_first() {
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
