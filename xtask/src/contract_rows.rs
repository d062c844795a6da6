//! Which rows of the contract no test names.
//!
//! `docs/contract-rows.txt` lists their ids. A test that shows a row names its id in a comment. What is printed is information: a row may belong to something that is not built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::root;

/// The ids, below the root of the project.
const LIST: &str = "docs/contract-rows.txt";
/// Sources that may hold tests.
const FOLDERS: [&str; 3] = ["crates", "web/src", "web/e2e"];
const EXTENSIONS: [&str; 4] = ["rs", "ts", "tsx", "mjs"];

/// Prints the ids that no source names, a line for each document, and a count.
pub fn report() -> anyhow::Result<()> {
    let list = fs::read_to_string(root().join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let mut named = BTreeSet::new();
    for folder in FOLDERS {
        add_names(&root().join(folder), &mut named)?;
    }
    let mut unnamed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut count, mut missing) = (0, 0);
    for (document, number) in rows(&list).filter_map(|id| id.split_once('-')) {
        count += 1;
        if !named.contains(&format!("{document}-{number}")) {
            missing += 1;
            unnamed.entry(document).or_default().push(number);
        }
    }
    for (document, numbers) in &unnamed {
        eprintln!("no test names {document}: {}", numbers.join(" "));
    }
    eprintln!("{} of {count} rows of the contract are named by a test", count - missing);
    Ok(())
}

/// The ids of the list; lines that begin with `#` explain it.
fn rows(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.starts_with('#'))
}

fn add_names(folder: &Path, named: &mut BTreeSet<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            add_names(&path, named)?;
        } else if path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
        {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            named.extend(row_ids(&text).map(str::to_owned));
        }
    }
    Ok(())
}

/// Words of the form of an id, such as `GF-12`.
fn row_ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| {
        word.split_once('-').is_some_and(|(document, number)| {
            document.len() == 2
                && document.bytes().all(|byte| byte.is_ascii_uppercase())
                && number.len() >= 2
                && number.bytes().take(2).all(|byte| byte.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_comments() {
        let text = "// GF-12, CL-07\nlet x = a-b; // T-1 and UTF-8, LR-05a.";
        assert_eq!(row_ids(text).collect::<Vec<_>>(), ["GF-12", "CL-07", "LR-05a"]);
    }

    #[test]
    fn each_row_has_one_line() {
        let list = fs::read_to_string(root().join(LIST)).unwrap();
        let ids: Vec<&str> = rows(&list).collect();
        assert!(ids.iter().all(|id| row_ids(id).eq([*id])), "{ids:?}");
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert!(ids.len() > 500);
    }
}
