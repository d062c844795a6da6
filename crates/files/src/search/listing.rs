//! The names of one directory's files, packed into one string.
//!
//! A tree of 100,000 files is a few megabytes this way, and looking for a text in all names of a
//! directory is one search in one text.

/// Stands before, between and behind the names; no name holds it.
const BETWEEN: char = '/';

/// The files of one directory.
#[derive(Debug)]
pub(super) struct DirectoryListing {
    /// The directory, relative to the tree's root; empty for the root itself.
    directory: Box<str>,
    /// Characters of the directory with the slash behind it.
    directory_length: u32,
    files: u32,
    /// `/a.rs/b.rs/`
    names: Box<str>,
    /// The same in lower case, where that is not the same.
    folded: Option<Box<str>>,
    folded_directory: Option<Box<str>>,
}

/// One file of a listing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) listing: &'a DirectoryListing,
    /// Byte offset in the names.
    begin: usize,
    end: usize,
}

/// Names as they are gathered.
#[derive(Debug, Default)]
pub(super) struct ListingBuilder {
    names: String,
    files: u32,
}

impl ListingBuilder {
    pub(super) fn add(&mut self, name: &str) {
        self.names.push(BETWEEN);
        self.names.push_str(name);
        self.files += 1;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.files == 0
    }

    pub(super) fn append(&mut self, other: &Self) {
        self.names.push_str(&other.names);
        self.files += other.files;
    }

    pub(super) fn pack(mut self, directory: &str) -> DirectoryListing {
        self.names.push(BETWEEN);
        let folded = |text: &str| Some(fold(text)).filter(|folded| folded != text).map(Into::into);
        let length = if directory.is_empty() { 0 } else { directory.chars().count() + 1 };
        DirectoryListing {
            folded: folded(&self.names),
            folded_directory: folded(directory),
            directory: directory.into(),
            directory_length: u32::try_from(length).unwrap_or(u32::MAX),
            files: self.files,
            names: self.names.into_boxed_str(),
        }
    }
}

impl DirectoryListing {
    pub(super) const fn files(&self) -> u32 {
        self.files
    }

    pub(super) fn directory(&self) -> &str {
        &self.directory
    }

    pub(super) fn folded_directory(&self) -> &str {
        self.folded_directory.as_deref().unwrap_or(&self.directory)
    }

    /// Characters of the directory with the slash behind it.
    pub(super) const fn directory_length(&self) -> usize {
        self.directory_length as usize
    }

    /// All names in lower case, each between two slashes.
    pub(super) fn folded_names(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.names)
    }

    /// The name that a byte of the names belongs to; the slash before a name is part of it.
    pub(super) fn name_at(&self, offset: usize) -> Name<'_> {
        let names = self.names.as_bytes();
        let slash = if names.get(offset) == Some(&b'/') {
            offset
        } else {
            memchr::memrchr(b'/', &names[..offset]).unwrap_or_default()
        };
        self.name_after(slash)
    }

    fn name_after(&self, slash: usize) -> Name<'_> {
        let begin = slash + BETWEEN.len_utf8();
        let length = memchr::memchr(b'/', &self.names.as_bytes()[begin..]).unwrap_or_default();
        Name { listing: self, begin, end: begin + length }
    }

    /// All names, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Name<'_>> {
        let mut slash = 0;
        std::iter::from_fn(move || {
            (slash + 1 < self.names.len()).then(|| {
                let name = self.name_after(slash);
                slash = name.end;
                name
            })
        })
    }
}

impl<'a> Name<'a> {
    pub(super) fn text(&self) -> &'a str {
        &self.listing.names[self.begin..self.end]
    }

    pub(super) fn folded(&self) -> &'a str {
        &self.listing.folded_names()[self.begin..self.end]
    }

    /// Offset of the slash behind it.
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    /// Characters of the whole path.
    pub(super) fn path_length(&self) -> usize {
        self.listing.directory_length as usize + self.text().chars().count()
    }

    /// The path relative to the tree's root.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        self.write_path(&mut path);
        path
    }

    /// Replaces a text by the path.
    pub(super) fn write_path(&self, path: &mut String) {
        path.clear();
        if !self.listing.directory.is_empty() {
            path.push_str(&self.listing.directory);
            path.push(BETWEEN);
        }
        path.push_str(self.text());
    }
}

/// Lower case, character by character, wherever that keeps the length: offsets stay the same.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = |c: char| {
        let mut lowered = c.to_lowercase();
        match (lowered.next(), lowered.next()) {
            (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
            _ => c,
        }
    };
    text.chars().map(lower).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_round_trip() {
        let mut gathered = ListingBuilder::default();
        for name in ["b.rs", "Größe.TXT", "a"] {
            gathered.add(name);
        }
        let listing = gathered.pack("src/Über");
        let paths: Vec<_> = listing.iter().map(|name| name.path()).collect();
        assert_eq!(paths, ["src/Über/b.rs", "src/Über/Größe.TXT", "src/Über/a"]);
        let folded: Vec<_> = listing.iter().map(|name| name.folded()).collect();
        assert_eq!(folded, ["b.rs", "größe.txt", "a"]);
        assert_eq!(listing.folded_directory(), "src/über");
        let found = listing.folded_names().find("öße").unwrap();
        assert_eq!(listing.name_at(found).text(), "Größe.TXT");
        assert_eq!(listing.name_at(0).text(), "b.rs");
        assert_eq!(listing.name_at(0).path_length(), "src/Über/b.rs".chars().count());
        assert_eq!(ListingBuilder::default().pack("").iter().count(), 0);
    }

    #[test]
    fn folding_keeps_the_length() {
        for text in ["İstanbul", "ẞ", "ΑΣ", "K", "abc"] {
            assert_eq!(fold(text).len(), text.len(), "{text}");
        }
        assert_eq!(fold("ÄB"), "äb");
    }
}
