//! Calls every route with every kind of caller and checks whether it is admitted.

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

/// The expected class of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// 401: the caller is not authenticated.
    Unauthenticated,
    /// 403: the caller lacks permission.
    Forbidden,
    /// Neither 401 nor 403. The empty request body may still cause another error.
    Admitted,
    /// 400 or 404: the resource belongs to another organization, whose existence must not be revealed.
    NotFound,
}

impl Expected {
    const fn matches(self, status: u16) -> bool {
        match self {
            Self::Unauthenticated => status == 401,
            Self::Forbidden => status == 403,
            Self::Admitted => !matches!(status, 401 | 403),
            Self::NotFound => matches!(status, 400 | 404),
        }
    }
}

fn expected(caller: CallerKind, access: Access, method: &str, path: &str) -> Expected {
    use CallerKind as Caller;
    let scoped =
        |granted: &str| if granted == scope(method) { Expected::Admitted } else { Expected::Forbidden };
    match (access, caller) {
        // An API key is accepted if it belongs to the loop's desktop; these keys do not.
        (Access::Runner, Caller::KeyToRead | Caller::KeyToWrite | Caller::KeyToDelete)
            if path == "/loops/{id}/heartbeat" =>
        {
            Expected::Forbidden
        }
        // These routes accept MANUAL loops only, and this loop is not one.
        (Access::Person, Caller::Member | Caller::Admin | Caller::KeyToWrite)
            if path == "/loops/{id}/manual-events" || (method, path) == ("PATCH", "/loops/{id}") =>
        {
            Expected::Forbidden
        }
        // Only the user who started a loop may resume it.
        (_, Caller::Member) if path == "/loops/{id}/resume" => Expected::Forbidden,
        (Access::Public, _) => Expected::Admitted,
        (_, Caller::Anonymous | Caller::ExpiredSession | Caller::RevokedKey) => Expected::Unauthenticated,
        (Access::Runner | Access::PersonOrRunner, Caller::OtherLoopsRunner) => Expected::Forbidden,
        (_, Caller::OtherLoopsRunner) | (Access::Runner, _) => Expected::Unauthenticated,
        (
            Access::Session | Access::AdminSession,
            Caller::KeyToRead | Caller::KeyToWrite | Caller::KeyToDelete,
        )
        | (Access::ApiKey, Caller::Member | Caller::Admin | Caller::OtherOrganization) => {
            Expected::Unauthenticated
        }
        (Access::Reader, Caller::KeyToRead) => Expected::Admitted,
        (Access::Reader, Caller::KeyToWrite | Caller::KeyToDelete) => Expected::Forbidden,
        (_, Caller::KeyToRead) => scoped("read"),
        (_, Caller::KeyToWrite) => scoped("write"),
        (_, Caller::KeyToDelete) => scoped("delete"),
        (Access::Admin | Access::AdminSession, Caller::Member) => Expected::Forbidden,
        (_, Caller::OtherOrganization) if names_a_resource(path) => Expected::NotFound,
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

/// Returns whether the path contains the id of a resource of an organization. Keys of feature flags are the
/// same in all organizations.
fn names_a_resource(path: &str) -> bool {
    path.contains('{') && path != "/feature-flags/{key}"
}

/// One resource of every kind, in the owner's organization.
struct Resources {
    target: String,
    key: String,
    loop_id: String,
    document: String,
    agent: String,
    member: String,
    invitation: String,
    ticket: String,
    proposal: String,
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
            // Unknown to everyone: accepting or rejecting it would change it.
            proposal: Uuid::now_v7().to_string(),
        }
    }

    /// Replaces the placeholders of a route's path with the ids of existing resources.
    fn path(&self, template: &str) -> String {
        let ids = [
            ("/compute-targets/{id}", &self.target),
            ("/api-keys/{id}", &self.key),
            ("/loops/{id}", &self.loop_id),
            ("/agent-proposals/{id}", &self.proposal),
            ("/documents/{idOrSlug}", &self.document),
            ("/change-requests/{idOrSlug}", &self.document),
            ("/agents/{idOrSlug}", &self.agent),
            ("/tickets/{idOrSlug}", &self.ticket),
            ("/comments/{commentId}", &Uuid::now_v7().to_string()),
            ("{version}", &"1".to_owned()),
            ("{sequence}", &"1".to_owned()),
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
        assert!(!path.contains('{'), "{path}: add a value for the placeholder");
        path
    }
}

/// Signs in and expires every session in the database, so it must run before other clients sign in.
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
    let created = admin.post("/api-keys", json!({"name": "revoked"})).await;
    let key = plane.anonymous().with_bearer(created.data("plaintext").as_str().unwrap());
    let id = created.data("id").as_str().unwrap();
    assert_eq!(admin.delete(&format!("/api-keys/{id}")).await.status, 200);
    key
}

// CP-44
#[tokio::test]
async fn every_route_admits_exactly_the_callers_of_its_access_level() {
    let plane = TestApp::start().await;
    let expired = expired_session(&plane).await;
    let admin = plane.owner().await;
    let resources = Resources::create(&plane, &admin).await;
    let scoped = async |scope: &str| plane.key_with(json!({"name": scope, "scopes": [scope]})).await;
    // Ordered by permission: callers that can delete resources come last.
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
    // Signing out would invalidate the session for the later requests; `sign_out_ends_session` covers the
    // route.
    routes.retain(|(_, path, _)| *path != "/auth/sign-out");
    // DELETE last, so that the other routes find the resources.
    routes.sort_by_key(|(method, ..)| *method == "DELETE");
    let mut mismatches = Vec::new();
    for (method, template, access) in routes {
        for (kind, client) in &callers {
            let expected = expected(*kind, access, method, template);
            // The body is not read: streams have no end.
            let response = client.response(method, &resources.path(template), Some("{}".to_owned())).await;
            let status = response.status().as_u16();
            if !expected.matches(status) {
                mismatches
                    .push(format!("{method} {template} for {kind:?}: expected {expected:?}, got {status}"));
            }
        }
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}
