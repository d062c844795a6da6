//! The files that a pull request changes.

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::{CodeHost, CodeHostError, PullNumber};

/// Prints each file as one JSON object, reduced to the members of [`ChangedFile`].
const PROJECTION: &str = ".[] | {filename, additions, deletions, status, previous_filename}";

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChangedFile {
    /// Path relative to the root of the repository.
    pub filename: String,
    /// Number of added lines.
    pub additions: u64,
    /// Number of deleted lines.
    pub deletions: u64,
    /// Kind of the change as named by the host: `added`, `modified`, `removed`, `renamed`, …
    pub status: Option<String>,
    /// Path before a rename.
    pub previous_filename: Option<String>,
}

impl CodeHost {
    /// Returns the files that a pull request changes, from all pages, in the host's order.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also when an entry is invalid.
    pub async fn pull_request_files(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<Vec<ChangedFile>, CodeHostError> {
        let path = format!("repos/{repository}/pulls/{number}/files");
        let output = self.query(&["api", &path, "--paginate", "--jq", PROJECTION]).await?;
        parse_files(&output.stdout_text())
    }
}

/// Parses one JSON object per file.
///
/// # Errors
/// Fails with [`CodeHostError::Unreadable`] when an entry lacks a member or has a member of the wrong type.
pub fn parse_files(printed: &str) -> Result<Vec<ChangedFile>, CodeHostError> {
    let rows = serde_json::Deserializer::from_str(printed).into_iter();
    rows.collect::<Result<_, _>>().map_err(|_| CodeHostError::Unreadable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn one_invalid_row_fails_the_list() {
        let good = r#"{"filename":"a","additions":3,"deletions":1,"status":null,"previous_filename":null}"#;
        let renamed =
            r#"{"filename":"b","additions":0,"deletions":0,"status":"renamed","previous_filename":"c"}"#;
        let files = parse_files(&format!("{good}\n{renamed}\n")).unwrap();
        assert_eq!((files[0].additions, files[0].previous_filename.as_deref()), (3, None));
        assert_eq!(files[1].previous_filename.as_deref(), Some("c"));
        assert!(parse_files("").unwrap().is_empty());
        for bad in [
            r#"{"filename":"a","deletions":1}"#,
            r#"{"filename":"a","additions":null,"deletions":1}"#,
            r#"{"filename":7,"additions":1,"deletions":1}"#,
            r#"{"filename":"a","additions":1,"deletions":1,"status":7}"#,
            "{",
            "null",
        ] {
            assert!(parse_files(&format!("{good}\n{bad}")).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_name_survives(names in prop::collection::vec(".{0,30}", 0..20)) {
            let line = |name: &String| {
                json!({"filename": name, "additions": 1, "deletions": 2}).to_string()
            };
            let printed: Vec<_> = names.iter().map(line).collect();
            let files = parse_files(&printed.join("\n")).unwrap();
            prop_assert_eq!(files.into_iter().map(|file| file.filename).collect::<Vec<_>>(), names);
        }
    }
}
