//! Bytes of frames that all connections together may hold until they are handled.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of one permit: a semaphore counts too little for single bytes on small machines.
const UNIT: usize = 1024;
/// Most bytes of all connections. One key, with all the connections that it may have, stays below.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// What is left of the bytes.
pub(super) struct ByteBudget(Arc<Semaphore>);

impl Default for ByteBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_BYTES / UNIT)))
    }
}

impl ByteBudget {
    /// Takes the bytes if they are there now.
    pub(super) fn try_reserve(&self, bytes: usize) -> Option<ByteReservation> {
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units(bytes)).ok()?;
        Some(ByteReservation { bytes, _permit: Some(permit) })
    }

    /// Takes the bytes as soon as they are there; who asked first gets them first.
    pub(super) async fn reserve(&self, bytes: usize) -> ByteReservation {
        let permit = Arc::clone(&self.0).acquire_many_owned(units(bytes)).await.ok();
        ByteReservation { bytes, _permit: permit }
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.min(MAX_BYTES).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// Bytes that are taken until this is dropped.
pub(super) struct ByteReservation {
    bytes: usize,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ByteReservation {
    /// For work that holds no frame.
    pub(super) const fn none() -> Self {
        Self { bytes: 0, _permit: None }
    }

    /// The bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn bytes_come_back_when_they_are_no_longer_needed() {
        let budget = ByteBudget::default();
        let most = budget.try_reserve(MAX_BYTES - UNIT).unwrap();
        let rest = budget.try_reserve(1).unwrap();
        assert!(budget.try_reserve(1).is_none());
        let mut waiting = Box::pin(budget.reserve(UNIT + 1));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(rest);
        assert!(waiting.as_mut().now_or_never().is_none(), "two units are asked for");
        drop(most);
        assert_eq!(waiting.now_or_never().unwrap().bytes(), UNIT + 1);
    }
}
