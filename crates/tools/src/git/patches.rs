//! Unified patches of single files in a comparison.

use std::path::Path;

use loopgate_api::git_quoting::quoted_name;

use super::changes::WORK;
use super::comparison::{ChangeRange, Pathspec, RawChange, parse_comparison};
use super::{Git, GitError};

/// Size of all patches of a response in bytes, after which further ones have to be requested separately. The first patch
/// may exceed it.
const MAX_TOTAL_BYTES: usize = 2 * 1024 * 1024;
/// First line of the patch of a file, up to the names.
const HEADER: &str = "diff --git ";

/// How patches are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchOptions {
    /// Number of unchanged lines around each change.
    pub context: u32,
    /// Whether lines that differ only in white space count as equal.
    pub ignore_white_space: bool,
}

/// The patch of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Path of the file, with invalid UTF-8 replaced.
    pub path: String,
    /// The patch as `git diff` prints it, with invalid UTF-8 replaced. Empty if the file differs only in white space,
    /// which is ignored.
    pub patch: String,
}

/// Patches of the first of the requested files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patches {
    pub patches: Vec<FilePatch>,
    /// Paths of the files whose patches would make the response too large.
    pub remaining: Vec<String>,
}

impl Git {
    /// Returns the patches of files, which are named by their paths with invalid UTF-8 replaced. A rename requires both
    /// paths. Files without a difference are left out.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown commit.
    pub async fn patches(
        &self,
        directory: &Path,
        range: &ChangeRange,
        names: &[String],
        options: PatchOptions,
    ) -> Result<Patches, GitError> {
        let repository = self.repository(directory).await?;
        let mut paths: Vec<Vec<u8>> = names.iter().map(|name| name.clone().into_bytes()).collect();
        if names.iter().any(|name| name.contains(char::REPLACEMENT_CHARACTER)) {
            // The name may replace bytes that are not UTF-8.
            let printed = self.compare(&repository, range, &[], &Pathspec::Patterns(&WORK[1..])).await?;
            let all =
                parse_comparison(&printed).changes.into_iter().flat_map(|file| [Some(file.path), file.from]);
            paths.extend(all.flatten().filter(|path| names.contains(&lossy(path))));
        }
        if paths.is_empty() {
            return Ok(Patches::default());
        }
        let context = format!("--unified={}", options.context);
        let mut arguments = vec!["--patch", context.as_str()];
        arguments.extend(options.ignore_white_space.then_some("--ignore-all-space"));
        let printed = self.compare(&repository, range, &arguments, &Pathspec::Literal(&paths)).await?;
        let output = parse_comparison(&printed);
        Ok(within_limit(file_patches(&output.changes, output.patch)))
    }
}

/// Assigns the sections of a patch to the files, which are in the same order. A file without a difference in its lines may
/// have no section, and a file whose type changed has two.
fn file_patches(changes: &[RawChange], patch: &[u8]) -> Vec<FilePatch> {
    let mut sections = sections(patch).into_iter().peekable();
    let patch_of = |change: &RawChange| {
        let header = header(change);
        let mut patch = String::new();
        while let Some(section) = sections.next_if(|section| section.starts_with(&header)) {
            patch.push_str(&lossy(section));
        }
        FilePatch { path: lossy(&change.path), patch }
    };
    changes.iter().map(patch_of).collect()
}

/// Splits a patch before each header. Lines of files begin with a space, a sign or a backslash, so none is a header.
fn sections(patch: &[u8]) -> Vec<&[u8]> {
    let separator = format!("\n{HEADER}");
    let starts = memchr::memmem::find_iter(patch, separator.as_bytes()).map(|at| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| patch.get(*start..end)).collect()
}

/// Returns the first line of the patch of a file.
fn header(change: &RawChange) -> Vec<u8> {
    let old = change.from.as_ref().unwrap_or(&change.path);
    let names = [quoted_name("a/", old, true), b" ".to_vec(), quoted_name("b/", &change.path, true)].concat();
    [HEADER.as_bytes(), &names, b"\n"].concat()
}

fn within_limit(mut patches: Vec<FilePatch>) -> Patches {
    let mut total = 0;
    let is_within = |file: &FilePatch| {
        total += file.patch.len();
        total <= MAX_TOTAL_BYTES
    };
    let count = patches.iter().map(is_within).take_while(|is_within| *is_within).count().max(1);
    let remaining = patches.split_off(count.min(patches.len()));
    Patches { patches, remaining: remaining.into_iter().map(|file| file.path).collect() }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::comparison::ChangeKind;
    use super::*;

    fn change(path: &str) -> RawChange {
        RawChange {
            path: path.as_bytes().to_vec(),
            from: None,
            kind: ChangeKind::Modified,
            old_mode: None,
            new_mode: None,
            hash: None,
        }
    }

    #[test]
    fn file_without_a_section_does_not_get_that_of_another() {
        let patch = b"diff --git a/b b/b\n@@ -1 +1 @@\n-diff --git a/a b/a\n+x\ndiff --git a/c b/c\nold\ndiff --git a/c b/c\nnew\n";
        let files = file_patches(&[change("a"), change("b"), change("c")], patch);
        assert_eq!(files[0].patch, "");
        assert_eq!(files[1].patch, "diff --git a/b b/b\n@@ -1 +1 @@\n-diff --git a/a b/a\n+x\n");
        assert_eq!(files[2].patch, "diff --git a/c b/c\nold\ndiff --git a/c b/c\nnew\n");
    }

    #[test]
    fn patches_beyond_the_limit_remain() {
        let file = |name: &str, size| FilePatch { path: name.to_owned(), patch: "x".repeat(size) };
        let limited = within_limit(vec![file("a", MAX_TOTAL_BYTES + 1), file("b", 1)]);
        assert_eq!((limited.patches.len(), limited.remaining), (1, vec!["b".to_owned()]));
        let limited = within_limit(vec![file("a", 10), file("b", MAX_TOTAL_BYTES), file("c", 1)]);
        assert_eq!((limited.patches.len(), limited.remaining.len()), (1, 2));
        assert_eq!(within_limit(Vec::new()), Patches::default());
    }
}
