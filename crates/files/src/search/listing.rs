//! Names of the files of one directory, packed into one string.
//!
//! A tree of 100,000 files takes a few megabytes this way, and a directory is searched by a single substring
//! search.

/// Delimits the names: before, between and after them. Cannot occur in a name.
const DELIMITER: char = '/';

/// Files of one directory.
#[derive(Debug)]
pub(super) struct DirectoryListing {
    /// Path of the directory relative to the root of the tree; empty for the root.
    directory: Box<str>,
    /// Length in characters of the directory and the slash after it.
    directory_length: u32,
    files: u32,
    /// The delimited names, for example `/a.rs/b.rs/`.
    names: Box<str>,
    /// `names` in lower case; `None` when equal.
    folded: Option<Box<str>>,
    folded_directory: Option<Box<str>>,
}

/// One file of a listing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) listing: &'a DirectoryListing,
    /// Byte offset of the start of the name in `names`.
    begin: usize,
    end: usize,
}

/// Collects the names of a directory.
#[derive(Debug, Default)]
pub(super) struct ListingBuilder {
    names: String,
    files: u32,
}

impl ListingBuilder {
    pub(super) fn add(&mut self, name: &str) {
        self.names.push(DELIMITER);
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
        self.names.push(DELIMITER);
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

    /// Returns the length in characters of the directory and the slash after it.
    pub(super) const fn directory_length(&self) -> usize {
        self.directory_length as usize
    }

    /// Returns all names in lower case, delimited by slashes.
    pub(super) fn folded_names(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.names)
    }

    /// Returns the name that contains a byte offset of `names`. The slash before a name belongs to it.
    pub(super) fn name_at(&self, offset: usize) -> Name<'_> {
        let names = self.names.as_bytes();
        let slash = if names.get(offset) == Some(&b'/') {
            offset
        } else {
            // The first byte is a delimiter, so there always is one before the offset.
            memchr::memrchr(b'/', &names[..offset]).unwrap_or_default()
        };
        self.name_after(slash)
    }

    fn name_after(&self, slash: usize) -> Name<'_> {
        let begin = slash + DELIMITER.len_utf8();
        let length = memchr::memchr(b'/', &self.names.as_bytes()[begin..]).unwrap_or_default();
        Name { listing: self, begin, end: begin + length }
    }

    /// Returns all names in no particular order.
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

    /// Returns the offset of the slash after the name.
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    /// Returns the length of the whole path in characters.
    pub(super) fn path_length(&self) -> usize {
        self.listing.directory_length as usize + self.text().chars().count()
    }

    /// Returns the path relative to the root of the tree.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        self.write_path(&mut path);
        path
    }

    /// Overwrites `path` with the path of the file, to reuse its allocation.
    pub(super) fn write_path(&self, path: &mut String) {
        path.clear();
        if !self.listing.directory.is_empty() {
            path.push_str(&self.listing.directory);
            path.push(DELIMITER);
        }
        path.push_str(self.text());
    }
}

/// Converts to lower case by character, but only where that keeps the length in bytes: offsets into the
/// folded text are also valid in the original.
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
        let mut builder = ListingBuilder::default();
        for name in ["b.rs", "Größe.TXT", "a"] {
            builder.add(name);
        }
        let listing = builder.pack("src/Über");
        let paths: Vec<_> = listing.iter().map(|name| name.path()).collect();
        assert_eq!(paths, ["src/Über/b.rs", "src/Über/Größe.TXT", "src/Über/a"]);
        let folded: Vec<_> = listing.iter().map(|name| name.folded()).collect();
        assert_eq!(folded, ["b.rs", "größe.txt", "a"]);
        assert_eq!(listing.folded_directory(), "src/über");
        let offset = listing.folded_names().find("öße").unwrap();
        assert_eq!(listing.name_at(offset).text(), "Größe.TXT");
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
