//! Parsers for git's output about objects: tree entries and blobs.

use super::status::TreeEntry;

/// Parses the first entry of `git ls-tree -z`: the object and its type.
pub(super) fn parse_tree_entry(printed: &[u8]) -> Option<(TreeEntry, String)> {
    let entry = printed.split(|byte| *byte == 0).next()?;
    let head = entry.split(|byte| *byte == b'\t').next()?;
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ').map(str::to_owned);
    let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
    Some((TreeEntry { mode, id }, kind))
}

/// Id and content of a blob; `None` for any other object.
pub(super) type BlobContent = Option<(String, Vec<u8>)>;

/// Parses `N` entries of `git cat-file --batch`. An invalid entry and all entries after it are `None`.
pub(super) fn parse_batch<const N: usize>(mut printed: &[u8]) -> [BlobContent; N] {
    std::array::from_fn(|_| {
        let read = batch_entry(printed);
        printed = read.as_ref().map_or(&[], |(_, rest)| rest);
        read?.0
    })
}

/// Parses all entries of `git cat-file --batch` up to the first invalid one.
pub(super) fn parse_batch_entries(mut printed: &[u8]) -> Vec<BlobContent> {
    let mut files = Vec::new();
    while let Some((file, rest)) = batch_entry(printed) {
        files.push(file);
        printed = rest;
    }
    files
}

/// Parses an entry and returns it with the remaining input; `None` when the entry is truncated or invalid.
fn batch_entry(printed: &[u8]) -> Option<(BlobContent, &[u8])> {
    let end = printed.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = (std::str::from_utf8(&printed[..end]).ok()?, &printed[end + 1..]);
    if head.ends_with(" missing") {
        return Some((None, rest));
    }
    let mut words = head.split(' ');
    let (id, kind, size, None) = (words.next()?, words.next()?, words.next()?, words.next()) else {
        return None;
    };
    let (content, rest) = rest.split_at_checked(size.parse().ok()?)?;
    // Git terminates the content, which has any bytes, with a line feed.
    let rest = rest.strip_prefix(b"\n")?;
    Some(((kind == "blob").then(|| (id.to_owned(), content.to_vec())), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_entry_is_parsed() {
        let (object, kind) = parse_tree_entry(b"120000 blob 1234abcd\ta\tb\0").unwrap();
        assert_eq!((object.mode.as_str(), object.id.as_str(), kind.as_str()), ("120000", "1234abcd", "blob"));
        assert_eq!(parse_tree_entry(b""), None);
    }

    #[test]
    fn truncated_batch_entries_are_ignored() {
        let parse = |text: &str| parse_batch::<2>(text.as_bytes());
        let file = || Some(("12ab".to_owned(), b"a\nb\n".to_vec()));
        assert_eq!(parse("12ab blob 4\na\nb\n\n"), [file(), None]);
        assert_eq!(parse("HEAD:./x missing\n12ab blob 4\na\nb\n\n"), [None, file()]);
        assert_eq!(parse("12ab tree 2\nab\n12ab blob 4\na\nb\n\n"), [None, file()]);
        for other in [
            "",
            "HEAD:./x missing\n",
            "12ab blob 4\na\nb\n",
            "12ab blob 4\na\nb\nx12ab blob 4\na\nb\n\n",
            "a b blob 0\n\n",
            "a blob x\n\n",
        ] {
            assert_eq!(parse(other), [None, None], "{other:?}");
        }
    }
}
