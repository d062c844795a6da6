//! Comments about findings on a pull request: their texts, and which of them are new.
//!
//! A hidden mark at the start of a comment identifies its finding. It does not depend on the line, so that a finding is
//! recognized after the lines above it have changed, and another finding on the same line is a different one. Texts of
//! findings cannot contain a mark, because they never begin a comment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use loopgate_api::markdown::{code_block, code_span, plain_text};
use loopgate_api::redact;
use loopgate_api::word_similarity::NormalizedText;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::diff::{HUNK_HEADER, hunk_header};
use crate::finding::{Finding, FindingSide};
use crate::validation::{MAX_DISTANCE, SAME_ISSUE};

const COMMENT_MARK: &str = "<!-- loopgate-finding v1 ";
const REVIEW_MARK: &str = "<!-- loopgate-findings v1 ";
const MARK_END: &str = " -->";
/// Hexadecimal digits of a fingerprint, 128 bits.
const FINGERPRINT: usize = 32;
/// Largest lengths in characters. The code host accepts 65,536 bytes.
const MAX_TITLE: usize = 300;
const MAX_TEXT: usize = 4000;
const MAX_REVIEW: usize = 50_000;
/// Further locations that a comment lists.
const MAX_LOCATIONS: usize = 20;

/// Content of `code-review-findings.json`, in which a review hands over its findings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingsToPost {
    /// Version of the format, 1.
    pub schema_version: u64,
    /// Number of the pull request.
    pub pr_number: Option<u64>,
    /// The reviewed commit.
    pub head_sha: Option<String>,
    /// Validated findings.
    pub findings: Vec<Finding>,
}

/// Content of `code-review-threads.json`, in which a review hands over the threads that no longer apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadsToResolve {
    /// Version of the format, 1.
    pub schema_version: u64,
    /// Number of the pull request.
    pub pr_number: Option<u64>,
    /// Ids of the threads.
    pub outdated_thread_ids: Vec<String>,
}

/// What the own account has posted on a pull request. Texts of others do not count: they could hide a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostedFindings {
    /// Threads that a comment of the account began.
    pub threads: Vec<PostedThread>,
    /// Texts of its reviews.
    pub reviews: Vec<String>,
}

/// A thread on a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostedThread {
    /// Path of the file.
    pub path: String,
    /// Line when the comment was written.
    pub line: Option<u64>,
    /// Whether a person or a program has resolved it.
    pub is_resolved: bool,
    /// Whether the line has changed since.
    pub is_outdated: bool,
    /// Text of the first comment.
    pub text: String,
}

impl PostedThread {
    /// Returns whether the finding may be reported again: its code has changed and the thread is resolved, so that the
    /// defect was repaired and has returned. Any other thread is open, or a person has decided against the finding.
    const fn may_return(&self) -> bool {
        self.is_resolved && self.is_outdated
    }

    /// Returns whether the thread is about the same defect in other words.
    fn is_similar(&self, finding: &Finding) -> bool {
        let is_near = match (self.line, finding.line) {
            (Some(one), Some(other)) => one.abs_diff(other) <= MAX_DISTANCE,
            (one, other) => one == other,
        };
        let issue = self.text.split("\n\n").nth(1).unwrap_or_default();
        let similarity = |one: &str, other: &str| {
            NormalizedText::new(one).words().similarity(&NormalizedText::new(other).words())
        };
        self.path == finding.file && is_near && similarity(issue, &finding.issue) > SAME_ISSUE
    }
}

/// Returns whether a comment begins with the mark of a finding.
#[must_use]
pub fn is_about_finding(comment: &str) -> bool {
    comment_fingerprint(comment).is_some()
}

/// The lines of a pull request's files that can have comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentableLines(BTreeMap<String, Vec<(FindingSide, u64, u64)>>);

impl CommentableLines {
    /// Adds the hunks of a file's patch, without the header of the file.
    pub fn add(&mut self, path: &str, patch: &str) {
        let ranges = self.0.entry(path.to_owned()).or_default();
        // Lines of the file begin with a sign or a space.
        let headers = patch.lines().map(str::as_bytes).filter(|line| line.starts_with(HUNK_HEADER));
        for (old, new) in headers.filter_map(hunk_header) {
            let sides = [(FindingSide::Left, old), (FindingSide::Right, new)];
            let with_lines = sides.into_iter().filter(|(_, (_, count))| *count > 0);
            ranges.extend(with_lines.map(|(side, (first, count))| (side, first, first + count - 1)));
        }
    }

    /// Returns the side and line at which a finding is posted; `None` if the diff does not contain its line.
    fn place(&self, finding: &Finding) -> Option<(FindingSide, u64)> {
        let (line, ranges) = (finding.line?, self.0.get(&finding.file)?);
        // Lines of a removed file count in the old one.
        let is_removed = ranges.iter().all(|(side, _, _)| *side == FindingSide::Left);
        let side = finding.side.unwrap_or(if is_removed { FindingSide::Left } else { FindingSide::Right });
        let contains = |(other, first, last): &(FindingSide, u64, u64)| {
            *other == side && (*first..=*last).contains(&line)
        };
        ranges.iter().any(contains).then_some((side, line))
    }
}

/// A comment to post on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineComment {
    /// Path of the file.
    pub path: String,
    /// File that the line counts in.
    pub side: FindingSide,
    /// Line, from 1.
    pub line: u64,
    /// Text in Markdown.
    pub body: String,
}

/// What is to be posted, in one review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostingPlan {
    /// Text of the review, with the findings whose lines the diff does not contain.
    pub body: String,
    /// Comments on lines.
    pub comments: Vec<LineComment>,
    /// Number of findings in the text.
    pub in_text: u64,
    /// Number of findings that are not posted at a line because they say so.
    pub non_inline: u64,
    /// Number of findings that were posted before.
    pub existing: u64,
    /// Number of findings for which the text of the review has no space.
    pub too_long: u64,
}

impl PostingPlan {
    /// Selects the findings to post and writes their texts.
    #[must_use]
    pub fn new(findings: &[Finding], posted: &PostedFindings, lines: &CommentableLines) -> Self {
        let mut plan = Self::default();
        let known = KnownFindings::new(posted);
        let (mut fingerprints, mut texts) = (Vec::new(), String::new());
        for (finding, fingerprint) in with_fingerprints(findings) {
            if finding.inline == Some(false) {
                plan.non_inline += 1;
                continue;
            }
            if known.contains(finding, &fingerprint) {
                plan.existing += 1;
                continue;
            }
            let body = body(finding);
            if let Some((side, line)) = lines.place(finding) {
                let body = format!("{COMMENT_MARK}{fingerprint}{MARK_END}\n{body}");
                plan.comments.push(LineComment { path: finding.file.clone(), side, line, body });
            } else {
                let text = format!("\n\n---\n\nOn {}:\n\n{body}", place(&finding.file, finding.line));
                if texts.len() + text.len() > MAX_REVIEW {
                    plan.too_long += 1;
                    continue;
                }
                texts.push_str(&text);
                plan.in_text += 1;
            }
            fingerprints.push(fingerprint);
        }
        if !fingerprints.is_empty() {
            let count = match fingerprints.len() {
                1 => "1 finding".to_owned(),
                count => format!("{count} findings"),
            };
            plan.body = format!(
                "{REVIEW_MARK}{}{MARK_END}\nLoopgate reviewed this change: {count}.{texts}",
                fingerprints.join(" ")
            );
            if plan.too_long > 0 {
                let _ = write!(plan.body, "\n\n---\n\nThe review has {} more.", plan.too_long);
            }
        }
        plan
    }

    /// Returns whether there is nothing to post.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.body.is_empty()
    }
}

/// Findings that were posted before, by fingerprint.
struct KnownFindings<'a> {
    threads: &'a [PostedThread],
    by_fingerprint: BTreeMap<&'a str, Vec<&'a PostedThread>>,
    /// Fingerprints in the texts of reviews, which remain when a comment was deleted or its mark was removed.
    in_reviews: BTreeSet<&'a str>,
}

impl<'a> KnownFindings<'a> {
    fn new(posted: &'a PostedFindings) -> Self {
        let mut by_fingerprint: BTreeMap<&str, Vec<&PostedThread>> = BTreeMap::new();
        for thread in &posted.threads {
            if let Some(fingerprint) = comment_fingerprint(&thread.text) {
                by_fingerprint.entry(fingerprint).or_default().push(thread);
            }
        }
        let in_reviews = posted.reviews.iter().flat_map(|text| review_fingerprints(text)).collect();
        Self { threads: &posted.threads, by_fingerprint, in_reviews }
    }

    fn contains(&self, finding: &Finding, fingerprint: &str) -> bool {
        let same = self.by_fingerprint.get(fingerprint);
        let is_decided = |threads: &Vec<&PostedThread>| threads.iter().any(|thread| !thread.may_return());
        same.map_or_else(|| self.in_reviews.contains(fingerprint), is_decided)
            || self.threads.iter().any(|thread| !thread.may_return() && thread.is_similar(finding))
    }
}

fn comment_fingerprint(comment: &str) -> Option<&str> {
    let (fingerprint, _) = comment.strip_prefix(COMMENT_MARK)?.split_once(MARK_END)?;
    is_fingerprint(fingerprint).then_some(fingerprint)
}

fn review_fingerprints(review: &str) -> impl Iterator<Item = &str> {
    let mark = review.strip_prefix(REVIEW_MARK).and_then(|text| text.split_once(MARK_END));
    let list = mark.map_or("", |(list, _)| list);
    list.split(' ').filter(|fingerprint| is_fingerprint(fingerprint))
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == FINGERPRINT && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the findings with their fingerprints: the hash of file, category, issue and quoted code. Of several equal
/// findings in a file, all but the first have their number in it.
fn with_fingerprints(findings: &[Finding]) -> impl Iterator<Item = (&Finding, String)> {
    let mut counts: BTreeMap<[String; 4], u32> = BTreeMap::new();
    findings.iter().map(move |finding| {
        let normalized = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let key = [
            finding.file.clone(),
            normalized(&finding.category),
            normalized(title(finding)),
            normalized(&finding.code_snippet),
        ];
        let mut hash = Sha256::new();
        for part in &key {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let count = counts.entry(key).or_default();
        hash.update(count.to_be_bytes());
        *count += 1;
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (finding, digits[..FINGERPRINT].to_owned())
    })
}

/// Returns the issue without its priority, which may differ between reviews.
fn title(finding: &Finding) -> &str {
    let issue = finding.issue.trim();
    let without = issue.strip_prefix("[P").and_then(|rest| rest.split_once(']'));
    without.filter(|(priority, _)| priority.len() == 1).map_or(issue, |(_, title)| title.trim())
}

/// Returns the text of a comment, after the mark.
fn body(finding: &Finding) -> String {
    let text = |text: &str, max| plain_text(&redact::shorten(redact::credentials(text).trim(), max));
    let line = |value: &str| text(value, MAX_TITLE).replace('\n', " ");
    let severity = String::from(finding.severity.clone());
    let mut parts =
        vec![format!("**[{}]** {}", line(&severity), line(&finding.category)), line(&finding.issue)];
    parts.push(text(&finding.explanation, MAX_TEXT));
    parts.push(text(&finding.recommendation, MAX_TEXT));
    if !finding.code_snippet.trim().is_empty() {
        let code = redact::shorten(&redact::credentials(&finding.code_snippet), MAX_TEXT);
        let extension = finding.file.rsplit_once('.').map_or("", |(_, extension)| extension);
        parts.push(code_block(code.trim_end(), extension));
    }
    if !finding.other_locations.is_empty() {
        let places = finding.other_locations.iter().take(MAX_LOCATIONS);
        let mut list: Vec<String> =
            places.map(|other| format!("- {}", place(&other.file, other.line))).collect();
        if finding.other_locations.len() > MAX_LOCATIONS {
            list.push(format!("- {} more", finding.other_locations.len() - MAX_LOCATIONS));
        }
        parts.push(format!("Also at:\n\n{}", list.join("\n")));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn place(path: &str, line: Option<u64>) -> String {
    let path = redact::credentials(path);
    code_span(&line.map_or_else(|| path.clone(), |line| format!("{path}:{line}")))
}

#[cfg(test)]
mod tests;
