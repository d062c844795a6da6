//! Walks the authorization matrix: performs each act in each way, first without and then with the required
//! role, and reads the audit log.

use std::collections::BTreeSet;

use ed25519_dalek::SigningKey;
use loopgate_api::command::LoopCommand;
use loopgate_api::link::{APPROVAL_POLICIES_CHANGED, BrowserPublicKey, Severity, Telemetry, event};
use sea_orm::prelude::*;
use serde_json::{Value, json};

use super::desktop::{DesktopIdentity, claim_body, hello};
use super::plane::{first_owner, shop};
use super::{LinkedDesktop, ORIGIN, TestApp, TestClient};
use crate::accounts::FirstOwner;
use crate::acts::{ACTS, Act, RequiredRole, Way, authorization_page};
use crate::administration::Administration;
use crate::bus::Topic;
use crate::credentials::session;
use crate::router::all_routes;
use crate::store::entity::{agent_loop, audit_entry};

const PASSWORD: &str = "correct horse battery";

#[test]
fn every_route_leads_to_exactly_one_act() {
    let listed: Vec<_> = ACTS
        .iter()
        .flat_map(|act| act.ways)
        .filter_map(|way| if let Way::Route(method, path) = way { Some((*method, *path)) } else { None })
        .collect();
    let acts: BTreeSet<_> = listed.iter().copied().collect();
    assert_eq!(acts.len(), listed.len(), "a route belongs to two acts");
    let routes: BTreeSet<_> = all_routes().into_iter().map(|(method, path, _)| (method, path)).collect();
    let missing: Vec<_> = routes.difference(&acts).collect();
    assert!(missing.is_empty(), "add these routes to an act in acts.rs: {missing:?}");
    let unknown: Vec<_> = acts.difference(&routes).collect();
    assert!(unknown.is_empty(), "these ways have no route: {unknown:?}");
}

#[test]
fn page_is_up_to_date() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/authorization.md"));
    let command = "cargo run -p loopgate-control-plane --example authorization > docs/authorization.md";
    assert_eq!(page.unwrap_or_default(), authorization_page(), "run: {command}");
}

/// One organization with an administrator, who owns a shared desktop, and two members.
struct Scene {
    plane: TestApp,
    desktop: LinkedDesktop,
    admin_id: Uuid,
    member_id: Uuid,
    other_id: Uuid,
    slug: String,
}

/// A request that performs an act.
struct Attempt {
    path: String,
    body: Value,
}

impl Scene {
    async fn start() -> Self {
        let plane = TestApp::start().await;
        plane.plane.set_first_password(&plane.owner, PASSWORD.into()).await.unwrap();
        let desktop = plane.desktop().await;
        let admin = plane.owner().await;
        let id = async |client: &TestClient| {
            client.get("/me").await.data("id").as_str().unwrap().parse::<Uuid>().unwrap()
        };
        let member_id = id(&plane.member("ben@example.org").await).await;
        let other_id = id(&plane.member("cy@example.org").await).await;
        let share = json!({"isSharedWithOrg": true});
        let path = format!("/compute-targets/{}/sharing", desktop.target_id);
        assert_eq!(admin.patch(&path, share).await.status, 200);
        // Each way that starts a loop leaves an active loop.
        let settings = json!({"maxConcurrentLoops": 1000, "spendingLimits": {}});
        assert_eq!(admin.put("/organization/settings", settings).await.status, 200);
        let slug = admin.get("/me").await.data("organization")["slug"].as_str().unwrap().to_owned();
        Self { admin_id: plane.owner.user_id, plane, desktop, member_id, other_id, slug }
    }

    async fn admin(&self) -> TestClient {
        self.plane.sign_in(self.admin_id).await
    }

    async fn member(&self) -> TestClient {
        self.plane.sign_in(self.member_id).await
    }

    async fn without(&self, role: RequiredRole) -> Option<TestClient> {
        Some(match role {
            // Commands are not requests; the files' permissions protect them.
            RequiredRole::Anyone | RequiredRole::Operator => return None,
            RequiredRole::Member => self.plane.anonymous().with_header("origin", ORIGIN),
            RequiredRole::Administrator
            | RequiredRole::DesktopOwner
            | RequiredRole::DesktopOperator
            | RequiredRole::Desktop => self.member().await,
            RequiredRole::LoopStarter | RequiredRole::DocumentAuthor => {
                self.plane.sign_in(self.other_id).await
            }
            RequiredRole::Runner => self.plane.running("PLAN").await.1,
        })
    }

    async fn with(&self, role: RequiredRole) -> TestClient {
        match role {
            RequiredRole::Anyone => self.plane.anonymous().with_header("origin", ORIGIN),
            RequiredRole::Member => self.member().await,
            _ => self.admin().await,
        }
    }

    async fn audit_rows(&self) -> Vec<audit_entry::Model> {
        audit_entry::Entity::find().all(self.plane.app.store.reader()).await.unwrap()
    }

    /// Returns a loop of the administrator, and its runner.
    async fn running(&self, command: &str) -> (Uuid, TestClient) {
        self.plane.running(command).await
    }

    /// Completes a loop of a user with uploads.
    async fn complete(&self, user: &TestClient, mut start: Value, artifacts: Value) {
        start["repo"] = json!(shop());
        let created = user.post("/loops", start).await;
        assert_eq!(created.status, 200, "{}", created.text);
        let id: Uuid = created.data("loopId").as_str().unwrap().parse().unwrap();
        let runner = self.plane.runner(id).await;
        let upload = json!({"artifacts": artifacts});
        assert_eq!(runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await.status, 200);
        runner.event(id, json!({"type": "started"})).await;
        let end =
            json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 1, "output": 1}});
        assert_eq!(runner.event(id, end).await.status, 200);
    }

    /// Completes a BOOTSTRAP loop of a user, which uploads an agent with a role.
    async fn bootstrap(&self, user: &TestClient, role: &str) {
        let order = json!({"repos": [{"fullName": "acme/shop"}]}).to_string();
        let agent = json!({"name": role, "slug": role, "role": role, "description": "", "prompt": "p"});
        let result = json!({"repos": [{"fullName": "acme/shop", "branch": "main", "success": true,
            "agents": [agent], "criticGates": null, "metadata": null, "duration": 0}], "totalDuration": 0});
        let start = json!({"command": "BOOTSTRAP", "prompt": order});
        self.complete(user, start, json!({"bootstrapResult": result})).await;
    }

    async fn document(&self) -> String {
        let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": shop()});
        let created = self.member().await.post("/documents", body).await;
        created.data("slug").as_str().unwrap().to_owned()
    }

    async fn ticket(&self) -> String {
        let created = self.member().await.post("/tickets", json!({"title": "x", "body": "x"})).await;
        created.data("slug").as_str().unwrap().to_owned()
    }

    async fn agent(&self) -> String {
        // A slug in the form of a UUID would be read as id.
        let role = format!("role {}", Uuid::new_v4());
        let created =
            self.admin().await.post("/agents", json!({"name": "x", "role": role, "prompt": "p"})).await;
        created.data("slug").as_str().unwrap().to_owned()
    }

    async fn proposal(&self) -> String {
        self.bootstrap(&self.member().await, &Uuid::new_v4().to_string()).await;
        let listed = self.member().await.get("/agent-proposals").await;
        listed.data("proposals")[0]["id"].as_str().unwrap().to_owned()
    }

    async fn manual_loop(&self) -> String {
        let created = self.member().await.post("/loops", json!({"command": "MANUAL"})).await;
        created.data("loopId").as_str().unwrap().to_owned()
    }

    async fn command(&self) -> String {
        let body = json!({"operationId": "x", "method": "POST", "path": "/api/gateway/git", "body": {"action": "status"}});
        let path = format!("/compute-targets/{}/commands", self.desktop.target_id);
        let created = self.admin().await.post(&path, body).await;
        created.data("commandId").as_str().unwrap().to_owned()
    }

    async fn invitation(&self, member: &str) -> String {
        let body = json!({"email": format!("{}@example.org", Uuid::new_v4()), "role": "org:member"});
        let created = self.admin().await.post("/invitations", body).await;
        created.data(member).as_str().unwrap().to_owned()
    }

    /// Returns a request that performs the act of a route when `with` sends it. Routes that are not listed here
    /// change nothing, and need only the ids of existing resources.
    async fn attempt(&self, method: &str, template: &str, with: &TestClient) -> Attempt {
        let target = self.desktop.target_id.to_string();
        let mut path = template.to_owned();
        let mut fill = |placeholder: &str, value: &str| path = path.replacen(placeholder, value, 1);
        let body = match (method, template) {
            ("POST", "/auth/sign-in-link") => {
                let token =
                    session::create_link(&self.plane.app.store, self.admin_id, "link", None).await.unwrap();
                json!({"token": token})
            }
            ("POST", "/auth/sign-in") => json!({"email": "ada@example.org", "password": PASSWORD}),
            ("POST", "/invitations/accept") => {
                json!({"token": self.invitation("token").await, "password": PASSWORD})
            }
            ("POST", "/auth/password-reset") => {
                let path = format!("/members/{}/password-reset", self.other_id);
                let created = self.admin().await.post(&path, json!({})).await;
                let token = created.data("url").as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
                json!({"token": token, "password": PASSWORD})
            }
            ("POST", "/members/{id}/password-reset") => {
                fill("{id}", &self.other_id.to_string());
                json!({})
            }
            ("PUT", "/auth/password") => json!({"newPassword": PASSWORD}),
            ("DELETE", "/sessions/{id}") => {
                self.member().await;
                let listed = with.get("/sessions").await;
                let sessions = listed.json["data"].as_array().unwrap();
                let other = sessions.iter().find(|session| session["current"] == false).unwrap();
                fill("{id}", other["id"].as_str().unwrap());
                json!({})
            }
            ("PUT", "/auth/organization") => json!({"slug": self.slug}),
            ("POST", "/api-keys") => json!({"name": "x"}),
            ("DELETE", "/api-keys/{id}") => {
                let created = with.post("/api-keys", json!({"name": "x"})).await;
                fill("{id}", created.data("id").as_str().unwrap());
                json!({})
            }
            ("POST", "/public-keys") => browser_key(),
            ("DELETE", "/public-keys") => {
                let key = browser_key();
                assert_eq!(with.post("/public-keys", key.clone()).await.status, 200);
                path = format!("/public-keys?fingerprint={}", key["fingerprint"].as_str().unwrap());
                json!({})
            }
            ("PUT", "/settings/compute-preference") => json!({"mode": "LOCAL", "computeTargetId": target}),
            ("POST", "/invitations") => json!({"email": "di@example.org", "role": "org:member"}),
            ("DELETE", "/invitations/{id}") => {
                fill("{id}", &self.invitation("id").await);
                json!({})
            }
            ("PATCH", "/members/{id}") => {
                fill("{id}", &self.other_id.to_string());
                json!({"active": false})
            }
            ("PUT", "/feature-flags/{key}") => {
                fill("{key}", "mermaid-enhancements");
                json!({"enabled": true})
            }
            ("PUT", "/organization/settings") => json!({"maxConcurrentLoops": 1000, "spendingLimits": {}}),
            ("POST", "/repositories") => json!({"fullName": "acme/listed"}),
            ("DELETE", "/repositories/{owner}/{name}") => {
                self.admin().await.post("/repositories", json!({"fullName": "acme/listed"})).await;
                path = "/repositories/acme/listed".to_owned();
                json!({})
            }
            ("POST", "/agents") => json!({"name": "x", "role": Uuid::new_v4(), "prompt": "p"}),
            ("POST", "/agents/bulk-ingest") => json!({"sourceRepo": "acme/shop", "bootstrapRunId": "r",
                "criticGates": {"default": {}},
                "agents": [{"name": "x", "role": Uuid::new_v4(), "prompt": "p"}]}),
            ("PATCH", "/agents/{idOrSlug}") => {
                fill("{idOrSlug}", &self.agent().await);
                json!({"prompt": "q", "changeNote": "n"})
            }
            ("DELETE", "/agents/{idOrSlug}") => {
                fill("{idOrSlug}", &self.agent().await);
                json!({})
            }
            ("POST", "/agent-proposals/{id}/accept" | "/agent-proposals/{id}/reject") => {
                fill("{id}", &self.proposal().await);
                json!({})
            }
            ("POST", "/documents") => json!({"title": "x", "type": "FEATURE", "content": "x"}),
            ("PATCH", "/documents/{idOrSlug}") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"title": "y"})
            }
            ("PATCH", "/change-requests/{idOrSlug}") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"archived": true})
            }
            ("DELETE", "/change-requests/{idOrSlug}") => {
                fill("{idOrSlug}", &self.document().await);
                json!({})
            }
            ("POST", "/change-requests/{idOrSlug}/restore") => {
                let slug = self.document().await;
                assert_eq!(self.admin().await.delete(&format!("/change-requests/{slug}")).await.status, 200);
                fill("{idOrSlug}", &slug);
                json!({})
            }
            ("PUT", "/change-requests/views") => json!({"views": []}),
            ("PUT", "/change-requests/{idOrSlug}/mark") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"seen": true})
            }
            ("PUT" | "DELETE", "/change-requests/{idOrSlug}/comments/{commentId}") => {
                fill("{idOrSlug}", &self.document().await);
                fill("{commentId}", &Uuid::new_v4().to_string());
                json!({"repository": "acme/shop", "path": "a.rs", "body": "x"})
            }
            ("POST", "/change-requests/{idOrSlug}/reviews") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"commentIds": [], "summary": "x"})
            }
            ("POST", "/documents/{idOrSlug}/versions") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"content": "y"})
            }
            ("POST", "/tickets") => json!({"title": "x", "body": "x"}),
            ("PATCH", "/tickets/{idOrSlug}") => {
                fill("{idOrSlug}", &self.ticket().await);
                json!({"title": "y"})
            }
            ("POST", "/loops") => json!({"command": "PLAN", "repo": shop()}),
            ("POST", "/documents/{idOrSlug}/run-loop") => {
                fill("{idOrSlug}", &self.document().await);
                json!({"command": "plan", "computeTargetId": target})
            }
            ("POST", "/documents/run-loop") => json!({
                "document": {"title": "x", "type": "FEATURE", "content": "x", "repo": shop()},
                "run": {"command": "plan", "computeTargetId": target},
            }),
            ("POST", "/agents/bootstrap/start") => {
                json!({"repos": [{"fullName": "acme/shop"}], "computeTargetId": target})
            }
            ("POST", "/loops/{id}/resume") => {
                let (id, runner) = self.running("PLAN").await;
                runner.event(id, json!({"type": "error", "code": "x", "message": "x"})).await;
                fill("{id}", &id.to_string());
                json!({"computeTargetId": target})
            }
            ("POST", "/loops/{id}/cancel") | ("DELETE", "/loops/{id}") => {
                fill("{id}", &self.running("PLAN").await.0.to_string());
                json!({})
            }
            ("POST", "/loops/{id}/messages") => {
                let (id, runner) = self.running("PLAN").await;
                runner.event(id, json!({"type": "started"})).await;
                let target = self.desktop.target_id;
                self.plane.set_column(id, agent_loop::Column::ComputeTargetId, target).await;
                fill("{id}", &id.to_string());
                json!({"text": "Use tabs."})
            }
            ("PATCH", "/loops/{id}") => {
                fill("{id}", &self.manual_loop().await);
                json!({"summary": "x"})
            }
            ("POST", "/loops/{id}/manual-events") => {
                fill("{id}", &self.manual_loop().await);
                json!({"type": "progress", "message": "x"})
            }
            ("POST", "/desktop/onboarding-attempt") => json!({"webAppOrigin": ORIGIN}),
            ("POST", "/desktop/bootstrap/claim") => {
                let attempt = self.plane.plane.onboarding_attempt_for_owner(&self.plane.owner).await.unwrap();
                claim_body(&attempt, Uuid::new_v4(), &SigningKey::from_bytes(&rand::random()))
            }
            ("POST", "/compute-targets/register") => registration(),
            ("PUT", "/compute-targets/{id}") => {
                fill("{id}", &target);
                json!({"selectedHarness": "reviewer"})
            }
            ("PATCH", "/compute-targets/{id}/sharing") => {
                fill("{id}", &target);
                json!({"isSharedWithOrg": true})
            }
            ("DELETE", "/compute-targets/{id}") => {
                let admin = self.admin().await;
                let created = admin.post("/compute-targets/register", registration()).await;
                let id = created.data("id").as_str().unwrap();
                let share = json!({"isSharedWithOrg": true});
                assert_eq!(admin.patch(&format!("/compute-targets/{id}/sharing"), share).await.status, 200);
                fill("{id}", id);
                json!({})
            }
            ("POST", "/compute-targets/{id}/commands") => {
                fill("{id}", &target);
                json!({"operationId": "x", "method": "POST", "path": "/api/gateway/git", "body": {"action": "push"}})
            }
            ("PUT", "/compute-targets/{id}/health-check") => {
                fill("{id}", &target);
                json!({"result": {"allRequiredPassed": true, "checks": []}})
            }
            _ => {
                if template.starts_with("/compute-targets/{id}") {
                    fill("{id}", &target);
                    if template.contains("{command_id}") {
                        fill("{command_id}", &self.command().await);
                    }
                    fill("{loop_id}", &Uuid::nil().to_string());
                } else if template.starts_with("/loops/{id}") {
                    let (id, runner) = self.running("PLAN").await;
                    runner.event(id, json!({"type": "started"})).await;
                    fill("{id}", &id.to_string());
                } else if template.starts_with("/documents/{idOrSlug}") {
                    fill("{idOrSlug}", &self.document().await);
                } else if template.starts_with("/tickets/{idOrSlug}") {
                    fill("{idOrSlug}", &self.ticket().await);
                } else if template.starts_with("/agents/{idOrSlug}") {
                    fill("{idOrSlug}", &self.agent().await);
                    fill("{version}", "1");
                }
                fill("{key}", "x");
                json!({})
            }
        };
        Attempt { path, body }
    }

    /// Performs an act through a route, and returns what is wrong.
    async fn check_route(&self, act: &Act, method: &str, template: &str) -> Option<String> {
        let with = self.with(act.role).await;
        let Attempt { path, body } = self.attempt(method, template, &with).await;
        let send = async |client: &TestClient| {
            // The body is not read: streams have no end.
            client.response(method, &path, Some(body.to_string())).await.status().as_u16()
        };
        let before = self.audit_rows().await;
        if let Some(without) = self.without(act.role).await {
            let signed_in = self.audit_rows().await.len();
            let status = send(&without).await;
            if !matches!(status, 401 | 403 | 404) {
                return Some(format!("answered with {status} without the role"));
            }
            if self.audit_rows().await.len() != signed_in {
                return Some("left a row without the role".to_owned());
            }
        }
        // The owner of the desktop and the runner have credentials of their own.
        let status = match act.role {
            RequiredRole::Runner => {
                let id = path.split('/').nth(2).unwrap().parse().unwrap();
                let runner = self.plane.runner(id).await;
                send(&runner.with_header("x-loop-event-nonce", &Uuid::new_v4().to_string())).await
            }
            RequiredRole::Desktop => send(&self.desktop.identity.client(&self.plane, method, &path, 0)).await,
            _ if template == "/compute-targets/local-auth/verify" => return None,
            _ => send(&with).await,
        };
        if act.audit.is_empty() {
            // The acts that change nothing get no meaningful body, so only the refusals of the role count.
            let is_refused = matches!(status, 401 | 403) && act.role != RequiredRole::Anyone;
            return is_refused.then(|| format!("refused with {status} with the role"));
        }
        if !(200..300).contains(&status) {
            return Some(format!("refused with {status} with the role"));
        }
        self.missing_row(act, &before).await
    }

    async fn missing_row(&self, act: &Act, before: &[audit_entry::Model]) -> Option<String> {
        let rows = self.audit_rows().await;
        let new: Vec<_> = rows.iter().filter(|row| !before.contains(row)).map(|row| row.action.0).collect();
        let is_recorded = new.iter().any(|action| act.audit.contains(action));
        (!is_recorded).then(|| format!("left no row of {:?}, but {new:?}", act.audit))
    }

    async fn check_completion(&self, act: &Act, command: LoopCommand) -> Option<String> {
        let (admin, member) = (self.admin().await, self.member().await);
        let before = self.audit_rows().await;
        match command {
            LoopCommand::Bootstrap => {
                self.bootstrap(&member, "cart").await;
                if self.missing_row(act, &before).await.is_none() {
                    return Some("changed agents without the role".to_owned());
                }
                let proposed = member.get("/agent-proposals").await;
                if proposed.data("proposals")[0]["agents"][0]["role"] != "cart" {
                    return Some(format!("left no proposal: {}", proposed.text));
                }
                self.bootstrap(&admin, "tax").await;
            }
            LoopCommand::Plan => {
                let start = json!({"command": "PLAN", "documentId": self.document().await});
                self.complete(&member, start, json!({"plan": {"content": "# Plan"}})).await;
            }
            LoopCommand::GeneratePrd => {
                let start = json!({"command": "GENERATE_PRD", "documentId": self.document().await});
                self.complete(&member, start, json!({"prd": {"content": "# Prd"}})).await;
            }
            other => return Some(format!("no test completes {other}")),
        }
        self.missing_row(act, &before).await
    }

    async fn check_frame(&mut self, act: &Act, name: &str) -> Option<String> {
        let before = self.audit_rows().await;
        match name {
            "hello" => {
                let mut identity = DesktopIdentity::claim(&self.plane).await;
                let mut hello = hello(identity.gateway_id);
                hello["machineName"] = json!(Uuid::new_v4());
                let address = self.plane.serve().await;
                let key = std::mem::replace(&mut identity.api_key, "lgk_live_unknown".to_owned());
                if identity.upgrade(address, 0).await.is_ok() {
                    return Some("accepted an unknown key".to_owned());
                }
                identity.api_key = key;
                LinkedDesktop::connect_with(identity, address, &hello).await;
            }
            "telemetry" => {
                let mut wake =
                    self.plane.app.bus.subscribe(Topic::Organization(self.plane.owner.organization_id));
                let policies = json!({"policies": [{"effect": "allow"}], "rules": []});
                let mut report =
                    Telemetry::new(Severity::Info, APPROVAL_POLICIES_CHANGED, "Approval policies changed");
                report.trace.compute_target_id = self.desktop.target_id.to_string();
                report.diagnostics = policies.as_object().cloned();
                self.desktop.send(event::TELEMETRY, &json!(report)).await;
                let wait = async {
                    while self.missing_row(act, &before).await.is_some() {
                        wake.changed().await.unwrap();
                    }
                };
                if tokio::time::timeout(std::time::Duration::from_secs(10), wait).await.is_err() {
                    return Some("was not recorded".to_owned());
                }
            }
            other => return Some(format!("no test sends {other}")),
        }
        self.missing_row(act, &before).await
    }
}

impl Scene {
    /// Performs an act of the operator in the way of a sub-command, without the command line.
    async fn check_command(&self, act: &Act, name: &str) -> Option<String> {
        let administration = Administration::of(self.plane.app.store.clone());
        let before = self.audit_rows().await;
        match name {
            "sign-in-link" => drop(administration.sign_in_token(None, None).await.unwrap()),
            "user reset-password" => {
                drop(administration.password_reset_token("cy@example.org", None).await.unwrap());
            }
            "user deactivate" | "user activate" => {
                let active = name == "user activate";
                administration.set_active("cy@example.org", None, active).await.unwrap();
            }
            "organization add" => {
                let owner = FirstOwner { organization: "Second".to_owned(), ..first_owner() };
                administration.add_organization(&owner).await.unwrap();
            }
            // They leave no row behind.
            "user list" | "organization list" | "backup" | "restore" | "new-secrets" | "check"
            | "migrate" => {
                return None;
            }
            other => return Some(format!("no test runs {other}")),
        }
        self.missing_row(act, &before).await
    }
}

fn browser_key() -> Value {
    let key: BrowserPublicKey = SigningKey::from_bytes(&rand::random()).verifying_key().to_bytes().into();
    json!({"publicKeyBase64": key, "fingerprint": key.fingerprint()})
}

fn registration() -> Value {
    json!({"machineName": Uuid::new_v4(), "platform": "linux", "supportedOperations": []})
}

#[tokio::test]
async fn each_way_requires_the_role_of_its_act_and_is_audited() {
    let mut scene = Scene::start().await;
    let mut failures = Vec::new();
    // Members are deactivated last, because other acts need them.
    let mut acts: Vec<&Act> = ACTS.iter().collect();
    acts.sort_by_key(|act| act.name == "change a member");
    for act in acts {
        for way in act.ways {
            let failure = match *way {
                Way::Route(method, path) => scene.check_route(act, method, path).await,
                Way::Completion(command) => scene.check_completion(act, command).await,
                Way::Frame(name) => scene.check_frame(act, name).await,
                Way::Command(name) => scene.check_command(act, name).await,
            };
            failures.extend(failure.map(|failure| format!("{}: {way} {failure}", act.name)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
