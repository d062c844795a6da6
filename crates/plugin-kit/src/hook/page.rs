//! Pages of the plugin's commands.
//!
//! The assistant inserts what the user typed into a page before a shell runs the page's block, and no quotation in the
//! page is safe for every text. So the blocks contain no arguments: the hook receives them as JSON, prepares the command
//! before the page is expanded, and stores what the block prints.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use loopgate_home::default_data_dir;
use loopgate_home::files::write_private;
use serde_json::{Value, json};

use super::ABANDONED_AFTER;
use super::input::{HookInput, is_name};
use crate::setup::{self, SetupInput};
use crate::variables as var;
use crate::{clock, plan};

/// Directory of the stored texts in the data directory; each is named by its session.
const PAGES: &str = "pages";
/// Reason why a page has no text.
const NOT_PREPARED: &str = "Error: the hooks of the plugin `code` did not run, and without them a loop is not guarded. \
    Remove `disableAllHooks` from the settings of the assistant, or update the assistant; then type the command again.";

/// Prepares a command. Returns an answer only to stop the assistant, with the reason.
pub fn prepare(input: &HookInput) -> Option<Value> {
    let plugin_root = var::text(var::PLUGIN_ROOT).map(PathBuf::from);
    let prepared = match input.command_name.as_str() {
        "code:code" => {
            let setup = SetupInput {
                project: input.project(),
                plugin_root: plugin_root.as_deref(),
                session: Some(&input.session_id).filter(|id| is_name(id)).map(String::as_str),
            };
            setup::prepare_command(&setup, &input.command_args)
        }
        "code:amend-plan" => plan::prepare_amendment(&input.command_args, input.project()),
        _ => return None,
    };
    let stored = prepared.and_then(|text| {
        let data_dir = default_data_dir().map_err(|error| format!("Error: {error}"))?;
        store(&data_dir.join(PAGES), &input.session_id, &text)
    });
    stored.err().map(|reason| json!({"continue": false, "stopReason": reason}))
}

/// Returns the text that was prepared for this session, once.
///
/// # Errors
/// Returns the line to print.
pub fn take() -> Result<String, String> {
    let data_dir = default_data_dir().map_err(|error| format!("Error: {error}"))?;
    let session = var::text(var::ASSISTANT_SESSION).filter(|session| is_name(session));
    take_from(&data_dir.join(PAGES), &session.unwrap_or_default()).ok_or_else(|| NOT_PREPARED.to_owned())
}

fn store(pages: &Path, session: &str, text: &str) -> Result<(), String> {
    if !is_name(session) {
        return Err("Error: the assistant did not pass the id of its session".to_owned());
    }
    remove_abandoned(pages);
    write_private(&page(pages, session), text.as_bytes())
        .map_err(|error| format!("Error: cannot store the command's text: {error}"))
}

fn take_from(pages: &Path, session: &str) -> Option<String> {
    let path = page(pages, session);
    let text = std::fs::read_to_string(&path).ok()?;
    // A second command whose hook did not run must not get the text of the first.
    std::fs::remove_file(&path).ok()?;
    Some(text)
}

/// Deletes texts that no block has taken, for instance because the user's policy does not allow shell blocks.
fn remove_abandoned(pages: &Path) {
    for entry in std::fs::read_dir(pages).into_iter().flatten().flatten() {
        let modified =
            entry.metadata().and_then(|file| file.modified()).unwrap_or_else(|_| SystemTime::now());
        if clock::age(modified) > ABANDONED_AFTER {
            // Best-effort: the next command tries again.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn page(pages: &Path, session: &str) -> PathBuf {
    pages.join(format!("{session}.md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_returned_once_and_only_to_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let pages = dir.path().join(PAGES);
        store(&pages, "a", "prompt").unwrap();
        assert_eq!(take_from(&pages, "b"), None);
        assert_eq!(take_from(&pages, "a").as_deref(), Some("prompt"));
        assert_eq!(take_from(&pages, "a"), None);
        assert!(store(&pages, "../a", "prompt").is_err());
    }

    #[test]
    fn abandoned_texts_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let pages = dir.path().join(PAGES);
        store(&pages, "old", "prompt").unwrap();
        let file = std::fs::File::options().write(true).open(page(&pages, "old")).unwrap();
        file.set_modified(SystemTime::now() - 2 * ABANDONED_AFTER).unwrap();
        store(&pages, "new", "prompt").unwrap();
        assert_eq!((take_from(&pages, "old"), take_from(&pages, "new").is_some()), (None, true));
    }
}
