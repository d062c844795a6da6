//! Anything that git, or something in its place, could print, and any name that a caller could
//! give: read without a panic, and never into more than is there.
#![no_main]

use std::path::{Component, Path};

use libfuzzer_sys::fuzz_target;
use loopgate_tools::git::{
    FilePath, SwitchName, is_base_name, is_binary, parse_name_status, parse_refs, parse_status,
    parse_worktrees, ticket_in,
};

fuzz_target!(|printed: &[u8]| {
    let parts = |end: u8| printed.split(move |byte| *byte == end).count();
    let status = parse_status(printed);
    assert!(status.changes.len() <= parts(0));
    let told = status.files();
    let most = status.changes.len();
    for list in [&told.modified, &told.created, &told.deleted, &told.staged] {
        assert!(list.len() <= most);
    }
    let files = parse_name_status(printed);
    assert!(files.modified.len() + files.created.len() + files.deleted.len() <= parts(0));
    let _ = parse_refs(printed);
    for end in [0, b'\n'] {
        assert!(parse_worktrees(printed, end).len() <= parts(end));
    }
    let _ = is_binary(printed);
    let text = String::from_utf8_lossy(printed);
    if let Some(ticket) = ticket_in(&text) {
        assert!(text.contains(ticket));
    }
    if let Some(path) = FilePath::parse(&text) {
        let path: &Path = path.as_path();
        assert!(path.components().all(|part| matches!(part, Component::Normal(_))), "{path:?}");
    }
    for name in SwitchName::of(&text)
        .iter()
        .map(SwitchName::as_str)
        .chain([&*text].into_iter().filter(|_| is_base_name(&text)))
    {
        assert!(!name.starts_with('-') && !name.contains(['\0', ' ', '\n']), "{name:?}");
    }
});
