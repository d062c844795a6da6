//! Arbitrary output of git, or of a program that replaces it, and arbitrary names from a caller: parsers
//! never panic, and never return more entries than the input has.
#![no_main]

use std::path::{Component, Path};

use libfuzzer_sys::fuzz_target;
use loopgate_tools::git::{
    FilePath, SwitchName, is_base_name, is_binary, parse_name_status, parse_refs, parse_status,
    parse_worktrees, ticket_in,
};

fuzz_target!(|output: &[u8]| {
    // Each parsed entry needs at least one terminated field of the input.
    let parts = |end: u8| output.split(move |byte| *byte == end).count();
    let status = parse_status(output);
    assert!(status.changes.len() <= parts(0));
    let by_kind = status.files();
    let max = status.changes.len();
    for list in [&by_kind.modified, &by_kind.created, &by_kind.deleted, &by_kind.staged] {
        assert!(list.len() <= max);
    }
    let files = parse_name_status(output);
    assert!(files.modified.len() + files.created.len() + files.deleted.len() <= parts(0));
    let _ = parse_refs(output, "origin");
    for end in [0, b'\n'] {
        assert!(parse_worktrees(output, end).len() <= parts(end));
    }
    let _ = is_binary(output);
    let text = String::from_utf8_lossy(output);
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
