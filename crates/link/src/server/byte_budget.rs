//! Memory budget for received frames, shared by all connections of the process.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes per semaphore permit. [`Semaphore`] counts at most `usize::MAX >> 3` permits, which is too few
/// single bytes on 32-bit machines.
const UNIT: usize = 1024;
/// Total bytes of all connections: 256 MiB. A frame counts with its text and the estimated memory of its parsed
/// values. With common frames, the connections of one key together stay below it (10 connections of 16 MiB each).
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Bytes that are still available.
pub(super) struct ByteBudget(Arc<Semaphore>);

impl Default for ByteBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_BYTES / UNIT)))
    }
}

impl ByteBudget {
    /// Reserves the bytes if they are available now.
    pub(super) fn try_reserve(&self, bytes: usize) -> Option<ByteReservation> {
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units(bytes)).ok()?;
        Some(ByteReservation { bytes, _permit: Some(permit) })
    }

    /// Waits until the bytes are available and reserves them. Waiters are served first in, first out.
    pub(super) async fn reserve(&self, bytes: usize) -> ByteReservation {
        let permit = Arc::clone(&self.0).acquire_many_owned(units(bytes)).await.ok();
        ByteReservation { bytes, _permit: permit }
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.min(MAX_BYTES).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// Reserved bytes, returned to the budget on drop.
pub(super) struct ByteReservation {
    bytes: usize,
    _permit: Option<OwnedSemaphorePermit>,
}

impl ByteReservation {
    /// Returns a reservation of zero bytes, for tasks without a frame.
    pub(super) const fn none() -> Self {
        Self { bytes: 0, _permit: None }
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn reserved_bytes_are_returned_on_drop() {
        let budget = ByteBudget::default();
        let large = budget.try_reserve(MAX_BYTES - UNIT).unwrap();
        let small = budget.try_reserve(1).unwrap();
        assert!(budget.try_reserve(1).is_none());
        let mut waiting = Box::pin(budget.reserve(UNIT + 1));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(small);
        assert!(waiting.as_mut().now_or_never().is_none(), "two units are requested, one is free");
        drop(large);
        assert_eq!(waiting.now_or_never().unwrap().bytes(), UNIT + 1);
    }
}
