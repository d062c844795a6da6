//! E-mail addresses as names of local accounts.

// Maximum length of an address in a path of RFC 5321.
const LIMIT: usize = 254;

/// A normalized address: trimmed and lower-case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Parses an address. Checks its form only; mail to it may be undeliverable.
    pub fn parse(text: &str) -> Option<Self> {
        let address = text.trim().to_lowercase();
        // The last `@` separates the domain; a quoted local part with another `@` is not supported.
        let (local, domain) = address.rsplit_once('@')?;
        let plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@')
        };
        let is_valid = plain(local) && plain(domain) && address.chars().count() <= LIMIT;
        is_valid.then_some(Self(address))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_normalized_or_rejected() {
        let parse = |text| EmailAddress::parse(text).map(|address| address.0);
        assert_eq!(parse("  Ada@Example.ORG ").as_deref(), Some("ada@example.org"));
        assert_eq!(parse("owner@localhost").as_deref(), Some("owner@localhost"));
        for input in ["", "ada", "@", "ada@", "@example.org", "a b@example.org", "a@b@c", "a@b\n"] {
            assert_eq!(parse(input), (input == "a@b\n").then(|| "a@b".to_owned()), "{input:?}");
        }
        assert_eq!(parse(&format!("{}@example.org", "a".repeat(250))), None);
    }
}
