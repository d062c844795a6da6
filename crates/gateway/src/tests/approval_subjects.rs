//! A policy that denies a repository applies to every spelling of it, on every route.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_api::ids::TicketId;
use loopgate_runtime::{PlanConfirmation, Runtime};
use serde_json::{Value, json};

use super::test_gateway::{TestGateway, TestOptions, TestRequest, TestResponse};
use crate::approval::{At, Source};
use crate::route::Route;
use crate::router::all_routes;
use crate::{Coverage, Effect};

const LOOP: &str = "0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718";

/// Members besides the declared sources that cannot lead to a directory of this machine: text, flags,
/// branches and files of a repository that is named separately, ids, and names known to other programs.
const HARMLESS: &[&str] = &[
    "body expectedMcpUrl",
    "body fileContext",
    "body fileContext.contentPreview",
    "body fileContext.path",
    "body ticketContext",
    "body ticketContext.description",
    "body ticketContext.identifier",
    "body ticketContext.title",
    "body ticketContext.url",
    // A message to the assistant of the named loop.
    "POST /api/gateway/orchestrator/loop/message body text",
    // The id of a conversation, not of a worktree.
    "GET /api/gateway/ticket-chat query ticketId",
    "DELETE /api/gateway/ticket-chat query ticketId",
    "POST /api/gateway/ticket-chat body ticketId",
    "body action",
    "body activeTab",
    "body agents.*.name",
    "body agents.*.prompt",
    "body agents.*.slug",
    "body apiBaseUrl",
    "body artifactId",
    // The id of a worktree of the named repository.
    "body artifactSlug",
    // Files that are downloaded into the worktree of the loop, under names without separators.
    "POST /api/gateway/orchestrator/loop body attachments.*.filename",
    "POST /api/gateway/orchestrator/loop body attachments.*.id",
    "POST /api/gateway/orchestrator/loop body attachments.*.mimeType",
    "POST /api/gateway/orchestrator/loop body attachments.*.sha256",
    "POST /api/gateway/orchestrator/loop body attachments.*.signedUrl",
    "POST /api/gateway/orchestrator/loop body attachments.*.signedUrlExpiresAt",
    "POST /api/gateway/orchestrator/loop body attachments.*.sizeBytes",
    "body artifacts.*.content",
    "body artifacts.*.id",
    "body artifacts.*.raw",
    "body artifacts.*.title",
    "body artifacts.*.type",
    "body additionalRepos.*.branch",
    "body assistantArgument",
    "body baseBranch",
    "body body",
    "body branchName",
    "body chatContextId",
    // The name of a file of the named ticket.
    "body chatFile",
    "body commentContext",
    "body commentContext.author",
    "body commentContext.body",
    "body commentContext.line",
    "body commentContext.path",
    "body commentContext.replies.*.author",
    "body commentContext.replies.*.body",
    "body commentContext.url",
    "body commentId",
    "body commit",
    // Commits and files in the worktrees of the named loop.
    "GET /api/gateway/git/loop-changes/{loopId} query commit",
    "GET /api/gateway/git/loop-changes/{loopId} query repository",
    "GET /api/gateway/git/loop-changes/{loopId} query since",
    "POST /api/gateway/git/loop-changes/{loopId} body repository",
    // A branch of the named repository.
    "GET /api/gateway/git/repository query branch",
    // Files in the worktrees of the named loop, files of a pull request, and texts for the loop.
    "body approvedCommits",
    "body holdPullRequest",
    "body comments.*.body",
    "body comments.*.lines",
    "body comments.*.lines.from",
    "body comments.*.lines.side",
    "body comments.*.lines.to",
    "body comments.*.path",
    "body lines.*.anchor",
    "body lines.*.anchor.after.*",
    "body lines.*.anchor.before.*",
    "body lines.*.anchor.line",
    "body lines.*.anchor.text",
    "body lines.*.line",
    "body lines.*.oldPath",
    "body lines.*.path",
    "body lines.*.side",
    "body reviewComments",
    "body reviewComments.comments.*.body",
    "body reviewComments.comments.*.lines",
    "body reviewComments.comments.*.lines.anchor",
    "body reviewComments.comments.*.lines.anchor.after.*",
    "body reviewComments.comments.*.lines.anchor.before.*",
    "body reviewComments.comments.*.lines.anchor.line",
    "body reviewComments.comments.*.lines.anchor.text",
    "body reviewComments.comments.*.lines.from",
    "body reviewComments.comments.*.lines.side",
    "body reviewComments.comments.*.lines.to",
    "body reviewComments.comments.*.number",
    "body reviewComments.comments.*.path",
    "body reviewComments.comments.*.repository",
    "body reviewComments.summary",
    "body context",
    "body ignoreWhiteSpace",
    "body paths.*",
    "body since",
    "body commitSha",
    "body committer",
    "body committer.email",
    "body committer.name",
    "body debateHistory.*",
    "body commentedIndex",
    "body declinedIndex",
    "body declineReason",
    "body declined",
    "body description",
    "body displayMessage",
    "body file",
    "body filePath",
    "body files.*",
    "body findingSummary",
    // Files of the named ticket.
    "body findings.*.anchor",
    "body findings.*.anchor.after.*",
    "body findings.*.anchor.before.*",
    "body findings.*.anchor.line",
    "body findings.*.anchor.text",
    "body findings.*.commented",
    "body findings.*.confidence",
    "body findings.*.declineReason",
    "body findings.*.declined",
    "body findings.*.file",
    "body findings.*.humanizedBody",
    "body findings.*.line",
    "body findings.*.message",
    "body findings.*.outdated",
    "body findings.*.priority",
    "body findings.*.severity",
    "body findings.*.suggestion",
    "body findingsA.*.file",
    "body findingsA.*.message",
    "body findingsB.*.file",
    "body findingsB.*.message",
    "body findingContext",
    "body findingContext.file",
    "body findingContext.line",
    "body findingContext.message",
    "body findingContext.priority",
    "body findingContext.severity",
    "body findingContext.suggestion",
    "body force",
    "body harness",
    "body instructions",
    "body interpret",
    "body headSha",
    "body issueId",
    "body learnings.*.summary",
    "body line",
    "body loopgateAuthToken",
    "body maxSpendUsd",
    "body message",
    // Attachments of a message that is stored only.
    "body message.attachments.*",
    "body message.blocks.*",
    "body message.content",
    "body message.id",
    "body message.mode",
    "body message.role",
    "body message.responded",
    "body message.sender",
    "body message.timestamp",
    "body messageId",
    "body method",
    "body model",
    "body outcome",
    "body parentBranchName",
    // The id of a branch of the named repository.
    "body parentLoopId",
    "body parentSessionId",
    "body parentTicketId",
    "body prNumber",
    "body primaryArtifactId",
    "body prompt",
    "body provider",
    "body providerA",
    "body providerB",
    "body reasoningEffort",
    "body repo",
    "body repo.branch",
    "body repoConfigs.*.criticGates",
    // The name of a repository of the loop, which is declared separately.
    "body repoConfigs.*.repoFullName",
    "body requestChanges",
    "body responded",
    "body reviewMode",
    "body rounds",
    "body s3StateKey",
    "body selfLearning",
    "body sessionId",
    "body ticket",
    "body ticket.additionalContext",
    "body ticket.description",
    "body ticket.identifier",
    "body ticket.issueId",
    "body ticket.mentionedFiles.*.filePath",
    "body ticket.title",
    "body ticket.url",
    "body ticketTitle",
    "body ticketUrl",
    "body title",
    "body useBaseRepo",
    "body userContext",
    "body waitForExtraction",
    "body worktreeParentDirConfirmed",
    "query base",
    "query branchId",
    "query expectedMcpUrl",
    "query filter",
    "query headBranch",
    "query index",
    "query latestVersion",
    "query limit",
    "query lines",
    "query number",
    "query offset",
    "query pr",
    "query provider",
    "query query",
    "query refresh",
    "query state",
    "segment commentId",
    "segment findingId",
    // A learning in the store of the user, which is the same for all directories.
    "POST /api/gateway/learnings/decision body by",
    "POST /api/gateway/learnings/decision body id",
    "POST /api/gateway/learnings/decision body summary",
    "POST /api/gateway/git/pr/inline-comment body path",
    // Output of a deployment, its URL and its port.
    "POST /api/gateway/deploy/extract-info body logs",
    "POST /api/gateway/deploy/health body url",
    "POST /api/gateway/deploy/teardown body port",
    // Stored and shown, but never resolved.
    "POST /api/gateway/orchestrator/sessions body loopId",
    "POST /api/gateway/orchestrator/sessions body pid",
    // Programs need an approval each time and must not be in the sandbox.
    "PATCH /api/gateway/settings/binary-paths body assistant",
    "PATCH /api/gateway/settings/binary-paths body codeHost",
    "PATCH /api/gateway/settings/binary-paths body git",
    "PATCH /api/gateway/settings/binary-paths body python3",
    "PATCH /api/gateway/settings/binary-paths body reviewer",
];

/// A gateway with the managed clones `shop` and `other`, and a worktree of `shop` for ticket `T-1`.
async fn gateway_with_clones(options: TestOptions) -> TestGateway {
    let fixture = TestGateway::with(options).await;
    for name in ["shop", "other"] {
        let clone = fixture.clone_of(name, &format!("https://github.com/acme/{name}.git"));
        for directory in ["objects", "refs", "worktrees"] {
            std::fs::create_dir_all(clone.join(".git").join(directory)).unwrap();
        }
        std::fs::write(clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }
    for name in ["shop-T-1", "shop-pr-7", "elsewhere"] {
        worktree(&fixture.sandbox().join("shop"), &fixture.sandbox().join("worktrees").join(name));
    }
    let at = |name: &str| fixture.sandbox().join(name);
    std::os::unix::fs::symlink(at("shop"), at("link")).unwrap();
    let repos = json!({
        "repos": [{"path": at("shop"), "addedAt": ""}, {"path": at("other"), "addedAt": ""}],
        "settings": {"worktreeParentDir": at("worktrees")},
    });
    std::fs::create_dir_all(fixture.repos_file().parent().unwrap()).unwrap();
    std::fs::write(fixture.repos_file(), repos.to_string()).unwrap();
    let session =
        json!({"sessions": [{"ticketId": "S-1", "repoPath": at("other"), "worktreePath": at("shop")}]});
    std::fs::write(at(".loopgate/sessions.json"), session.to_string()).unwrap();
    fixture
}

/// Creates the files by which git links a worktree to its clone.
pub(in crate::tests) fn worktree(clone: &Path, directory: &Path) {
    let clone = clone.canonicalize().unwrap();
    let records = clone.join(".git/worktrees").join(directory.file_name().unwrap());
    std::fs::create_dir_all(&records).unwrap();
    std::fs::create_dir_all(directory).unwrap();
    let directory = directory.canonicalize().unwrap();
    std::fs::write(directory.join(".git"), format!("gitdir: {}\n", records.display())).unwrap();
    std::fs::write(records.join("gitdir"), format!("{}\n", directory.join(".git").display())).unwrap();
    std::fs::write(records.join("commondir"), "../..\n").unwrap();
    std::fs::write(records.join("HEAD"), "ref: refs/heads/T-1\n").unwrap();
}

fn deny(fixture: &TestGateway, repository: &Path) {
    let repository = Some(repository.to_string_lossy().into_owned());
    let coverage = Coverage { repository, ..Coverage::default() };
    fixture.gateway.approvals().set_policy(coverage, Effect::Deny).unwrap();
}

/// Creates a request with the given values and none of the other members that its handler requires. The
/// policy has to refuse it before the handler rejects it.
fn request(fixture: &TestGateway, route: &Route, values: &[(At, Value)]) -> TestRequest {
    let mut path = route.path.to_owned();
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let mut body = Value::Null;
    for (at, value) in values {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        match at {
            At::Body(name) => set_member(&mut body, name, value.clone()),
            At::Query(name) => drop(query.append_pair(name, &text)),
            At::Segment(name) => {
                path = path.replace(&format!("{{*{name}}}"), &format!("{text}/x"));
                path = path.replace(&format!("{{{name}}}"), &text);
            }
        }
    }
    let path = path.replace(['{', '}', '*'], "");
    let request = fixture.internal(route.method.as_str(), &format!("{path}?{}", query.finish()));
    if body.is_null() { request } else { request.body(body.to_string()) }
}

fn set_member(body: &mut Value, path: &str, value: Value) {
    let (step, tail) = path.split_once('.').map_or((path, None), |(step, tail)| (step, Some(tail)));
    if body.is_null() {
        *body = if step == "*" { json!([null]) } else { json!({}) };
    }
    let inner = if step == "*" { &mut body[0] } else { &mut body[step] };
    match tail {
        Some(tail) => set_member(inner, tail, value),
        None => *inner = value,
    }
}

fn is_denied(reply: &TestResponse) -> bool {
    reply.status == 403 && reply.text().contains("\"code\":\"request_denied\"")
}

/// All spellings of paths to the denied repository.
fn paths(fixture: &TestGateway, whole: bool) -> Vec<String> {
    let at = |name: &str| fixture.sandbox().join(name).to_string_lossy().into_owned();
    let mut paths = vec![
        at("shop"),
        at("shop/"),
        at("shop//."),
        at("shop/web/new"),
        at("other/../shop"),
        at("absent/../shop"),
        at("link"),
        at("link/web"),
        at("worktrees/elsewhere"),
        at("worktrees/elsewhere/deep/er"),
        at("worktrees/shop-T-1"),
        format!(" {}\t", at("shop")),
    ];
    if whole {
        paths.extend([at(""), at("other/..")]);
    }
    paths
}

const NAMES: [&str; 3] = ["acme/shop", "ACME/Shop", " acme/shop "];

/// Values for a source that refer to the denied repository.
fn spellings(fixture: &TestGateway, source: Source) -> Vec<Vec<(At, Value)>> {
    let text = |at: At, texts: Vec<String>| texts.into_iter().map(|text| vec![(at, json!(text))]).collect();
    let order = |repos: Value| {
        let prompt = json!({"repos": [repos]}).to_string();
        vec![(At::Body("command"), json!("BOOTSTRAP")), (At::Body("prompt"), json!(prompt))]
    };
    match source {
        Source::Path(at) => text(at, paths(fixture, true)),
        Source::Listing(at) | Source::ListingOrHome(at) => text(at, paths(fixture, false)),
        Source::Name(at) => text(at, NAMES.map(ToOwned::to_owned).to_vec()),
        Source::OwnerAndName => ["acme", "ACME"]
            .map(|owner| vec![(At::Query("owner"), json!(owner)), (At::Query("repo"), json!("shop"))])
            .to_vec(),
        Source::Session(at) => text(at, vec!["S-1".to_owned()]),
        Source::Ticket(at) => {
            vec![vec![(at, json!("T-1"))]]
        }
        Source::Loop(at) => text(at, vec![LOOP.to_owned()]),
        Source::BootstrapOrder => paths(fixture, true)
            .into_iter()
            .map(|path| order(json!({"fullName": "x/y", "localPath": path})))
            .chain(NAMES.map(|name| order(json!({"fullName": name}))))
            .chain([vec![(At::Body("command"), json!("BOOTSTRAP"))]])
            .collect(),
        Source::ManagedRepositories | Source::PullRequestWorktrees => vec![Vec::new()],
        Source::Anything => paths(fixture, true)
            .into_iter()
            .flat_map(|path| [(At::Body("some.*.member"), path.clone()), (At::Query("x"), path)])
            .chain(NAMES.map(|name| (At::Body("some.member"), name.to_owned())))
            .map(|(at, text)| vec![(at, json!(text))])
            .collect(),
        // Needs a running process, so it is tested elsewhere.
        Source::Process(_) => Vec::new(),
    }
}

#[tokio::test]
async fn every_spelling_of_a_denied_repository_is_refused_on_every_route() {
    let options = TestOptions { runtime: true, ..TestOptions::default() };
    let fixture = gateway_with_clones(options).await;
    record_loop(&fixture, fixture.runtime.as_ref().unwrap()).await;
    let shop = fixture.sandbox().join("shop");
    deny(&fixture, &shop);
    let mut passed = Vec::new();
    let mut requests = 0;
    for route in all_routes().iter().filter(|route| route.operation.is_some()) {
        for source in route.policy.sources {
            for values in spellings(&fixture, *source) {
                requests += 1;
                let reply = request(&fixture, route, &values).send().await;
                if !is_denied(&reply) {
                    passed.push(format!("{} {} {values:?}: {}", route.method, route.path, reply.status));
                }
            }
        }
    }
    assert!(passed.is_empty(), "{} of {requests} passed:\n{}", passed.len(), passed.join("\n"));
    // Guards against sources for which no request is generated.
    assert!(requests > 1000, "{requests}");
}

/// Records a loop of ticket `T-9` in the denied repository.
async fn record_loop(fixture: &TestGateway, runtime: &Arc<Runtime>) {
    let sandbox = loopgate_home::Sandbox::new(fixture.settings.clone(), &fixture.data_dir());
    let confirmation = PlanConfirmation {
        repository: sandbox.check(fixture.sandbox().join("shop")).unwrap(),
        ticket: TicketId::new("T-9"),
        loop_id: Some(LOOP.parse().unwrap()),
        artifact_id: None,
        artifact_slug: None,
        issue_id: None,
        ticket_title: None,
        runs: false,
    };
    let worktree_dir = runtime.plan_loops.confirm(confirmation).await.unwrap();
    worktree(&fixture.sandbox().join("shop"), &worktree_dir);
}

#[tokio::test]
async fn denied_worktree_is_refused_by_ticket_and_loop_ids() {
    let options = TestOptions { runtime: true, ..TestOptions::default() };
    let fixture = gateway_with_clones(options).await;
    record_loop(&fixture, fixture.runtime.as_ref().unwrap()).await;
    let mut requests = 0;
    for (ticket, repository) in [("T-1", "shop"), ("T-9", "other"), (LOOP, "other")] {
        let worktree = if ticket == "T-1" { "worktrees/shop-T-1" } else { "worktrees/shop-T-9" };
        deny(&fixture, &fixture.sandbox().join(worktree));
        let repository = json!(fixture.sandbox().join(repository));
        for route in all_routes().iter().filter(|route| route.operation.is_some()) {
            let tickets = route.policy.sources.iter().filter_map(|source| match source {
                Source::Ticket(at) => Some(*at),
                _ => None,
            });
            let path_member = route.policy.sources.iter().find_map(|source| match source {
                Source::Path(at) => Some(*at),
                _ => None,
            });
            for at in tickets {
                requests += 1;
                let values: Vec<_> = path_member
                    .map(|at| (at, repository.clone()))
                    .into_iter()
                    .chain([(at, json!(ticket))])
                    .collect();
                let reply = request(&fixture, route, &values).send().await;
                assert!(is_denied(&reply), "{} {} {values:?}: {}", route.method, route.path, reply.text());
            }
        }
    }
    // Guards against a table in which no route declares a ticket.
    assert!(requests > 60, "{requests}");
}

#[tokio::test]
async fn other_repositories_and_listings_are_allowed() {
    let fixture = gateway_with_clones(TestOptions::default()).await;
    deny(&fixture, &fixture.sandbox().join("shop"));
    let other = fixture.sandbox().join("other");
    for path in [
        "/api/gateway/repos".to_owned(),
        "/api/gateway/orchestrator/sessions".to_owned(),
        format!("/api/gateway/directories?path={}", fixture.sandbox().display()),
        format!("/api/gateway/directories?path={}", other.display()),
        format!("/api/gateway/files/search?repo={}&base=true", other.display()),
        format!("/api/gateway/orchestrator/status/T-1?repo={}", other.display()),
        "/api/gateway/git/repo-path?repoFullName=acme/other".to_owned(),
    ] {
        let reply = fixture.internal("GET", &path).send().await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    }
}

/// Guards the declarations: every member that a route documents is either a source or listed as harmless.
/// Members of a launch order are documented as the control plane sends them; further ones that the runtime
/// reads are declared as sources only.
#[test]
fn every_member_is_declared_or_harmless() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    let mut undeclared = BTreeSet::new();
    for route in all_routes().iter().filter(|route| route.operation.is_some()) {
        let operation =
            &document["paths"][route.path.replace("{*", "{")][route.method.as_str().to_lowercase()];
        let mut documented = BTreeSet::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            match parameter["in"].as_str().unwrap() {
                "query" => drop(documented.insert(format!("query {name}"))),
                "path" => drop(documented.insert(format!("segment {name}"))),
                _ => {}
            }
        }
        let bodies = operation["requestBody"]["content"].as_object().into_iter().flatten();
        for (_, content) in bodies {
            members(&document, &content["schema"], "", &mut documented);
        }
        let declared: BTreeSet<String> =
            route.policy.sources.iter().flat_map(|source| locations(*source)).collect();
        for name in documented.difference(&declared) {
            let whole = format!("{} {} {name}", route.method, route.path);
            if !HARMLESS.contains(&name.as_str()) && !HARMLESS.contains(&whole.as_str()) {
                undeclared.insert(whole);
            }
        }
    }
    assert!(undeclared.is_empty(), "{}", Vec::from_iter(undeclared).join("\n"));
}

/// Formats the locations that a source reads.
fn locations(source: Source) -> Vec<String> {
    let at = match source {
        Source::Path(at)
        | Source::Listing(at)
        | Source::ListingOrHome(at)
        | Source::Name(at)
        | Source::Ticket(at)
        | Source::Session(at)
        | Source::Loop(at)
        | Source::Process(at) => at,
        Source::OwnerAndName => return vec!["query owner".to_owned(), "query repo".to_owned()],
        Source::BootstrapOrder => return vec!["body command".to_owned(), "body prompt".to_owned()],
        Source::ManagedRepositories | Source::PullRequestWorktrees | Source::Anything => return Vec::new(),
    };
    vec![match at {
        At::Body(name) => format!("body {name}"),
        At::Query(name) => format!("query {name}"),
        At::Segment(name) => format!("segment {name}"),
    }]
}

/// Collects the members of a schema that hold text or numbers, at any depth.
fn members(document: &Value, schema: &Value, prefix: &str, names: &mut BTreeSet<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &document["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    for part in ["allOf", "oneOf", "anyOf"].iter().flat_map(|part| schema[part].as_array()).flatten() {
        members(document, part, prefix, names);
    }
    let below = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    if let Some(properties) = schema["properties"].as_object() {
        properties.iter().for_each(|(name, inner)| members(document, inner, &below(name), names));
    } else if !schema["items"].is_null() {
        members(document, &schema["items"], &below("*"), names);
    } else if !prefix.is_empty() && ["allOf", "oneOf", "anyOf"].iter().all(|part| schema[part].is_null()) {
        names.insert(format!("body {prefix}"));
    }
}

/// Returns the canonical path of a directory in the sandbox.
fn canonical(fixture: &TestGateway, name: &str) -> PathBuf {
    fixture.sandbox().canonicalize().unwrap().join(name)
}

#[tokio::test]
async fn allow_policy_covers_only_its_directory() {
    let settings = "default_approval_tier = \"none\"";
    let fixture = gateway_with_clones(TestOptions { settings, ..TestOptions::default() }).await;
    let approvals = fixture.gateway.approvals();
    let repository = Some(canonical(&fixture, "shop").to_string_lossy().into_owned());
    approvals.set_policy(Coverage { repository, ..Coverage::default() }, Effect::Allow).unwrap();
    let status =
        |query: &str| fixture.internal("GET", &format!("/api/gateway/orchestrator/status/T-1?{query}"));
    let at = |name: &str| fixture.sandbox().join(name).display().to_string();
    for path in ["shop", "link", "shop/web"] {
        let reply = status(&format!("repo={}", at(path))).send().await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    }
    for path in ["other", "worktrees/elsewhere", ""] {
        let (reply, pending) = super::approvals::held(&fixture, status(&format!("repo={}", at(path)))).await;
        approvals.deny(pending.id).unwrap();
        assert_eq!(super::test_gateway::within(reply).await.unwrap().status, 403, "{path}");
    }
}
