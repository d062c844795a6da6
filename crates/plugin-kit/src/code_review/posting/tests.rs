//! Posting with the real program of the code host against a host on a socket.

use std::path::Path;

use clap::Parser;
use loopgate_testkit::code_host::{Call, HostFault, TestCodeHost};
use loopgate_testkit::git::{GitRemotes, git};
use loopgate_testkit::home::UserHome;
use loopgate_tools::login_path::LoginPath;
use serde_json::{Value, json};

use super::*;

const SHOP: &str = "acme/shop";
const REVIEWS: &str = "/repos/acme/shop/pulls/1/reviews";

/// A pull request that adds `src/cart.rs` with six lines and changes the third line of `README.md`.
struct PullRequestFixture {
    host: TestCodeHost,
    client: CodeHost,
    head: String,
    _remotes: GitRemotes,
    _home: UserHome,
}

#[derive(Debug, Parser)]
struct PostingCli {
    #[command(flatten)]
    target: PostingTarget,
}

fn target(args: &[&str]) -> PostingTarget {
    let start = ["post", "--repo", SHOP];
    PostingCli::try_parse_from(start.iter().chain(args)).unwrap().target
}

impl PullRequestFixture {
    async fn new() -> Self {
        let remotes = GitRemotes::temporary().unwrap();
        let text: String = (1..30).map(|line| format!("line {line}\n")).collect();
        remotes.create(SHOP, &[("README.md", &text)]).unwrap();
        let host = TestCodeHost::start(&remotes).await.unwrap();
        host.add_repository(SHOP).unwrap();
        let mut home = UserHome::temporary().unwrap();
        home.reach_remotes(&remotes).unwrap().reach_code_host(&host).unwrap();
        let clone = home.path().join("clone");
        git(home.path(), &["clone", "--quiet", &remotes.bare(SHOP).display().to_string(), "clone"]).unwrap();
        std::fs::create_dir(clone.join("src")).unwrap();
        std::fs::write(clone.join("src/cart.rs"), "1\n2\n3\n4\n5\n6\n").unwrap();
        std::fs::write(clone.join("README.md"), text.replace("line 3\n", "line three\n")).unwrap();
        for args in [
            ["checkout", "--quiet", "-b", "cart"].as_slice(),
            &["add", "."],
            &["commit", "--quiet", "-m", "Add a cart"],
            &["push", "--quiet", "origin", "cart"],
        ] {
            git(&clone, args).unwrap();
        }
        assert_eq!(host.open(SHOP, "cart", "Cart"), Some(1));
        let head = remotes.branches(SHOP).unwrap()["cart"].clone();
        let settings = SettingsStore::open(&home.path().join("settings.toml"), Overrides::default()).unwrap();
        let settings = Arc::new(settings);
        let login_path = LoginPath::new("/bin/sh".into(), home.environment().clone());
        let programs = Arc::new(Programs::with_login_path(settings.clone(), login_path));
        let git = Git::new(programs.clone(), Arc::new(Sandbox::new(settings, Path::new("/nonexistent"))));
        Self { host, client: CodeHost::new(programs, git), head, _remotes: remotes, _home: home }
    }

    async fn post(&self, findings: &[Value], args: &[&str]) -> PostingReport {
        let findings =
            json!({"schema_version": 1, "pr_number": 1, "head_sha": self.head, "findings": findings});
        let findings: FindingsToPost = serde_json::from_value(findings).unwrap();
        let target = target(args);
        let (repository, number) = target.pull_request(findings.pr_number).unwrap();
        post(&self.client, &repository, number, &findings, &target).await
    }

    async fn resolve(&self, ids: &[&str], args: &[&str]) -> ResolutionReport {
        let target = target(args);
        let (repository, number) = target.pull_request(Some(1)).unwrap();
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        resolve(&self.client, &repository, number, &ids, &target).await
    }

    /// Requests that change the host.
    fn writes(&self) -> usize {
        let is_write = |call: &&Call| {
            call.method == "POST"
                && (!call.what.starts_with("graphql") || call.what.contains("ResolveThread"))
        };
        self.host.calls().iter().filter(is_write).count()
    }

    /// Texts of the comments on lines, with their places and the fault of having none.
    fn comments(&self) -> Vec<(u64, String, Option<u64>, String)> {
        let pull = self.host.pull_requests(SHOP).remove(0);
        pull.inline.iter().map(|one| (one.id, one.path.clone(), one.line, one.body.clone())).collect()
    }

    fn fail(&self, status: u16, times: u32, message: &str) -> HostFault {
        HostFault { on: REVIEWS.to_owned(), status, message: message.to_owned(), times: Some(times) }
    }
}

fn finding(file: &str, line: u64, category: &str, issue: &str) -> Value {
    json!({"file": file, "line": line, "severity": "HIGH", "category": category, "issue": issue,
        "recommendation": "Handle it.", "code_snippet": "x", "priority": 1, "confidence": 0.9})
}

fn counts(report: &PostingReport) -> [u64; 4] {
    [report.posted, report.posted_in_text, report.skipped_existing, report.failed]
}

// PR-25, PR-B17
#[tokio::test]
async fn new_findings_are_posted_in_one_review() {
    let fixture = PullRequestFixture::new().await;
    let mut hidden = finding("src/cart.rs", 4, "Style", "[P2] In the summary only");
    hidden["inline"] = json!(false);
    let findings = [
        finding("src/cart.rs", 2, "Bug", "[P1] The sum is wrong"),
        finding("README.md", 3, "Docs", "[P1] The third line is outdated"),
        finding("README.md", 25, "Docs", "[P1] Far from the change"),
        hidden,
    ];
    let planned = fixture.post(&findings, &["--dry-run"]).await;
    assert_eq!((counts(&planned), planned.skipped_non_inline), ([2, 1, 0, 0], 1));
    assert_eq!(fixture.writes(), 0, "a dry run changes nothing");
    let report = fixture.post(&findings, &[]).await;
    assert_eq!((counts(&report), fixture.writes()), ([2, 1, 0, 0], 1));
    // The dry run has printed what was sent, and the host has received it.
    let request = planned.request.unwrap();
    assert_eq!(Some(&request), report.request.as_ref());
    let body = request.body.unwrap();
    assert_eq!((request.method, format!("/{}", request.path).as_str()), ("POST", REVIEWS));
    assert_eq!((&body["commit_id"], &body["event"]), (&json!(fixture.head), &json!("COMMENT")));
    let pull = fixture.host.pull_requests(SHOP).remove(0);
    assert_eq!(body["body"], pull.reviews[0].body.as_str());
    assert!(pull.reviews[0].body.contains("On `README.md:25`:"), "{}", pull.reviews[0].body);
    let sent: Vec<Value> = fixture
        .comments()
        .into_iter()
        .map(|(_, path, line, body)| json!({"path": path, "line": line, "side": "RIGHT", "body": body}))
        .collect();
    assert_eq!(body["comments"], json!(sent));
    // A second run posts the new finding on the same line, and nothing else.
    let again = fixture.post(&findings, &[]).await;
    assert_eq!((counts(&again), fixture.writes()), ([0, 0, 3, 0], 1));
    let other = finding("src/cart.rs", 2, "Security", "[P0] Input of the user is trusted");
    let more: Vec<Value> = findings.iter().cloned().chain([other]).collect();
    let report = fixture.post(&more, &[]).await;
    assert_eq!((counts(&report), fixture.writes()), ([1, 0, 3, 0], 2));
}

// PR-B17
#[tokio::test]
async fn edited_answered_and_resolved_threads_are_respected() {
    let fixture = PullRequestFixture::new().await;
    let findings: Vec<Value> = (1..=4)
        .map(|line| {
            finding(
                "src/cart.rs",
                line,
                &format!("Kind {line}"),
                &format!("[P1] Defect number {line} of the cart"),
            )
        })
        .collect();
    // Different words, so that the findings are not similar.
    let findings: Vec<Value> = findings
        .into_iter()
        .zip(["alpha beta", "gamma delta", "epsilon zeta", "eta theta"])
        .map(|(mut finding, words)| {
            finding["issue"] = json!(format!("[P1] {words}"));
            finding
        })
        .collect();
    assert_eq!(counts(&fixture.post(&findings, &[]).await), [4, 0, 0, 0]);
    let ids: Vec<u64> = fixture.comments().iter().map(|(id, ..)| *id).collect();
    fixture.host.edit_line_comment(SHOP, 1, ids[0], "Not a defect, see the specification.");
    fixture.host.resolve(SHOP, 1, ids[1]);
    fixture.host.resolve(SHOP, 1, ids[2]);
    fixture.host.mark_outdated(SHOP, 1, ids[2]);
    assert_eq!(counts(&fixture.post(&findings, &["--dry-run"]).await), [1, 0, 3, 0]);
    let report = fixture.post(&findings, &[]).await;
    assert_eq!(counts(&report), [1, 0, 3, 0]);
    assert!(fixture.comments()[4].3.contains("epsilon zeta"), "only the repaired defect may return");
    // A comment of another account hides no finding.
    let other = finding("src/cart.rs", 6, "Kind", "[P1] iota kappa");
    let body =
        fixture.post(std::slice::from_ref(&other), &["--dry-run"]).await.request.unwrap().body.unwrap();
    let copied = body["comments"][0]["body"].as_str().unwrap();
    fixture.host.comment_line(SHOP, 1, "mallory", ("src/cart.rs", 6), copied).unwrap();
    fixture.host.review(SHOP, 1, "mallory", "COMMENTED", body["body"].as_str().unwrap()).unwrap();
    assert_eq!(counts(&fixture.post(&[other], &[]).await), [1, 0, 0, 0]);
}

#[tokio::test]
async fn rate_limits_are_waited_out_within_the_bound() {
    let fixture = PullRequestFixture::new().await;
    let findings = [finding("src/cart.rs", 2, "Bug", "[P1] The sum is wrong")];
    let limited = fixture.fail(403, 1, "You have exceeded a secondary rate limit");
    fixture.host.fail_with_header(limited.clone(), "retry-after", "1");
    fixture.host.fail_with_header(
        HostFault { on: "ReviewThreads".to_owned(), ..limited.clone() },
        "retry-after",
        "1",
    );
    let report = fixture.post(&findings, &[]).await;
    assert_eq!((counts(&report), report.waited_seconds), ([1, 0, 0, 0], 2));
    // Longer than the bound: nothing is posted and the reason is counted.
    let findings = [finding("src/cart.rs", 5, "Bug", "[P1] Another thing")];
    fixture.host.fail_with_header(limited, "retry-after", "3600");
    let report = fixture.post(&findings, &["--max-wait", "5"]).await;
    assert_eq!((counts(&report), report.waited_seconds), ([0, 0, 0, 1], 0));
    assert_eq!(report.failures, BTreeMap::from([("429".to_owned(), 1)]));
    assert_eq!(counts(&fixture.post(&findings, &[]).await), [1, 0, 0, 0]);
}

#[tokio::test]
async fn rejected_requests_are_counted_and_not_fatal() {
    let fixture = PullRequestFixture::new().await;
    let findings = [finding("src/cart.rs", 2, "Bug", "[P1] The sum is wrong")];
    for (status, message) in [
        (401, "Bad credentials"),
        (403, "Resource not accessible by integration"),
        (404, "Not Found"),
        (500, "Server Error"),
    ] {
        fixture.host.fail(fixture.fail(status, 1, message));
        let report = fixture.post(&findings, &[]).await;
        assert_eq!(counts(&report), [0, 0, 0, 1], "{status}");
        assert_eq!(report.failures, BTreeMap::from([(status.to_string(), 1)]));
    }
    fixture.host.fail(fixture.fail(422, 2, "Validation Failed"));
    assert_eq!(fixture.post(&findings, &[]).await.failures, BTreeMap::from([("422".to_owned(), 1)]));
    // A rejected line: the finding is in the text of the review, and is not posted again.
    fixture.host.fail(fixture.fail(422, 1, "Validation Failed"));
    assert_eq!(counts(&fixture.post(&findings, &[]).await), [0, 1, 0, 0]);
    assert!(fixture.host.pull_requests(SHOP)[0].reviews[0].body.contains("The sum is wrong"));
    assert_eq!(counts(&fixture.post(&findings, &[]).await), [0, 0, 1, 0]);
    // Without knowing what was posted before, nothing is posted; a dry run shows everything.
    fixture.host.fail(HostFault { on: "ReviewThreads".to_owned(), ..fixture.fail(502, 2, "Bad Gateway") });
    let writes = fixture.writes();
    let report = fixture.post(&findings, &[]).await;
    assert_eq!((counts(&report), report.failures), ([0, 0, 0, 1], BTreeMap::from([("502".to_owned(), 1)])));
    let report = fixture.post(&findings, &["--dry-run"]).await;
    assert_eq!((report.posted, fixture.writes()), (1, writes));
    fixture.host.disconnect().unwrap();
    let report = fixture.post(&findings, &[]).await;
    assert_eq!((counts(&report), report.failures["unavailable"]), ([0, 0, 0, 1], 1));
}

#[tokio::test]
async fn only_own_unanswered_threads_about_findings_are_resolved() {
    let fixture = PullRequestFixture::new().await;
    let findings: Vec<Value> = ["alpha beta", "gamma delta", "epsilon zeta"]
        .iter()
        .zip(1..)
        .map(|(words, line)| finding("src/cart.rs", line, "Bug", words))
        .collect();
    assert_eq!(fixture.post(&findings, &[]).await.posted, 3);
    let ids: Vec<u64> = fixture.comments().iter().map(|(id, ..)| *id).collect();
    let foreign = fixture.host.comment_line(SHOP, 1, "ann", ("src/cart.rs", 5), "Why?").unwrap();
    let own = fixture.host.comment_line(SHOP, 1, "octo-dev", ("src/cart.rs", 5), "A question").unwrap();
    fixture.host.resolve(SHOP, 1, ids[1]);
    fixture.host.answer(SHOP, 1, "ann", ids[2], "I disagree.").unwrap();
    let threads: Vec<String> =
        [ids[0], ids[1], ids[2], foreign, own].iter().map(|id| format!("PRRT_{id}")).collect();
    let mut ids_in_file: Vec<&str> = threads.iter().map(String::as_str).collect();
    ids_in_file.extend(["PRRT_999", "\"}) { x }", threads[0].as_str()]);
    let planned = fixture.resolve(&ids_in_file, &["--dry-run"]).await;
    assert_eq!((planned.resolved, fixture.host.pull_requests(SHOP)[0].resolved.len()), (1, 1));
    let report = fixture.resolve(&ids_in_file, &[]).await;
    assert_eq!(
        report,
        ResolutionReport {
            resolved: 1,
            skipped_resolved: 1,
            skipped_answered: 1,
            skipped_foreign: 4,
            threads: vec![threads[0].clone()],
            ..ResolutionReport::default()
        }
    );
    assert_eq!(fixture.host.pull_requests(SHOP)[0].resolved, [ids[1], ids[0]]);
    // An error in the reply is counted.
    let third = finding("src/cart.rs", 6, "Bug", "eta theta");
    assert_eq!(fixture.post(&[third], &[]).await.posted, 1);
    let last = format!("PRRT_{}", fixture.comments().last().unwrap().0);
    let fault = HostFault { on: "ResolveThread".to_owned(), ..fixture.fail(403, 1, "Forbidden") };
    fixture.host.fail(fault);
    let report = fixture.resolve(&[&last], &[]).await;
    assert_eq!((report.failed, report.failures["403"]), (1, 1));
}

// PR-25
#[test]
fn missing_repository_or_number_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("findings.json");
    let run = |text: &str, repo: Option<&str>| {
        std::fs::write(&path, text).unwrap();
        let target =
            PostingTarget { repo: repo.map(|repo| repo.parse().unwrap()), dry_run: true, max_wait: 0 };
        PostCommentsArgs { findings: path.clone(), target }.run()
    };
    assert!(run(r#"{"findings": []}"#, Some(SHOP)).unwrap_err().contains("pr_number"));
    assert!(run(r#"{"pr_number": 0, "findings": []}"#, Some(SHOP)).is_err());
    assert!(run(r#"{"pr_number": 1, "findings": []}"#, None).unwrap_err().contains("--repo"));
    assert!(run("{", Some(SHOP)).is_err());
    let hidden = r#"{"pr_number": 1, "findings": [{"file": "a", "line": 1, "inline": false}]}"#;
    let report: Value = serde_json::from_str(&run(hidden, Some(SHOP)).unwrap()).unwrap();
    assert_eq!((&report["skipped_non_inline"], &report["posted"]), (&json!(1), &json!(0)));
    let args = ResolveThreadsArgs { threads: dir.path().join("missing"), target: target(&[]) };
    assert!(args.run().is_err());
}
