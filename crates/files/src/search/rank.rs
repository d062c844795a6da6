//! Matching and ranking of files for a query.
//!
//! A query is a case-insensitive substring of a path that extends into the file name. File names that equal
//! the query rank first, then those that start with it, then shorter paths. Without any match, the letters of
//! the query may be apart, as in `wgtpnl` for `WidgetPanel`.

use std::cmp::{Ordering, Reverse};

use memchr::memmem::Finder;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::listing::{DirectoryListing, Name, fold};

/// Maximum number of paths in a response.
pub(super) const MAX_MATCHES: usize = 10;
/// Extensions that count as equal: the query `widget` means `widget.tsx` as well.
const EQUIVALENT_EXTENSIONS: [&str; 3] = ["", ".ts", ".tsx"];
/// Minimum score of a fuzzy match per letter of the query. Lower scores are coincidences.
const MIN_FUZZY_SCORE: usize = 14;
/// Minimum length of a query for fuzzy matching.
const MIN_FUZZY_LETTERS: usize = 3;

/// The best paths of a tree, best first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TopMatches {
    pub(super) paths: Vec<String>,
    /// Whether further paths match.
    pub(super) more: bool,
}

/// A query with finders prepared for its kinds of matches.
pub(super) struct SearchQuery {
    folded: String,
    /// Required suffix of the directory, if the query contains a slash.
    directory: Option<String>,
    /// Substring to search for in the names.
    name: Finder<'static>,
    /// Whether the query matches every name.
    all: bool,
    /// Finder for names that start with the query; `None` if the query contains a slash.
    prefix: Option<Finder<'static>>,
    /// Finders for names that equal the query; none if the query contains a slash.
    exact: Vec<Finder<'static>>,
    /// Length in characters of the shortest matching name.
    min_length: usize,
}

impl SearchQuery {
    pub(super) fn new(text: &str) -> Self {
        let folded = fold(text);
        let (directory, name) = match folded.rsplit_once('/') {
            // The slash is part of the finder, because the name must start with the remainder.
            Some((directory, rest)) => (Some(directory.to_owned()), format!("/{rest}")),
            None => (None, folded.clone()),
        };
        let all = name.is_empty() || name == "/";
        let finder = |text: &str| Finder::new(text).into_owned();
        // Only queries without a slash rank by the name.
        let ranks_by_name = directory.is_none() && !all;
        Self {
            all,
            name: finder(&name),
            prefix: ranks_by_name.then(|| finder(&format!("/{folded}"))),
            exact: EQUIVALENT_EXTENSIONS
                .iter()
                .filter(|_| ranks_by_name)
                .map(|end| finder(&format!("/{folded}{end}/")))
                .collect(),
            min_length: name.trim_start_matches('/').chars().count(),
            directory,
            folded,
        }
    }

    /// Returns the best matches in a tree.
    pub(super) fn best<'a>(
        &self,
        listings: impl Iterator<Item = &'a DirectoryListing> + Clone,
    ) -> TopMatches {
        let mut top = TopK::default();
        for listing in listings.clone() {
            // Once there are more matches than the maximum, only better ones matter: often none, or only those
            // of a more specific finder.
            let bound = top.upper_bound(listing.directory_length() + self.min_length);
            let offer = |name| top.offer(RankedFile::new(name, &self.folded));
            match bound {
                UpperBound::Any => self.matches(listing, offer),
                UpperBound::Prefix => find_names(listing, self.prefix.iter(), offer),
                UpperBound::Equal => find_names(listing, self.exact.iter(), offer),
                UpperBound::None => {}
            }
        }
        if top.matches == 0 && self.may_match_fuzzily() {
            return self.fuzzy_matches(listings);
        }
        TopMatches {
            paths: top.best.iter().map(|file| file.name.path()).collect(),
            more: top.matches > MAX_MATCHES,
        }
    }

    fn matches<'a>(&self, listing: &'a DirectoryListing, on_match: impl FnMut(Name<'a>)) {
        if let Some(end) = &self.directory
            && (listing.directory().is_empty() || !listing.folded_directory().ends_with(end.as_str()))
        {
            return;
        }
        if self.all {
            listing.iter().for_each(on_match);
            return;
        }
        find_names(listing, std::iter::once(&self.name), on_match);
    }

    fn may_match_fuzzily(&self) -> bool {
        self.folded.chars().count() >= MIN_FUZZY_LETTERS
            && !self.folded.split('/').any(|part| part == ".." || part == ".")
    }

    /// Returns the best paths that contain the letters of the query in order.
    fn fuzzy_matches<'a>(&self, listings: impl Iterator<Item = &'a DirectoryListing>) -> TopMatches {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let (ignore, smart) = (CaseMatching::Ignore, Normalization::Smart);
        let atom = Atom::new(&self.folded, ignore, smart, AtomKind::Fuzzy, false);
        let min_score = self.folded.chars().count() * MIN_FUZZY_SCORE;
        let mut matches = 0;
        let mut best: Vec<(Reverse<u16>, usize, String)> = Vec::new();
        let (mut path, mut letters) = (String::new(), Vec::new());
        for name in listings.flat_map(DirectoryListing::iter) {
            name.write_path(&mut path);
            let Some(score) = atom.score(Utf32Str::new(&path, &mut letters), &mut matcher) else { continue };
            if usize::from(score) < min_score {
                continue;
            }
            matches += 1;
            let key = (Reverse(score), path.len(), path.clone());
            let index = best.partition_point(|better| *better < key);
            best.insert(index, key);
            best.truncate(MAX_MATCHES);
        }
        TopMatches { paths: best.into_iter().map(|(_, _, path)| path).collect(), more: matches > MAX_MATCHES }
    }
}

/// Passes each name to `on_match` in which a finder matches.
fn find_names<'a, 'f>(
    listing: &'a DirectoryListing,
    finders: impl Iterator<Item = &'f Finder<'static>>,
    mut on_match: impl FnMut(Name<'a>),
) {
    let names = listing.folded_names().as_bytes();
    for finder in finders {
        let mut from = 0;
        while let Some(offset) = finder.find(&names[from..]) {
            let name = listing.name_at(from + offset);
            from = name.end();
            on_match(name);
        }
    }
}

/// The best class of matches that a directory can still contribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpperBound {
    Any,
    /// Names that start with the query.
    Prefix,
    /// Names that equal the query.
    Equal,
    None,
}

/// A matching file with its sort key.
struct RankedFile<'a> {
    name: Name<'a>,
    /// 0: the name equals the query; 1: starts with it; 2: contains it.
    class: u8,
    length: usize,
}

impl<'a> RankedFile<'a> {
    fn new(name: Name<'a>, query: &str) -> Self {
        let class = match name.folded().strip_prefix(query) {
            _ if query.is_empty() => 2,
            Some(rest) if EQUIVALENT_EXTENSIONS.contains(&rest) => 0,
            Some(_) => 1,
            None => 2,
        };
        Self { name, class, length: name.path_length() }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let alphabetical = || {
            let (one, two) = (self.name.path(), other.name.path());
            fold(&one).cmp(&fold(&two)).then_with(|| one.cmp(&two))
        };
        (self.class, self.length).cmp(&(other.class, other.length)).then_with(alphabetical)
    }
}

/// Keeps the [`MAX_MATCHES`] best candidates.
#[derive(Default)]
struct TopK<'a> {
    best: Vec<RankedFile<'a>>,
    matches: usize,
}

impl<'a> TopK<'a> {
    /// Returns which matches can still enter the result, given that paths have at least `min_length`
    /// characters.
    fn upper_bound(&self, min_length: usize) -> UpperBound {
        // Every match must be counted until it is known that there are more than the maximum.
        let Some(worst) = self.best.last().filter(|_| self.matches > MAX_MATCHES) else {
            return UpperBound::Any;
        };
        match (worst.class, min_length > worst.length) {
            (0, true) => UpperBound::None,
            (0, false) | (1, true) => UpperBound::Equal,
            (1, false) | (2, true) => UpperBound::Prefix,
            _ => UpperBound::Any,
        }
    }

    fn offer(&mut self, candidate: RankedFile<'a>) {
        self.matches += 1;
        let full = self.best.len() == MAX_MATCHES;
        if full && self.best.last().is_some_and(|last| candidate.compare(last).is_ge()) {
            return;
        }
        let index = self.best.partition_point(|better| better.compare(&candidate).is_lt());
        self.best.insert(index, candidate);
        self.best.truncate(MAX_MATCHES);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::listing::ListingBuilder;
    use super::*;

    fn packed(paths: &[impl AsRef<str>]) -> Vec<DirectoryListing> {
        let mut directories: BTreeMap<&str, ListingBuilder> = BTreeMap::new();
        for path in paths {
            let (directory, name) = path.as_ref().rsplit_once('/').unwrap_or(("", path.as_ref()));
            directories.entry(directory).or_default().add(name);
        }
        directories.into_iter().map(|(directory, builder)| builder.pack(directory)).collect()
    }

    fn best(paths: &[impl AsRef<str>], query: &str) -> Vec<String> {
        SearchQuery::new(query).best(packed(paths).iter()).paths
    }

    const TREE: [&str; 8] = [
        "src/widget.tsx",
        "src/WidgetPanel.tsx",
        "src/deep/widget",
        "src/my-widget.rs",
        "WIDGET.ts",
        "docs/widgets/index.md",
        "a[b].txt",
        "src/x.txt",
    ];

    #[test]
    fn equal_names_rank_before_prefixes_and_short_paths() {
        let expected =
            ["WIDGET.ts", "src/widget.tsx", "src/deep/widget", "src/WidgetPanel.tsx", "src/my-widget.rs"];
        assert_eq!(best(&TREE, "widget"), expected);
        assert_eq!(best(&TREE, "WidGet"), expected);
        assert_eq!(
            best(&TREE, "").first().unwrap(),
            "a[b].txt",
            "an empty query ranks by length, then by name"
        );
    }

    #[test]
    fn query_with_slash_matches_directories() {
        assert_eq!(best(&TREE, "src/wid"), ["src/widget.tsx", "src/WidgetPanel.tsx"]);
        assert_eq!(best(&TREE, "rc/wid"), ["src/widget.tsx", "src/WidgetPanel.tsx"]);
        assert_eq!(best(&TREE, "eep/"), ["src/deep/widget"]);
        assert_eq!(best(&TREE, "/wid"), ["src/widget.tsx", "src/deep/widget", "src/WidgetPanel.tsx"]);
        assert_eq!(best(&TREE, "docs/widgets/i"), ["docs/widgets/index.md"]);
    }

    #[test]
    fn query_is_literal() {
        assert_eq!(best(&TREE, "a[b]"), ["a[b].txt"]);
        for query in ["*", "../", "..", "../../etc", "[ab]", "{a,b}", "?", "./", "*.tsx"] {
            assert_eq!(best(&TREE, query), [""; 0], "{query}");
        }
    }

    #[test]
    fn fuzzy_matching_is_used_without_exact_matches() {
        assert_eq!(best(&TREE, "wgtpnl"), ["src/WidgetPanel.tsx"]);
        assert_eq!(best(&TREE, "zqzq"), [""; 0]);
        assert_eq!(best(&TREE, "wp"), [""; 0], "too short for fuzzy matching");
    }

    #[test]
    fn more_than_ten_matches_are_truncated() {
        let paths: Vec<_> = (0..11).map(|n| format!("d/match-{n}")).collect();
        let top = SearchQuery::new("match").best(packed(&paths).iter());
        assert_eq!((top.paths.len(), top.more), (10, true));
        let top = SearchQuery::new("match").best(packed(&paths[..10]).iter());
        assert_eq!((top.paths.len(), top.more), (10, false));
    }

    /// Reference implementation of the rule `(^|.*/)[^/]*<query>[^/]*$`.
    fn rule(path: &str, query: &str) -> bool {
        let (path, query) = (fold(path), fold(query));
        path.match_indices(&query).any(|(at, _)| !path[at + query.len()..].contains('/'))
            || (query.is_empty())
            || overlapping(&path, &query)
    }

    /// Returns whether an occurrence matches that overlaps an earlier one, which `match_indices` skips.
    fn overlapping(path: &str, query: &str) -> bool {
        (0..path.len())
            .filter(|at| path.is_char_boundary(*at) && path[*at..].starts_with(query))
            .any(|at| !path[at + query.len()..].contains('/'))
    }

    proptest! {
        /// The result is the head of all matches in the documented order, regardless of the order of the
        /// directories.
        #[test]
        fn best_matches_are_the_head_of_all_matches(
            paths in prop::collection::btree_set("([ab]{1,3}/){0,2}[abAB]{1,4}(\\.tsx?)?", 11..60),
            query in "[ab]{0,2}(/[ab]?)?",
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let class = |path: &str| {
                let name = fold(path.rsplit('/').next().unwrap());
                match name.strip_prefix(&query) {
                    Some(rest) if !query.is_empty() => u8::from(!EQUIVALENT_EXTENSIONS.contains(&rest)),
                    _ => 2,
                }
            };
            let mut expected: Vec<_> = paths.iter().filter(|path| rule(path, &query)).cloned().collect();
            expected.sort_by_key(|path| (class(path), path.len(), fold(path), path.clone()));
            let more = expected.len() > MAX_MATCHES;
            expected.truncate(MAX_MATCHES);
            // Without a match the result is fuzzy, which the reference does not cover.
            if !expected.is_empty() {
                prop_assert_eq!(SearchQuery::new(&query).best(packed(&paths).iter()), TopMatches { paths: expected, more });
            }
        }

        #[test]
        fn search_matches_the_documented_rule(
            paths in prop::collection::btree_set("([aBö.]{1,3}/){0,2}[aBö.]{1,4}", 0..10),
            query in "[abö./]{0,3}",
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let mut expected: Vec<_> = paths.iter().filter(|path| rule(path, &query)).cloned().collect();
            let mut paths_found = best(&paths, &query);
            expected.sort();
            paths_found.sort();
            if !expected.is_empty() || query.chars().count() < MIN_FUZZY_LETTERS {
                prop_assert_eq!(paths_found, expected);
            }
        }
    }
}
