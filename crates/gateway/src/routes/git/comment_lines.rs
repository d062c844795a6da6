//! Lines of comments in a comparison: what identifies a line, and where it is now.

use std::collections::BTreeMap;
use std::path::Path;

use loopgate_api::review::LineAnchor;
use loopgate_api::review_comments::CommentSide;
use loopgate_review::SourceLines;
use loopgate_tools::git::{ChangeRange, FileDiff, FileDiffError, FilePath};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;

/// A line to identify, or to find again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"path": "README.md", "side": "new", "line": 1}))]
pub(crate) struct RequestedLine {
    /// Path of the file, as the list has it.
    path: String,
    /// Path of a renamed file before the change.
    #[serde(default)]
    old_path: Option<String>,
    side: CommentSide,
    /// Number of the line, from 1.
    line: u64,
    /// What identified the line earlier; absent for a line that is displayed now.
    #[serde(default)]
    anchor: Option<LineAnchor>,
}

/// Where a line is now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"line": 1, "outdated": false, "anchor": {"line": 1, "before": [], "text": "# The shop", "after": []}}))]
pub(crate) struct LocatedLine {
    /// Number of the line in the comparison.
    line: u64,
    /// Whether the file no longer contains the line.
    outdated: bool,
    /// What identifies the line; absent if there is no such line, or for one whose anchor the request contained.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<LineAnchor>,
}

/// A requested line with its position in the request.
type PositionedLine = (usize, RequestedLine);

/// Finds lines in both sides of a comparison. Each file is read once. A file that cannot be read leaves its lines where
/// they were.
pub(super) async fn locate(
    app: &App,
    worktree: &Path,
    range: &ChangeRange,
    lines: Vec<RequestedLine>,
) -> Vec<LocatedLine> {
    let mut by_file: BTreeMap<(String, Option<String>), Vec<PositionedLine>> = BTreeMap::new();
    for (position, line) in lines.into_iter().enumerate() {
        by_file.entry((line.path.clone(), line.old_path.clone())).or_default().push((position, line));
    }
    let mut located = Vec::new();
    for ((path, old_path), lines) in by_file {
        let sides = match (FilePath::parse(old_path.as_ref().unwrap_or(&path)), FilePath::parse(&path)) {
            (Some(old), Some(new)) => app.git.compared_file(worktree, range, &old, &new).await,
            _ => Ok(FileDiff::default()),
        };
        // Indexing megabytes of lines would block a request thread.
        let found = tokio::task::spawn_blocking(move || find(&sides, lines));
        located.extend(found.await.unwrap_or_default());
    }
    located.sort_by_key(|(position, _)| *position);
    located.into_iter().map(|(_, line)| line).collect()
}

fn find(sides: &Result<FileDiff, FileDiffError>, lines: Vec<PositionedLine>) -> Vec<(usize, LocatedLine)> {
    let text = |side: Option<&Vec<u8>>| side.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let (old, new) = match sides {
        Ok(sides) => (text(sides.old.as_ref()), text(sides.new.as_ref())),
        Err(_) => {
            let same = |(position, line): PositionedLine| {
                (position, LocatedLine { line: line.line, outdated: false, anchor: None })
            };
            return lines.into_iter().map(same).collect();
        }
    };
    let (old, new) = (old.as_deref().map(SourceLines::new), new.as_deref().map(SourceLines::new));
    let found = |(position, requested): PositionedLine| {
        let content = match requested.side {
            CommentSide::Old => old.as_ref(),
            CommentSide::New => new.as_ref(),
        };
        let located = match requested.anchor {
            Some(anchor) => {
                let line = content.and_then(|content| content.find(&anchor));
                LocatedLine { line: line.unwrap_or(requested.line), outdated: line.is_none(), anchor: None }
            }
            None => {
                let anchor = content.and_then(|content| content.anchor(requested.line));
                LocatedLine { line: requested.line, outdated: false, anchor }
            }
        };
        (position, located)
    };
    lines.into_iter().map(found).collect()
}
