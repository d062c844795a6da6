//! Compares the cases of `docs/cases/` with the tests that name them.
//!
//! A page lists cases in tables, one row each, with the id in the first column. A test of a case names the id
//! in a comment, so that a search for the id finds the test. Both directions are checked: a case without a
//! test, and an id in a source that no page explains. Rows below the heading [`NOT_BUILT`] describe what
//! does not exist yet; no test may name them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use crate::root;

const PAGES: &str = "docs/cases";
const NOT_BUILT: &str = "## Not built yet";
/// Folders whose sources may hold tests.
const FOLDERS: [&str; 3] = ["crates", "web/src", "web/e2e"];
const EXTENSIONS: [&str; 4] = ["rs", "ts", "tsx", "mjs"];

/// The ids of all pages.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cases {
    built: BTreeSet<String>,
    not_built: BTreeSet<String>,
}

/// Prints what does not match; fails unless every case is named by a test and every id has a row.
pub fn check() -> anyhow::Result<()> {
    let cases = Cases::read(&root().join(PAGES))?;
    let areas: BTreeSet<&str> = cases.all().filter_map(|id| Some(id.split_once('-')?.0)).collect();
    let mut references = BTreeMap::new();
    for folder in FOLDERS {
        add_references(&root().join(folder), &areas, &mut references)?;
    }
    let untested: Vec<&String> = cases.built.iter().filter(|id| !references.contains_key(*id)).collect();
    let unknown: Vec<_> = references.iter().filter(|(id, _)| !cases.built.contains(*id)).collect();
    for id in &untested {
        eprintln!("no test names {id}");
    }
    for (id, path) in &unknown {
        let reason =
            if cases.not_built.contains(*id) { "is listed as not built" } else { "is not explained" };
        eprintln!("{path}: {id} {reason} in {PAGES}");
    }
    eprintln!(
        "{} of {} cases are named by a test; {} more are not built yet",
        cases.built.len() - untested.len(),
        cases.built.len(),
        cases.not_built.len()
    );
    if !untested.is_empty() || !unknown.is_empty() {
        bail!("{PAGES} and the tests do not match");
    }
    Ok(())
}

impl Cases {
    fn read(pages: &Path) -> anyhow::Result<Self> {
        let mut cases = Self::default();
        for entry in fs::read_dir(pages).with_context(|| format!("cannot read {}", pages.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                cases.add(&text).with_context(|| path.display().to_string())?;
            }
        }
        Ok(cases)
    }

    fn add(&mut self, page: &str) -> anyhow::Result<()> {
        let mut is_built = true;
        for line in page.lines() {
            if line.starts_with("## ") {
                is_built = line != NOT_BUILT;
            }
            let Some(id) = line.strip_prefix("| ").and_then(|row| row.split(" |").next()).map(str::trim)
            else {
                continue;
            };
            if !is_id(id) {
                continue;
            }
            ensure!(!self.all().any(|known| known == id), "{id} has several rows");
            if is_built { &mut self.built } else { &mut self.not_built }.insert(id.to_owned());
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.built.iter().chain(&self.not_built)
    }
}

/// Collects the ids of these areas in the sources below a folder, each with the path of one of them.
fn add_references(
    folder: &Path,
    areas: &BTreeSet<&str>,
    references: &mut BTreeMap<String, String>,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            add_references(&path, areas, references)?;
        } else if path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
        {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let shown = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
            let known = ids(&text).filter(|id| areas.contains(&id[..2]));
            references.extend(known.map(|id| (id.to_owned(), shown.clone())));
        }
    }
    Ok(())
}

/// Returns the words of a text that have the form of an id.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| is_id(word))
}

/// Returns whether a word is an area of two capitals, a hyphen and a number: `GF-12`, `DL-B03`, `LR-05a`.
fn is_id(word: &str) -> bool {
    let Some((area, number)) = word.split_once('-') else { return false };
    let digits = number.strip_prefix('B').unwrap_or(number);
    let digits = digits.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(digits);
    area.len() == 2
        && area.bytes().all(|byte| byte.is_ascii_uppercase())
        && digits.len() == 2
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_comments() {
        let text = "// GF-12, CL-07\nlet x = a-b; // T-1 and UTF-8, LR-05a. DL-B03, PR-123";
        assert_eq!(ids(text).collect::<Vec<_>>(), ["GF-12", "CL-07", "LR-05a", "DL-B03"]);
    }

    #[test]
    fn rows_below_the_heading_are_not_built() {
        let mut cases = Cases::default();
        let page =
            "# Git\n\n| id | case |\n|---|---|\n| GF-01 | clean |\n\n## Not built yet\n\n| GF-02 | x |\n";
        cases.add(page).unwrap();
        assert_eq!(cases.built, BTreeSet::from(["GF-01".to_owned()]));
        assert_eq!(cases.not_built, BTreeSet::from(["GF-02".to_owned()]));
        assert!(cases.add("| GF-02 | again |").is_err());
    }
}
