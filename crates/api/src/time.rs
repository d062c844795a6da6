//! Timestamps on the wire: ISO 8601 in UTC with milliseconds.

use jiff::Timestamp;

/// Formats a timestamp like `2026-05-11T08:30:00.000Z`.
#[must_use]
pub fn iso(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// Returns the current time, formatted by [`iso`].
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
