//! E-mail addresses as names of local accounts.

/// Characters of an address, as RFC 5321 allows.
const LIMIT: usize = 254;

/// An address in the form in which accounts are named: trimmed, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Reads an address; `None` for what cannot be one. Whether it is delivered to is not checked.
    pub fn parse(text: &str) -> Option<Self> {
        let address = text.trim().to_lowercase();
        let (local, domain) = address.rsplit_once('@')?;
        let plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@')
        };
        let fits = plain(local) && plain(domain) && address.chars().count() <= LIMIT;
        fits.then_some(Self(address))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_one_form() {
        let parse = |text| EmailAddress::parse(text).map(|address| address.0);
        assert_eq!(parse("  Ada@Example.ORG ").as_deref(), Some("ada@example.org"));
        assert_eq!(parse("owner@localhost").as_deref(), Some("owner@localhost"));
        for wrong in ["", "ada", "@", "ada@", "@example.org", "a b@example.org", "a@b@c", "a@b\n"] {
            assert_eq!(parse(wrong), (wrong == "a@b\n").then(|| "a@b".to_owned()), "{wrong:?}");
        }
        assert_eq!(parse(&format!("{}@example.org", "a".repeat(250))), None);
    }
}
