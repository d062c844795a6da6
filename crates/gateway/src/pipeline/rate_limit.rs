//! Token buckets, one an origin: a page that keeps guessing slows down itself, not others.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Origins that have a bucket of their own; what comes later shares one.
const MAX_BUCKETS: usize = 64;
const SHARED: &str = "";

/// How many at once, and how fast more are granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) burst: f64,
    pub(crate) per_second: f64,
}

impl Rate {
    /// Exchanges: each may cause a call to the control plane.
    pub(crate) const EXCHANGE: Self = Self { burst: 60.0, per_second: 2.0 };
    /// Refused credentials. Wide enough for a page that opens with many requests at once.
    pub(crate) const REFUSED: Self = Self { burst: 500.0, per_second: 50.0 };
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// Buckets of one kind.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    rate: Rate,
    buckets: Mutex<HashMap<Box<str>, Bucket>>,
}

impl RateLimiter {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes one from the caller's bucket; the time to wait when it is empty.
    pub(crate) fn take(&self, caller: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS {
            buckets.retain(|_, bucket| self.filled(bucket, now) < self.rate.burst);
        }
        let own = buckets.contains_key(caller) || buckets.len() < MAX_BUCKETS;
        let key = if own { caller } else { SHARED };
        let bucket = buckets.entry(key.into()).or_insert_with(|| Bucket { left: self.rate.burst, at: now });
        bucket.left = self.filled(bucket, now);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / self.rate.per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let grown = now.saturating_duration_since(bucket.at).as_secs_f64() * self.rate.per_second;
        (bucket.left + grown).min(self.rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 2.0, per_second: 1.0 };

    #[test]
    fn caller_waits_for_its_own_bucket() {
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
    fn many_callers_take_bounded_memory() {
        let limiter = RateLimiter::new(RATE);
        let now = Instant::now();
        for caller in 0..1000 {
            let _ = limiter.take(&caller.to_string(), now);
        }
        assert!(limiter.buckets.lock().unwrap().len() <= MAX_BUCKETS + 1);
    }
}
