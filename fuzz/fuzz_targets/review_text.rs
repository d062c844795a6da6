//! Anything that a reviewer could print: read without a panic, and into findings that are complete.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loopgate_review::{compare_findings, findings_in, parse_verdict};

fuzz_target!(|printed: &[u8]| {
    let text = &*String::from_utf8_lossy(printed);
    if let Some(verdict) = parse_verdict(text) {
        assert!(!verdict.reason.trim().is_empty());
    }
    let findings = findings_in(text, Path::new("/worktree")).unwrap_or_default();
    for finding in &findings {
        assert!(["critical", "high", "medium", "low"].contains(&finding.severity.as_str()));
        assert!(finding.file.as_ref().is_none_or(|file| !file.is_empty()));
    }
    let same = compare_findings(&findings, &findings).duplicates;
    assert!(same.len() <= findings.len());
});
