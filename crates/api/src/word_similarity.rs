//! Similarity of two texts by the words that they have in common, for findings that report the same defect in
//! other words.

use std::collections::HashSet;

/// A text in lower case whose words are separated by one space. All characters except `a-z` and `0-9` separate words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedText(String);

impl NormalizedText {
    /// Normalizes a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text.to_lowercase();
        let is_separator = |char: char| !char.is_ascii_lowercase() && !char.is_ascii_digit();
        let words: Vec<&str> = text.split(is_separator).filter(|word| !word.is_empty()).collect();
        Self(words.join(" "))
    }

    /// Returns the normalized text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the distinct words.
    #[must_use]
    pub fn words(&self) -> WordSet<'_> {
        WordSet(self.0.split(' ').filter(|word| !word.is_empty()).collect())
    }
}

/// The distinct words of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSet<'a>(HashSet<&'a str>);

impl WordSet<'_> {
    /// Returns whether the text contains no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the Jaccard index: the part of the words of both texts that they have in common. 0 if one of them contains
    /// no words: empty sets are equal, but have nothing in common.
    #[must_use]
    pub fn similarity(&self, other: &WordSet<'_>) -> f64 {
        if self.is_empty() || other.is_empty() {
            return 0.0;
        }
        let common = self.0.intersection(&other.0).count();
        let either = self.0.len() + other.0.len() - common;
        common as f64 / either as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(one: &str, other: &str) -> f64 {
        NormalizedText::new(one).words().similarity(&NormalizedText::new(other).words())
    }

    #[test]
    fn similarity_is_the_part_of_common_words() {
        assert_eq!(similarity("alpha beta gamma", "alpha beta delta epsilon"), 0.4);
        assert_eq!(similarity("The sum, the SUM!", "sum the"), 1.0);
        assert_eq!(similarity("…", "…"), 0.0);
        assert_eq!(similarity("", "a"), 0.0);
        assert_eq!(NormalizedText::new("Größe:\tFALSCH!").as_str(), "gr e falsch");
    }
}
