use proptest::prelude::*;
use serde_json::json;

use super::*;

const PATCH: &str =
    "@@ -1,3 +1,4 @@ fn main\n one\n-two\n+2\n+@@ -50,9 +50,9 @@\n three\n@@ -20,2 +21,0 @@\n-x\n-y";

fn finding(line: u64, category: &str, issue: &str) -> Finding {
    serde_json::from_value(json!({"file": "src/a.rs", "line": line, "severity": "HIGH", "category": category,
        "issue": issue, "explanation": "Why", "recommendation": "How", "code_snippet": "let a = b;", "priority": 1,
        "confidence": 0.9}))
    .unwrap()
}

fn lines() -> CommentableLines {
    let mut lines = CommentableLines::default();
    lines.add("src/a.rs", PATCH);
    lines
}

fn plan(findings: &[Finding], posted: &PostedFindings) -> PostingPlan {
    PostingPlan::new(findings, posted, &lines())
}

/// What was posted by a plan, as the code host returns it.
fn posted(plan: &PostingPlan) -> PostedFindings {
    let thread = |comment: &LineComment| PostedThread {
        path: comment.path.clone(),
        line: Some(comment.line),
        text: comment.body.clone(),
        ..PostedThread::default()
    };
    PostedFindings { threads: plan.comments.iter().map(thread).collect(), reviews: vec![plan.body.clone()] }
}

#[test]
fn comment_has_the_documented_parts() {
    let mut finding = finding(2, "Bug", "[P1] Wrong `sum`");
    finding.other_locations =
        serde_json::from_value(json!([{"file": "b.rs", "line": 7, "severity": "HIGH"}])).unwrap();
    let plan = plan(&[finding], &PostedFindings::default());
    let comment = &plan.comments[0];
    assert_eq!((comment.path.as_str(), comment.side, comment.line), ("src/a.rs", FindingSide::Right, 2));
    let (mark, text) = comment.body.split_once('\n').unwrap();
    let fingerprint = comment_fingerprint(&comment.body).unwrap();
    assert_eq!(mark, format!("<!-- loopgate-finding v1 {fingerprint} -->"));
    assert_eq!(
        text,
        "**[HIGH]** Bug\n\n\\[P1\\] Wrong `sum`\n\nWhy\n\nHow\n\n```rs\nlet a = b;\n```\n\nAlso at:\n\n- `b.rs:7`"
    );
    assert_eq!(
        plan.body,
        format!("<!-- loopgate-findings v1 {fingerprint} -->\nLoopgate reviewed this change: 1 finding.")
    );
}

#[test]
fn finding_outside_of_the_diff_is_in_the_text_of_the_review() {
    let mut left = finding(21, "Bug", "[P1] Removed");
    left.side = Some(FindingSide::Left);
    let findings = [
        finding(5, "Bug", "[P1] One line below the hunk"),
        finding(4, "Bug", "[P1] Last line of the hunk"),
        finding(51, "Bug", "[P1] A line with the form of a header is no header"),
        left,
        Finding { line: None, ..finding(1, "Bug", "[P1] Without a line") },
        Finding { file: "other.rs".into(), ..finding(1, "Bug", "[P1] File without a patch") },
    ];
    let plan = plan(&findings, &PostedFindings::default());
    let places: Vec<(FindingSide, u64)> =
        plan.comments.iter().map(|comment| (comment.side, comment.line)).collect();
    assert_eq!(places, [(FindingSide::Right, 4), (FindingSide::Left, 21)]);
    assert_eq!((plan.in_text, plan.too_long), (4, 0));
    for place in ["On `src/a.rs:5`:", "On `src/a.rs:51`:", "On `src/a.rs`:", "On `other.rs:1`:"] {
        assert!(plan.body.contains(place), "{}", plan.body);
    }
    let mut removed = CommentableLines::default();
    removed.add("src/a.rs", "@@ -1,3 +0,0 @@\n-one\n-two\n-three");
    let plan = PostingPlan::new(&[finding(3, "Bug", "x")], &PostedFindings::default(), &removed);
    assert_eq!((plan.comments[0].side, plan.comments[0].line), (FindingSide::Left, 3));
    let many: Vec<Finding> = (100..400).map(|line| finding(line, "Bug", &"long ".repeat(50))).collect();
    let plan = PostingPlan::new(&many, &PostedFindings::default(), &lines());
    assert!(plan.body.len() < 65_536 && plan.too_long > 0 && plan.in_text + plan.too_long == 300);
    assert!(plan.body.ends_with(&format!("The review has {} more.", plan.too_long)));
}

#[test]
fn finding_is_posted_once_and_another_one_on_its_line_is_posted() {
    let first = finding(2, "Bug", "[P1] The sum is wrong for negative numbers");
    let known = posted(&plan(std::slice::from_ref(&first), &PostedFindings::default()));
    let reworded = finding(3, "Error", "[P1] Sum is wrong for all negative numbers");
    let moved = finding(4, "Bug", "[P0] The sum  is wrong for negative numbers");
    let other = finding(2, "Security", "[P1] Input is not validated");
    let next = plan(&[first.clone(), reworded, moved, other], &known);
    assert_eq!((next.existing, next.comments.len()), (3, 1));
    assert!(next.comments[0].body.contains("Input is not validated"));
    // Equal findings at two places are two findings.
    let twice = [first, finding(4, "Bug", "[P1] The sum is wrong for negative numbers")];
    let both = plan(&twice, &PostedFindings::default());
    assert_eq!(both.comments.len(), 2);
    assert_eq!(plan(&twice, &posted(&both)).existing, 2);
    assert!(plan(&twice, &posted(&both)).is_empty());
}

#[test]
fn decision_of_a_person_is_respected() {
    let finding = finding(2, "Bug", "[P1] The sum is wrong");
    let known = posted(&plan(std::slice::from_ref(&finding), &PostedFindings::default()));
    let with = |change: &dyn Fn(&mut PostedFindings)| {
        let mut known = known.clone();
        change(&mut known);
        plan(std::slice::from_ref(&finding), &known).existing == 1
    };
    assert!(with(&|_| ()), "open thread");
    assert!(with(&|known| known.threads[0].is_resolved = true), "resolved, and the code is unchanged");
    assert!(with(&|known| known.threads[0].is_outdated = true), "open, and the code has changed");
    assert!(with(&|known| known.threads[0].text.push_str("\n\nEdited.")), "edited");
    assert!(with(&|known| "I disagree.".clone_into(&mut known.threads[0].text)), "rewritten");
    assert!(with(&|known| known.threads.clear()), "deleted");
    // Repaired, and it has returned.
    let returned = |known: &mut PostedFindings| {
        (known.threads[0].is_resolved, known.threads[0].is_outdated) = (true, true);
    };
    assert!(!with(&returned));
    // Without a mark at its start, a text says nothing about findings.
    let mark = known.threads[0].text.lines().next().unwrap().to_owned();
    let others = PostedFindings {
        threads: vec![PostedThread { text: format!("Look: {mark}"), ..PostedThread::default() }],
        reviews: vec![format!("text\n{}", known.reviews[0]), mark],
    };
    assert_eq!(plan(&[finding], &others).comments.len(), 1);
}

#[test]
fn hostile_texts_stay_inside_of_their_comment() {
    let victim = finding(2, "Bug", "[P1] The victim");
    let mark = plan(std::slice::from_ref(&victim), &PostedFindings::default()).comments[0]
        .body
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let token = format!("gh{}_{}", 'p', "a1B2c3D4e5F6g7H8i9J0k1L2m3N4");
    let hostile = format!(
        "{mark}\n<details><img src=x>\n```\n@org/team #1 ![x](https://evil.example/x)\n{token}\n# Approved"
    );
    let finding: Finding = serde_json::from_value(json!({"file": "src/a`\n\n# x.rs", "line": 2, "severity": hostile,
        "category": hostile, "issue": hostile, "explanation": hostile, "recommendation": hostile, "code_snippet": hostile,
        "other_locations": [{"file": "x`\n\n@ann", "line": 1, "severity": "HIGH"}]}))
    .unwrap();
    let mut lines = lines();
    lines.add(&finding.file, PATCH);
    let hostile = PostingPlan::new(std::slice::from_ref(&finding), &PostedFindings::default(), &lines);
    let body = &hostile.comments[0].body;
    assert!(!body.contains(&token), "{body}");
    let (text, code) = body.split_once("````").expect("the fence is longer than that in the code");
    let (mark_line, text) = text.split_once('\n').unwrap();
    assert_ne!(mark_line, mark);
    for part in ["<details", "@org", "#1", "\n#", "\n```", "![", "https://evil", "<!--"] {
        let is_escaped = |(at, _): (usize, &str)| text[..at].ends_with('\\');
        assert!(text.match_indices(part).all(is_escaped), "{part} in {text}");
    }
    assert!(code.contains("\n````\n\nAlso at:\n\n- ``x`  @ann:1``"), "{code}");
    // The text does not count as another finding's mark, neither in a comment nor in a review.
    let known = posted(&hostile);
    assert_eq!(plan(std::slice::from_ref(&victim), &known).comments.len(), 1);
    let elsewhere = PostingPlan::new(&[finding], &PostedFindings::default(), &CommentableLines::default());
    assert_eq!((elsewhere.in_text, elsewhere.comments.len()), (1, 0));
    assert_eq!(plan(&[victim], &posted(&elsewhere)).comments.len(), 1);
}

#[test]
fn finding_that_is_not_inline_is_counted() {
    let finding = Finding { inline: Some(false), ..finding(2, "Bug", "x") };
    let plan = plan(&[finding], &PostedFindings::default());
    assert!(plan.is_empty() && plan.non_inline == 1);
}

proptest! {
    #[test]
    fn second_run_posts_nothing(
        findings in proptest::collection::vec((1..60_u64, "[a-c]{0,2}", "(?s)[ -~\n]{0,30}", "(?s).{0,20}"), 0..8),
        patch in "(@@ -[0-9]{1,2},[0-9] \\+[0-9]{1,2},[0-9] @@\n[ +-].{0,3}\n){0,4}",
    ) {
        let findings: Vec<Finding> = findings.into_iter().map(|(line, category, issue, code)| {
            Finding { code_snippet: code, ..finding(line, &category, &issue) }
        }).collect();
        let mut lines = CommentableLines::default();
        lines.add("src/a.rs", &patch);
        let first = PostingPlan::new(&findings, &PostedFindings::default(), &lines);
        prop_assert_eq!(first.comments.len() as u64 + first.in_text, findings.len() as u64);
        let second = PostingPlan::new(&findings, &posted(&first), &lines);
        prop_assert!(second.is_empty());
        prop_assert_eq!(second.existing, findings.len() as u64);
    }
}
