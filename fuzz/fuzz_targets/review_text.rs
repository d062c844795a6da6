//! Arbitrary output of a reviewer: the parser never panics, and findings are complete.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loopgate_review::{compare_findings, findings_in, parse_verdict};

fuzz_target!(|output: &[u8]| {
    let text = &*String::from_utf8_lossy(output);
    if let Some(verdict) = parse_verdict(text) {
        assert!(!verdict.reason.trim().is_empty());
    }
    let findings = findings_in(text, Path::new("/worktree")).unwrap_or_default();
    for finding in &findings {
        assert!(["critical", "high", "medium", "low"].contains(&finding.severity.as_str()));
        assert!(finding.file.as_ref().is_none_or(|file| !file.is_empty()));
    }
    // Comparing findings with themselves must not count any of them twice.
    let duplicates = compare_findings(&findings, &findings).duplicates;
    assert!(duplicates.len() <= findings.len());
});
