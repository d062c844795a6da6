//! Token buckets per origin: a page that guesses credentials is throttled without affecting other pages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limit of buckets, which bounds memory. Further origins share a single bucket.
const MAX_BUCKETS: usize = 64;
const SHARED: &str = "";

/// Size of a bucket in tokens and its refill rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) burst: f64,
    pub(crate) per_second: f64,
}

impl Rate {
    /// Exchanges. Low, because each may cause a request to the control plane.
    pub(crate) const EXCHANGE: Self = Self { burst: 60.0, per_second: 2.0 };
    /// Refused credentials. High enough for a page that sends many requests at once when it loads.
    pub(crate) const REFUSED: Self = Self { burst: 500.0, per_second: 50.0 };
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    updated_at: Instant,
}

/// The buckets of one [`Rate`].
#[derive(Debug)]
pub(crate) struct RateLimiter {
    rate: Rate,
    buckets: Mutex<HashMap<Box<str>, Bucket>>,
}

impl RateLimiter {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes a token from the caller's bucket.
    ///
    /// # Errors
    /// Fails with the time until the next token when the bucket is empty.
    pub(crate) fn take(&self, caller: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS {
            // A full bucket carries no state, so it can be dropped and recreated.
            buckets.retain(|_, bucket| self.refilled(bucket, now) < self.rate.burst);
        }
        let has_bucket = buckets.contains_key(caller) || buckets.len() < MAX_BUCKETS;
        let key = if has_bucket { caller } else { SHARED };
        let bucket =
            buckets.entry(key.into()).or_insert_with(|| Bucket { tokens: self.rate.burst, updated_at: now });
        bucket.tokens = self.refilled(bucket, now);
        bucket.updated_at = now;
        if bucket.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / self.rate.per_second));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    fn refilled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let refill = now.saturating_duration_since(bucket.updated_at).as_secs_f64() * self.rate.per_second;
        (bucket.tokens + refill).min(self.rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 2.0, per_second: 1.0 };

    #[test]
    fn callers_have_separate_buckets() {
        let limiter = RateLimiter::new(RATE);
        let start = Instant::now();
        assert!(limiter.take("a", start).is_ok());
        assert!(limiter.take("a", start).is_ok());
        assert_eq!(limiter.take("a", start), Err(Duration::from_secs(1)));
        assert!(limiter.take("b", start).is_ok());
        assert!(limiter.take("a", start + Duration::from_secs(1)).is_ok());
        assert!(limiter.take("a", start + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn number_of_buckets_is_bounded() {
        let limiter = RateLimiter::new(RATE);
        let now = Instant::now();
        for caller in 0..1000 {
            let _ = limiter.take(&caller.to_string(), now);
        }
        assert!(limiter.buckets.lock().unwrap().len() <= MAX_BUCKETS + 1);
    }
}
