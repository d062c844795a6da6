//! Which files a query finds, and in which order.
//!
//! A query is a piece of a path that reaches into the file's own name, in any case. Names equal to
//! it come first, then names that begin with it, then shorter paths. Where nothing matches so, the
//! letters of the query may lie apart, as in `wgtpnl` for `WidgetPanel`.

use std::cmp::{Ordering, Reverse};

use memchr::memmem::Finder;
use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::listing::{DirectoryListing, Name, fold};

/// Paths in one answer.
pub(super) const MAX_MATCHES: usize = 10;
/// Endings that a name may have beside the query and still be what was meant.
const ENDINGS: [&str; 3] = ["", ".ts", ".tsx"];
/// A fuzzy match with a lower score per letter of the query is a coincidence.
const MIN_FUZZY_SCORE: usize = 14;
/// Shorter queries are not matched fuzzily.
const MIN_FUZZY_LETTERS: usize = 3;

/// The best paths of a tree, best first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TopMatches {
    pub(super) paths: Vec<String>,
    /// Whether more matched.
    pub(super) more: bool,
}

/// A query, prepared.
pub(super) struct SearchQuery {
    folded: String,
    /// What the directory must end with, when the query holds a slash.
    directory: Option<String>,
    /// What is looked for in the names.
    name: Finder<'static>,
    /// Whether every name matches.
    all: bool,
    /// The query as the beginning of a name, and as a whole name; none for one that holds a slash.
    beginning: Option<Finder<'static>>,
    whole: Vec<Finder<'static>>,
    /// Characters of the shortest name that matches.
    shortest: usize,
}

impl SearchQuery {
    pub(super) fn new(text: &str) -> Self {
        let folded = fold(text);
        let (directory, name) = match folded.rsplit_once('/') {
            // The name must begin with the rest: it is looked for with the slash before it.
            Some((directory, rest)) => (Some(directory.to_owned()), format!("/{rest}")),
            None => (None, folded.clone()),
        };
        let all = name.is_empty() || name == "/";
        let finder = |text: &str| Finder::new(text).into_owned();
        // Such names come first only where there is a query without a slash.
        let named = directory.is_none() && !all;
        Self {
            all,
            name: finder(&name),
            beginning: named.then(|| finder(&format!("/{folded}"))),
            whole: ENDINGS.iter().filter(|_| named).map(|end| finder(&format!("/{folded}{end}/"))).collect(),
            shortest: name.trim_start_matches('/').chars().count(),
            directory,
            folded,
        }
    }

    /// The best matches in a tree.
    pub(super) fn best<'a>(
        &self,
        listings: impl Iterator<Item = &'a DirectoryListing> + Clone,
    ) -> TopMatches {
        let mut top = TopK::default();
        for listing in listings.clone() {
            // Once the best are known, most of a large tree cannot be among them.
            let bound = top.upper_bound(listing.directory_length() + self.shortest);
            let offer = |name| top.offer(RankedFile::new(name, &self.folded));
            match bound {
                UpperBound::Any => self.matches(listing, offer),
                UpperBound::Prefix => find_names(listing, self.beginning.iter(), offer),
                UpperBound::Equal => find_names(listing, self.whole.iter(), offer),
                UpperBound::None => {}
            }
        }
        if top.found == 0 && self.may_match_fuzzily() {
            return self.fuzzy_matches(listings);
        }
        TopMatches {
            paths: top.best.iter().map(|found| found.name.path()).collect(),
            more: top.found > MAX_MATCHES,
        }
    }

    fn matches<'a>(&self, listing: &'a DirectoryListing, found: impl FnMut(Name<'a>)) {
        if let Some(end) = &self.directory
            && (listing.directory().is_empty() || !listing.folded_directory().ends_with(end.as_str()))
        {
            return;
        }
        if self.all {
            listing.iter().for_each(found);
            return;
        }
        find_names(listing, std::iter::once(&self.name), found);
    }

    fn may_match_fuzzily(&self) -> bool {
        self.folded.chars().count() >= MIN_FUZZY_LETTERS
            && !self.folded.split('/').any(|part| part == ".." || part == ".")
    }

    /// The best paths that hold the letters of the query in order.
    fn fuzzy_matches<'a>(&self, listings: impl Iterator<Item = &'a DirectoryListing>) -> TopMatches {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let (ignore, smart) = (CaseMatching::Ignore, Normalization::Smart);
        let atom = Atom::new(&self.folded, ignore, smart, AtomKind::Fuzzy, false);
        let least = self.folded.chars().count() * MIN_FUZZY_SCORE;
        let mut found = 0;
        let mut best: Vec<(Reverse<u16>, usize, String)> = Vec::new();
        let (mut path, mut letters) = (String::new(), Vec::new());
        for name in listings.flat_map(DirectoryListing::iter) {
            name.write_path(&mut path);
            let Some(score) = atom.score(Utf32Str::new(&path, &mut letters), &mut matcher) else { continue };
            if usize::from(score) < least {
                continue;
            }
            found += 1;
            let key = (Reverse(score), path.len(), path.clone());
            let place = best.partition_point(|better| *better < key);
            best.insert(place, key);
            best.truncate(MAX_MATCHES);
        }
        TopMatches { paths: best.into_iter().map(|(_, _, path)| path).collect(), more: found > MAX_MATCHES }
    }
}

/// The names of a listing in which one of these is found.
fn find_names<'a, 'f>(
    listing: &'a DirectoryListing,
    finders: impl Iterator<Item = &'f Finder<'static>>,
    mut found: impl FnMut(Name<'a>),
) {
    let names = listing.folded_names().as_bytes();
    for finder in finders {
        let mut from = 0;
        while let Some(offset) = finder.find(&names[from..]) {
            let name = listing.name_at(from + offset);
            from = name.end();
            found(name);
        }
    }
}

/// The best matches that a directory can contribute to the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UpperBound {
    Any,
    /// Names that begin with the query.
    Prefix,
    /// Names that equal the query.
    Equal,
    None,
}

/// A file that matches.
struct RankedFile<'a> {
    name: Name<'a>,
    /// 0 is the query itself, 1 begins with it, 2 holds it.
    class: u8,
    length: usize,
}

impl<'a> RankedFile<'a> {
    fn new(name: Name<'a>, query: &str) -> Self {
        let class = match name.folded().strip_prefix(query) {
            _ if query.is_empty() => 2,
            Some(rest) if ENDINGS.contains(&rest) => 0,
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

/// The [`MAX_MATCHES`] best candidates that were offered.
#[derive(Default)]
struct TopK<'a> {
    best: Vec<RankedFile<'a>>,
    found: usize,
}

impl<'a> TopK<'a> {
    /// What can still be added where every match has at least `shortest` characters.
    fn upper_bound(&self, shortest: usize) -> UpperBound {
        // Until it is known that there are more, every match counts.
        let Some(worst) = self.best.last().filter(|_| self.found > MAX_MATCHES) else {
            return UpperBound::Any;
        };
        match (worst.class, shortest > worst.length) {
            (0, true) => UpperBound::None,
            (0, false) | (1, true) => UpperBound::Equal,
            (1, false) | (2, true) => UpperBound::Prefix,
            _ => UpperBound::Any,
        }
    }

    fn offer(&mut self, candidate: RankedFile<'a>) {
        self.found += 1;
        let full = self.best.len() == MAX_MATCHES;
        if full && self.best.last().is_some_and(|last| candidate.compare(last).is_ge()) {
            return;
        }
        let place = self.best.partition_point(|better| better.compare(&candidate).is_lt());
        self.best.insert(place, candidate);
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
        directories.into_iter().map(|(directory, gathered)| gathered.pack(directory)).collect()
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
    fn order_is_equal_then_beginning_then_short() {
        let found =
            ["WIDGET.ts", "src/widget.tsx", "src/deep/widget", "src/WidgetPanel.tsx", "src/my-widget.rs"];
        assert_eq!(best(&TREE, "widget"), found);
        assert_eq!(best(&TREE, "WidGet"), found);
        assert_eq!(
            best(&TREE, "").first().unwrap(),
            "a[b].txt",
            "without a query the shortest, then by name"
        );
    }

    #[test]
    fn slash_reaches_into_the_directories() {
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
    fn fuzzy_matches_are_found_when_nothing_else_matches() {
        assert_eq!(best(&TREE, "wgtpnl"), ["src/WidgetPanel.tsx"]);
        assert_eq!(best(&TREE, "zqzq"), [""; 0]);
        assert_eq!(best(&TREE, "wp"), [""; 0], "too short to mean anything");
    }

    #[test]
    fn more_than_ten_are_cut() {
        let paths: Vec<_> = (0..11).map(|n| format!("d/match-{n}")).collect();
        let found = SearchQuery::new("match").best(packed(&paths).iter());
        assert_eq!((found.paths.len(), found.more), (10, true));
        let found = SearchQuery::new("match").best(packed(&paths[..10]).iter());
        assert_eq!((found.paths.len(), found.more), (10, false));
    }

    /// The rule as it is written down: `(^|.*/)[^/]*<query>[^/]*$`.
    fn rule(path: &str, query: &str) -> bool {
        let (path, query) = (fold(path), fold(query));
        path.match_indices(&query).any(|(at, _)| !path[at + query.len()..].contains('/'))
            || (query.is_empty())
            || overlapping(&path, &query)
    }

    /// Occurrences that overlap an earlier one.
    fn overlapping(path: &str, query: &str) -> bool {
        (0..path.len())
            .filter(|at| path.is_char_boundary(*at) && path[*at..].starts_with(query))
            .any(|at| !path[at + query.len()..].contains('/'))
    }

    proptest! {
        /// However the tree is gone through: the ten best of all that match, by the written order.
        #[test]
        fn matches_are_the_first_of_all_in_order(
            paths in prop::collection::btree_set("([ab]{1,3}/){0,2}[abAB]{1,4}(\\.tsx?)?", 11..60),
            query in "[ab]{0,2}(/[ab]?)?",
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let class = |path: &str| {
                let name = fold(path.rsplit('/').next().unwrap());
                match name.strip_prefix(&query) {
                    Some(rest) if !query.is_empty() => u8::from(!ENDINGS.contains(&rest)),
                    _ => 2,
                }
            };
            let mut wanted: Vec<_> = paths.iter().filter(|path| rule(path, &query)).cloned().collect();
            wanted.sort_by_key(|path| (class(path), path.len(), fold(path), path.clone()));
            let more = wanted.len() > MAX_MATCHES;
            wanted.truncate(MAX_MATCHES);
            if !wanted.is_empty() {
                prop_assert_eq!(SearchQuery::new(&query).best(packed(&paths).iter()), TopMatches { paths: wanted, more });
            }
        }

        #[test]
        fn search_matches_the_documented_rule(
            paths in prop::collection::btree_set("([aBö.]{1,3}/){0,2}[aBö.]{1,4}", 0..10),
            query in "[abö./]{0,3}",
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let mut wanted: Vec<_> = paths.iter().filter(|path| rule(path, &query)).cloned().collect();
            let mut found = best(&paths, &query);
            wanted.sort();
            found.sort();
            if !wanted.is_empty() || query.chars().count() < MIN_FUZZY_LETTERS {
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
