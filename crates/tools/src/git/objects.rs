//! What git prints of objects: entries of trees, and contents of files.

use super::status::TreeEntry;

/// Reads the first entry of `git ls-tree -z`: the object and its type.
pub(super) fn parse_tree_entry(printed: &[u8]) -> Option<(TreeEntry, String)> {
    let entry = printed.split(|byte| *byte == 0).next()?;
    let head = entry.split(|byte| *byte == b'\t').next()?;
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split(' ').map(str::to_owned);
    let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
    Some((TreeEntry { mode, id }, kind))
}

/// The id and the content of a file, `None` for what is no file.
pub(super) type BlobContent = Option<(String, Vec<u8>)>;

/// Reads the entries that `git cat-file --batch` printed: ids and contents of files. From the first
/// one on that cannot be read, there are none.
pub(super) fn parse_batch<const N: usize>(mut printed: &[u8]) -> [BlobContent; N] {
    std::array::from_fn(|_| {
        let read = batch_entry(printed);
        printed = read.as_ref().map_or(&[], |(_, rest)| rest);
        read?.0
    })
}

/// Reads all of them, up to the first one that cannot be read.
pub(super) fn parse_batch_entries(mut printed: &[u8]) -> Vec<BlobContent> {
    let mut files = Vec::new();
    while let Some((file, rest)) = batch_entry(printed) {
        files.push(file);
        printed = rest;
    }
    files
}

/// One entry and what follows it; `None` when it is not whole.
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
    // A line feed follows.
    let rest = rest.strip_prefix(b"\n")?;
    Some(((kind == "blob").then(|| (id.to_owned(), content.to_vec())), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_entry_is_read() {
        let (object, kind) = parse_tree_entry(b"120000 blob 1234abcd\ta\tb\0").unwrap();
        assert_eq!((object.mode.as_str(), object.id.as_str(), kind.as_str()), ("120000", "1234abcd", "blob"));
        assert_eq!(parse_tree_entry(b""), None);
    }

    #[test]
    fn batch_entries_are_read_whole_or_not_at_all() {
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
