//! Who may call which route: every route of the table, with every kind of caller.

use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::json;

use crate::router::{Access, all_routes};
use crate::store::entity::session;
use crate::store::now;
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient, TestResponse};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallerKind {
    Anonymous,
    ExpiredSession,
    RevokedKey,
    OtherLoopsRunner,
    OtherOrganization,
    Member,
    Admin,
    KeyToRead,
    KeyToWrite,
    KeyToDelete,
}

/// How an answer must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// 401.
    Unknown,
    /// 403.
    Forbidden,
    /// Neither of them: what the body lacks is another matter.
    Admitted,
    /// Admitted, and yet no success: what the path names belongs to others.
    Nothing,
}

impl Expected {
    const fn fits(self, status: u16) -> bool {
        match self {
            Self::Unknown => status == 401,
            Self::Forbidden => status == 403,
            Self::Admitted => !matches!(status, 401 | 403),
            Self::Nothing => matches!(status, 400 | 404),
        }
    }
}

fn expected(caller: CallerKind, access: Access, method: &str, path: &str) -> Expected {
    use CallerKind as Caller;
    let scoped =
        |granted: &str| if granted == scope(method) { Expected::Admitted } else { Expected::Forbidden };
    match (access, caller) {
        // A key is asked whether it is that of the loop's desktop.
        (Access::Runner, Caller::KeyToRead | Caller::KeyToWrite | Caller::KeyToDelete)
            if path == "/loops/{id}/heartbeat" =>
        {
            Expected::Forbidden
        }
        // The loop is none that a person runs by hand.
        (Access::Person, Caller::Member | Caller::Admin | Caller::KeyToWrite)
            if path == "/loops/{id}/manual-events" || (method, path) == ("PATCH", "/loops/{id}") =>
        {
            Expected::Forbidden
        }
        // Whoever started a loop resumes it.
        (_, Caller::Member) if path == "/loops/{id}/resume" => Expected::Forbidden,
        (Access::Public, _) => Expected::Admitted,
        (_, Caller::Anonymous | Caller::ExpiredSession | Caller::RevokedKey) => Expected::Unknown,
        (Access::Runner | Access::PersonOrRunner, Caller::OtherLoopsRunner) => Expected::Forbidden,
        (_, Caller::OtherLoopsRunner) | (Access::Runner, _) => Expected::Unknown,
        (
            Access::Session | Access::AdminSession,
            Caller::KeyToRead | Caller::KeyToWrite | Caller::KeyToDelete,
        )
        | (Access::ApiKey, Caller::Member | Caller::Admin | Caller::OtherOrganization) => Expected::Unknown,
        (Access::Reader, Caller::KeyToRead) => Expected::Admitted,
        (Access::Reader, Caller::KeyToWrite | Caller::KeyToDelete) => Expected::Forbidden,
        (_, Caller::KeyToRead) => scoped("read"),
        (_, Caller::KeyToWrite) => scoped("write"),
        (_, Caller::KeyToDelete) => scoped("delete"),
        (Access::Admin | Access::AdminSession, Caller::Member) => Expected::Forbidden,
        (_, Caller::OtherOrganization) if names_a_resource(path) => Expected::Nothing,
        (_, Caller::OtherOrganization | Caller::Member | Caller::Admin) => Expected::Admitted,
    }
}

fn scope(method: &str) -> &'static str {
    match method {
        "GET" => "read",
        "DELETE" => "delete",
        _ => "write",
    }
}

/// Whether a path names something that belongs to an organization; the key of a feature flag does not.
fn names_a_resource(path: &str) -> bool {
    path.contains('{') && path != "/feature-flags/{key}"
}

/// One organization with something of everything.
struct Resources {
    target: String,
    key: String,
    loop_id: String,
    document: String,
    agent: String,
    member: String,
    invitation: String,
    ticket: String,
}

impl Resources {
    async fn create(plane: &TestApp, admin: &TestClient) -> Self {
        let member = |reply: &TestResponse, name: &str| {
            reply.data(name).as_str().unwrap_or_else(|| panic!("{name}: {}", reply.text)).to_owned()
        };
        let key = admin.post("/api-keys", json!({"name": "x"})).await;
        let document = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": shop()});
        let document = admin.post("/documents", document).await;
        let invitation = json!({"email": "cy@example.org", "role": "org:member"});
        let invitation = admin.post("/invitations", invitation).await;
        let ticket = admin.post("/tickets", json!({"title": "x", "body": "x"})).await;
        let agent = admin.post("/agents", json!({"name": "x", "role": "tax", "prompt": "p"})).await;
        Self {
            target: plane.desktop().await.target_id.to_string(),
            key: member(&key, "id"),
            loop_id: plane.running("EXECUTE").await.0.to_string(),
            document: member(&document, "slug"),
            agent: member(&agent, "slug"),
            member: plane.owner.user_id.to_string(),
            invitation: member(&invitation, "id"),
            ticket: member(&ticket, "slug"),
        }
    }

    /// A path of the table, naming what is there.
    fn path(&self, template: &str) -> String {
        let ids = [
            ("/compute-targets/{id}", &self.target),
            ("/api-keys/{id}", &self.key),
            ("/loops/{id}", &self.loop_id),
            ("/documents/{idOrSlug}", &self.document),
            ("/agents/{idOrSlug}", &self.agent),
            ("/tickets/{idOrSlug}", &self.ticket),
            ("{version}", &"1".to_owned()),
            ("/members/{id}", &self.member),
            ("/invitations/{id}", &self.invitation),
            ("/sessions/{id}", &"0".repeat(64)),
            ("{key}", &"mermaid-enhancements".to_owned()),
            ("/repositories/{owner}", &"acme".to_owned()),
            ("/acme/{name}", &"shop".to_owned()),
            ("{command_id}", &Uuid::now_v7().to_string()),
            ("{loop_id}", &self.loop_id),
        ];
        let fill = |path: String, (placeholder, value): (&str, &String)| {
            let before = &placeholder[..placeholder.find('{').unwrap()];
            path.replace(placeholder, &format!("{before}{value}"))
        };
        let path = ids.into_iter().fold(template.to_owned(), fill);
        assert!(!path.contains('{'), "{path}: say here what the route is called with");
        path
    }
}

/// Called before anybody else signs in: it ends every session that there is.
async fn expired_session(plane: &TestApp) -> TestClient {
    let client = plane.owner().await;
    session::Entity::update_many()
        .col_expr(session::Column::ExpiresAt, Expr::value(now() - 1))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    client
}

async fn revoked_key(plane: &TestApp, admin: &TestClient) -> TestClient {
    let made = admin.post("/api-keys", json!({"name": "revoked"})).await;
    let key = plane.anonymous().with_bearer(made.data("plaintext").as_str().unwrap());
    let id = made.data("id").as_str().unwrap();
    assert_eq!(admin.delete(&format!("/api-keys/{id}")).await.status, 200);
    key
}

// CP-44
#[tokio::test]
async fn every_route_admits_whom_its_row_names() {
    let plane = TestApp::start().await;
    let expired = expired_session(&plane).await;
    let admin = plane.owner().await;
    let resources = Resources::create(&plane, &admin).await;
    let scoped = async |scope: &str| plane.key_with(json!({"name": scope, "scopes": [scope]})).await;
    // Those who may remove something come last.
    let callers = [
        (CallerKind::Anonymous, plane.anonymous()),
        (CallerKind::ExpiredSession, expired),
        (CallerKind::RevokedKey, revoked_key(&plane, &admin).await),
        (CallerKind::OtherLoopsRunner, plane.running("PLAN").await.1),
        (CallerKind::OtherOrganization, plane.stranger().await),
        (CallerKind::KeyToRead, scoped("read").await),
        (CallerKind::KeyToWrite, scoped("write").await),
        (CallerKind::KeyToDelete, scoped("delete").await),
        (CallerKind::Member, plane.member("ben@example.org").await),
        (CallerKind::Admin, admin),
    ];
    let mut routes = all_routes();
    // A session that signs out is gone for the rest; `signing_out_ends_the_session` shows that route.
    routes.retain(|(_, path, _)| *path != "/auth/sign-out");
    routes.sort_by_key(|(method, ..)| *method == "DELETE");
    let mut wrong = Vec::new();
    for (method, template, access) in routes {
        for (kind, client) in &callers {
            let expected = expected(*kind, access, method, template);
            // Not read to its end: streams have none.
            let answer = client.response(method, &resources.path(template), Some("{}".to_owned())).await;
            let status = answer.status().as_u16();
            if !expected.fits(status) {
                wrong.push(format!("{method} {template} for {kind:?}: {expected:?}, answered {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
