//! Instants as they travel: ISO 8601, UTC, milliseconds.

use jiff::Timestamp;

/// Formats an instant as `2026-05-11T08:30:00.000Z`.
#[must_use]
pub fn iso(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// The present instant, formatted by [`iso`].
#[must_use]
pub fn now_iso() -> String {
    iso(Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_carry_milliseconds() {
        let at: Timestamp = "2026-05-11T08:30:00Z".parse().unwrap();
        assert_eq!(iso(at), "2026-05-11T08:30:00.000Z");
    }
}
