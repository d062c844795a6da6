//! A repository that is closed stays closed by every name, on every route.

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

/// Members that lead to no directory of this machine beside those that are declared: texts, switches,
/// branches and files of a repository that is named beside them, ids and names at other programs.
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
    // Names a history, not a worktree.
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
    // Names a worktree of the repository that is named.
    "body artifactSlug",
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
    // Names a file of the ticket that is named.
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
    "body commitSha",
    "body committer",
    "body committer.email",
    "body committer.name",
    "body debateHistory.*",
    "body commentedIndex",
    "body declineReason",
    "body declined",
    "body description",
    "body displayMessage",
    "body file",
    "body filePath",
    "body files.*",
    "body findingSummary",
    // Files of the ticket that is named.
    "body findings.*.anchor",
    "body findings.*.anchor.after.*",
    "body findings.*.anchor.before.*",
    "body findings.*.anchor.line",
    "body findings.*.anchor.text",
    "body findings.*.commented",
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
    "body issueId",
    "body learnings.*.summary",
    "body line",
    "body loopgateAuthToken",
    "body maxSpendUsd",
    "body message",
    // What was sent with a message that is only stored.
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
    "body model",
    "body outcome",
    "body parentBranchName",
    // Names a branch of the repository that is named.
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
    // Names a repository of the loop, which is declared itself.
    "body repoConfigs.*.repoFullName",
    "body requestChanges",
    "body responded",
    "body reviewMode",
    "body rounds",
    "body s3StateKey",
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
    "query headBranch",
    "query index",
    "query latestVersion",
    "query lines",
    "query number",
    "query pr",
    "query provider",
    "query query",
    "query state",
    "segment commentId",
    "segment findingId",
    "POST /api/gateway/git/pr/inline-comment body path",
    // What a run printed, where it answers, and on which port.
    "POST /api/gateway/deploy/extract-info body logs",
    "POST /api/gateway/deploy/health body url",
    "POST /api/gateway/deploy/teardown body port",
    // Kept and shown, never looked up.
    "POST /api/gateway/orchestrator/sessions body loopId",
    "POST /api/gateway/orchestrator/sessions body pid",
    // Programs: asked about each time, and never in the sandbox.
    "PATCH /api/gateway/settings/binary-paths body assistant",
    "PATCH /api/gateway/settings/binary-paths body codeHost",
    "PATCH /api/gateway/settings/binary-paths body git",
    "PATCH /api/gateway/settings/binary-paths body python3",
    "PATCH /api/gateway/settings/binary-paths body reviewer",
];

/// A place with a managed clone `shop` and a worktree of it for the ticket `T-1`, and another clone
/// `other`.
async fn world(options: TestOptions) -> TestGateway {
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

/// A worktree, as git writes one.
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

fn close(fixture: &TestGateway, repository: &Path) {
    let repository = Some(repository.to_string_lossy().into_owned());
    let coverage = Coverage { repository, ..Coverage::default() };
    fixture.gateway.approvals().set_policy(coverage, Effect::Deny).unwrap();
}

/// A request that says something at some places, and nothing else that its handler needs.
fn ask(fixture: &TestGateway, route: &Route, said: &[(At, Value)]) -> TestRequest {
    let mut path = route.path.to_owned();
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let mut body = Value::Null;
    for (at, value) in said {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        match at {
            At::Body(name) => put(&mut body, name, value.clone()),
            At::Query(name) => drop(query.append_pair(name, &text)),
            At::Segment(name) => {
                path = path.replace(&format!("{{*{name}}}"), &format!("{text}/x"));
                path = path.replace(&format!("{{{name}}}"), &text);
            }
        }
    }
    let path = path.replace(['{', '}', '*'], "");
    let ask = fixture.internal(route.method.as_str(), &format!("{path}?{}", query.finish()));
    if body.is_null() { ask } else { ask.body(body.to_string()) }
}

fn put(body: &mut Value, path: &str, value: Value) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    if body.is_null() {
        *body = if step == "*" { json!([null]) } else { json!({}) };
    }
    let inner = if step == "*" { &mut body[0] } else { &mut body[step] };
    match rest {
        Some(rest) => put(inner, rest, value),
        None => *inner = value,
    }
}

fn is_denied(reply: &TestResponse) -> bool {
    reply.status == 403 && reply.text().contains("\"code\":\"request_denied\"")
}

/// Every way to write a path to the closed repository.
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

/// What a source is to say, so that it names the closed repository.
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
        // Shown where processes live.
        Source::Process(_) => Vec::new(),
    }
}

#[tokio::test]
async fn every_name_of_a_closed_repository_is_refused_on_every_route() {
    let options = TestOptions { runtime: true, ..TestOptions::default() };
    let fixture = world(options).await;
    note_loop(&fixture, fixture.runtime.as_ref().unwrap()).await;
    let shop = fixture.sandbox().join("shop");
    close(&fixture, &shop);
    let mut passed = Vec::new();
    let mut tried = 0;
    for route in all_routes().iter().filter(|route| route.operation.is_some()) {
        for source in route.policy.sources {
            for said in spellings(&fixture, *source) {
                tried += 1;
                let reply = ask(&fixture, route, &said).send().await;
                if !is_denied(&reply) {
                    passed.push(format!("{} {} {said:?}: {}", route.method, route.path, reply.status));
                }
            }
        }
    }
    assert!(passed.is_empty(), "{} of {tried} passed:\n{}", passed.len(), passed.join("\n"));
    assert!(tried > 1000, "{tried}");
}

/// A loop that works in the closed repository, for the ticket `T-9`.
async fn note_loop(fixture: &TestGateway, runtime: &Arc<Runtime>) {
    let sandbox = loopgate_home::Sandbox::new(fixture.settings.clone(), &fixture.data_dir());
    let agreed = PlanConfirmation {
        repository: sandbox.check(fixture.sandbox().join("shop")).unwrap(),
        ticket: TicketId::new("T-9"),
        loop_id: Some(LOOP.parse().unwrap()),
        artifact_id: None,
        artifact_slug: None,
        issue_id: None,
        ticket_title: None,
        runs: false,
    };
    let worktree_dir = runtime.plan_loops.confirm(agreed).await.unwrap();
    worktree(&fixture.sandbox().join("shop"), &worktree_dir);
}

#[tokio::test]
async fn closed_worktree_is_refused_by_its_ticket_and_by_those_of_its_loops() {
    let options = TestOptions { runtime: true, ..TestOptions::default() };
    let fixture = world(options).await;
    note_loop(&fixture, fixture.runtime.as_ref().unwrap()).await;
    let mut tried = 0;
    for (ticket, repository) in [("T-1", "shop"), ("T-9", "other"), (LOOP, "other")] {
        let worktree = if ticket == "T-1" { "worktrees/shop-T-1" } else { "worktrees/shop-T-9" };
        close(&fixture, &fixture.sandbox().join(worktree));
        let repository = json!(fixture.sandbox().join(repository));
        for route in all_routes().iter().filter(|route| route.operation.is_some()) {
            let tickets = route.policy.sources.iter().filter_map(|source| match source {
                Source::Ticket(at) => Some(*at),
                _ => None,
            });
            let named = route.policy.sources.iter().find_map(|source| match source {
                Source::Path(at) => Some(*at),
                _ => None,
            });
            for at in tickets {
                tried += 1;
                let said: Vec<_> = named
                    .map(|at| (at, repository.clone()))
                    .into_iter()
                    .chain([(at, json!(ticket))])
                    .collect();
                let reply = ask(&fixture, route, &said).send().await;
                assert!(is_denied(&reply), "{} {} {said:?}: {}", route.method, route.path, reply.text());
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

#[tokio::test]
async fn another_repository_passes_and_so_does_a_list_of_all() {
    let fixture = world(TestOptions::default()).await;
    close(&fixture, &fixture.sandbox().join("shop"));
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

/// Nothing that a route takes is left out of what approval judges. The order of a loop is described by
/// what the control plane writes, so what else is read of it is in the sources alone.
#[test]
fn every_member_is_declared_or_harmless() {
    let document = serde_json::to_value(crate::openapi()).unwrap();
    let mut undeclared = BTreeSet::new();
    for route in all_routes().iter().filter(|route| route.operation.is_some()) {
        let operation =
            &document["paths"][route.path.replace("{*", "{")][route.method.as_str().to_lowercase()];
        let mut taken = BTreeSet::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            match parameter["in"].as_str().unwrap() {
                "query" => drop(taken.insert(format!("query {name}"))),
                "path" => drop(taken.insert(format!("segment {name}"))),
                _ => {}
            }
        }
        let bodies = operation["requestBody"]["content"].as_object().into_iter().flatten();
        for (_, content) in bodies {
            members(&document, &content["schema"], "", &mut taken);
        }
        let declared: BTreeSet<String> =
            route.policy.sources.iter().flat_map(|source| places(*source)).collect();
        for name in taken.difference(&declared) {
            let whole = format!("{} {} {name}", route.method, route.path);
            if !HARMLESS.contains(&name.as_str()) && !HARMLESS.contains(&whole.as_str()) {
                undeclared.insert(whole);
            }
        }
    }
    assert!(undeclared.is_empty(), "{}", Vec::from_iter(undeclared).join("\n"));
}

/// The places at which a source reads.
fn places(source: Source) -> Vec<String> {
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

/// The members of a schema that hold texts or numbers, at any depth.
fn members(document: &Value, schema: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &document["components"]["schemas"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    for part in ["allOf", "oneOf", "anyOf"].iter().flat_map(|part| schema[part].as_array()).flatten() {
        members(document, part, prefix, found);
    }
    let below = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    if let Some(properties) = schema["properties"].as_object() {
        properties.iter().for_each(|(name, inner)| members(document, inner, &below(name), found));
    } else if !schema["items"].is_null() {
        members(document, &schema["items"], &below("*"), found);
    } else if !prefix.is_empty() && ["allOf", "oneOf", "anyOf"].iter().all(|part| schema[part].is_null()) {
        found.insert(format!("body {prefix}"));
    }
}

/// A directory of a place, where it really is.
fn real(fixture: &TestGateway, name: &str) -> PathBuf {
    fixture.sandbox().canonicalize().unwrap().join(name)
}

#[tokio::test]
async fn allow_policy_covers_only_its_directory() {
    let settings = "default_approval_tier = \"none\"";
    let fixture = world(TestOptions { settings, ..TestOptions::default() }).await;
    let approvals = fixture.gateway.approvals();
    let repository = Some(real(&fixture, "shop").to_string_lossy().into_owned());
    approvals.set_policy(Coverage { repository, ..Coverage::default() }, Effect::Allow).unwrap();
    let status =
        |query: &str| fixture.internal("GET", &format!("/api/gateway/orchestrator/status/T-1?{query}"));
    let at = |name: &str| fixture.sandbox().join(name).display().to_string();
    for open in ["shop", "link", "shop/web"] {
        let reply = status(&format!("repo={}", at(open))).send().await;
        assert_eq!(reply.status, 200, "{open}: {}", reply.text());
    }
    for asks in ["other", "worktrees/elsewhere", ""] {
        let (reply, pending) = super::approvals::held(&fixture, status(&format!("repo={}", at(asks)))).await;
        approvals.deny(pending.id).unwrap();
        assert_eq!(super::test_gateway::within(reply).await.unwrap().status, 403, "{asks}");
    }
}
