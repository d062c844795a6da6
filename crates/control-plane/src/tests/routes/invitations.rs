use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::store::entity::invitation;
use crate::store::entity::user::Role;
use crate::store::now;
use crate::tests::{ORIGIN, TestApp, TestClient, TestResponse};

const PASSWORD: &str = "correct horse battery";

async fn invite(admin: &TestClient, email: &str, role: &str) -> String {
    let created = admin.post("/invitations", json!({"email": email, "role": role})).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.data("token").as_str().unwrap().to_owned()
}

fn page(plane: &TestApp) -> TestClient {
    plane.anonymous().with_header("origin", ORIGIN)
}

async fn accept(client: &TestClient, token: &str, password: &str) -> TestResponse {
    let body = json!({"token": token, "password": password, "firstName": "Ben", "lastName": " "});
    client.post("/invitations/accept", body).await
}

// CP-52
#[tokio::test]
async fn invitation_creates_one_account_once() {
    let plane = TestApp::start().await;
    let admin = plane.owner().await;
    let created = admin.post("/invitations", json!({"email": "Ben@Example.org", "role": "org:member"})).await;
    let token = created.data("token").as_str().unwrap();
    assert_eq!(created.data("url"), &json!(format!("{ORIGIN}/join?token={token}")));
    let listed = admin.get("/invitations").await;
    assert_eq!(listed.json["data"][0]["email"], "ben@example.org");
    assert!(!listed.text.contains(token), "the token is shown once");
    let rows = invitation::Entity::find().all(plane.app.store.reader()).await.unwrap();
    assert!(!format!("{rows:?}").contains(token));
    assert_eq!(rows[0].expires_at - rows[0].created_at, 7 * 24 * 3600 * 1000);

    let visitor = page(&plane);
    let preview = visitor.post("/invitations/preview", json!({"token": token})).await;
    assert_eq!(
        (preview.data("organizationName"), preview.data("role")),
        (&json!("Home"), &json!("org:member"))
    );
    let short = accept(&visitor, token, "short").await;
    assert_eq!(short.refused(), (400, "password: must have at least 12 character(s)"));
    let accepted = accept(&visitor, token, PASSWORD).await;
    assert_eq!((accepted.data("firstName"), accepted.data("lastName")), (&json!("Ben"), &Value::Null));
    let ben = visitor.signed_in(&accepted);
    assert_eq!(ben.get("/me").await.data("role"), "org:member");
    assert_eq!(ben.get("/invitations").await.refused(), (403, "Forbidden"));

    for refused in [
        accept(&visitor, token, PASSWORD).await,
        visitor.post("/invitations/preview", json!({"token": token})).await,
        accept(&visitor, "unknown", PASSWORD).await,
        ben.post("/invitations/accept", json!({"token": token})).await,
    ] {
        assert_eq!((refused.failure().0, refused.failure().2), (410, "invitation_invalid"));
    }
    assert_eq!(admin.get("/invitations").await.json["data"], json!([]));
    let sign_in = json!({"email": "ben@example.org", "password": PASSWORD});
    assert_eq!(visitor.post("/auth/sign-in", sign_in).await.status, 200);
    let again = admin.post("/invitations", json!({"email": "ben@example.org", "role": "org:admin"})).await;
    assert_eq!((again.failure().0, again.failure().2), (409, "already_member"));
}

#[tokio::test]
async fn concurrent_acceptances_create_one_member() {
    let plane = TestApp::start().await;
    let token = invite(&plane.owner().await, "ben@example.org", "org:member").await;
    let visitor = page(&plane);
    let responses = futures_util::future::join_all((0..4).map(|_| accept(&visitor, &token, PASSWORD))).await;
    let accepted = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!(accepted, 1, "{responses:?}");
    let members = plane.owner().await.get("/members").await;
    assert_eq!(members.json["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn expired_revoked_and_replaced_invitations_are_rejected() {
    let plane = TestApp::start().await;
    let admin = plane.owner().await;
    let visitor = page(&plane);
    let replaced = invite(&admin, "ben@example.org", "org:member").await;
    let revoked = invite(&admin, "ben@example.org", "org:member").await;
    let id = admin.get("/invitations").await.json["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/invitations/{id}");
    assert_eq!(plane.stranger().await.delete(&path).await.status, 404);
    assert_eq!(admin.delete(&path).await.data("deleted"), true);
    assert_eq!(admin.delete(&path).await.refused(), (404, "Invitation not found"));
    let old = invite(&admin, "ben@example.org", "org:member").await;
    // Makes the invitation expired instead of waiting seven days.
    let expire = invitation::Entity::update_many();
    let expire = expire.col_expr(invitation::Column::ExpiresAt, Expr::value(now()));
    expire.exec(plane.app.store.writer()).await.unwrap();
    for token in [replaced, revoked, old] {
        assert_eq!(accept(&visitor, &token, PASSWORD).await.failure().2, "invitation_invalid");
    }
    let wrong = admin.post("/invitations", json!({"email": "ben", "role": "org:member"})).await;
    assert_eq!(wrong.refused(), (400, "email: must be an e-mail address"));
}

#[tokio::test]
async fn signed_in_user_joins_another_organization() {
    let plane = TestApp::start().await;
    let second = plane.organization("second").await;
    let eve = crate::accounts::insert_identity(plane.app.store.writer()).await.unwrap();
    let eve = plane.join(second, eve, "eve@example.org", Role::Admin).await;
    let token = invite(&plane.sign_in(eve).await, "work@example.org", "org:member").await;

    let ada = plane.owner().await;
    let accepted = ada.post("/invitations/accept", json!({"token": token})).await;
    assert_eq!(accepted.json["data"]["organization"]["slug"], "second");
    assert_eq!(
        (accepted.data("email"), accepted.data("firstName")),
        (&json!("work@example.org"), &json!("Ada"))
    );
    let joined = ada.signed_in(&accepted);
    assert_eq!(ada.get("/me").await.status, 401, "the replaced session is revoked");
    assert_eq!(joined.with_header("x-org-slug", "home").get("/me").await.data("role"), "org:admin");
    let anonymous = page(&plane).post("/invitations/accept", json!({"token": "x"})).await;
    assert_eq!(anonymous.refused(), (400, "password: is required without a session"));
    let without_origin = joined.without("origin").post("/invitations/accept", json!({"token": "x"})).await;
    assert_eq!(without_origin.status, 403);
}

#[tokio::test]
async fn existing_account_accepts_with_its_own_password_only() {
    let plane = TestApp::start().await;
    plane.plane.set_first_password(&plane.owner, PASSWORD.into()).await.unwrap();
    let second = plane.organization("second").await;
    let eve = crate::accounts::insert_identity(plane.app.store.writer()).await.unwrap();
    let eve = plane.join(second, eve, "eve@example.org", Role::Admin).await;
    // The administrator of another organization invites Ada's address and tries to accept as Ada.
    let token = invite(&plane.sign_in(eve).await, "ada@example.org", "org:member").await;
    let refused = accept(&page(&plane), &token, "a password of Eve").await;
    assert_eq!(refused.failure().2, "invalid_credentials");
    let accepted = accept(&page(&plane), &token, PASSWORD).await;
    let joined = page(&plane).signed_in(&accepted);
    assert_eq!(
        joined.with_header("x-org-slug", "home").get("/me").await.status,
        200,
        "one identity in two organizations"
    );
}

// Otherwise an invitation could put a person who is signed in to work in another account unnoticed.
#[tokio::test]
async fn acceptance_asks_before_it_ends_the_session_of_another_person() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let token = invite(&owner, "ben@example.org", "org:member").await;
    let mut body = json!({"token": token, "password": PASSWORD});
    let asked = owner.post("/invitations/accept", body.clone()).await;
    assert_eq!((asked.failure().0, asked.failure().2), (409, "already_signed_in"));
    assert_eq!(asked.json["data"]["newEmail"], "ben@example.org", "{}", asked.text);
    assert_eq!(owner.get("/me").await.status, 200);
    let members = owner.get("/members").await;
    assert_eq!(members.json["data"].as_array().unwrap().len(), 1, "nothing was created");
    body["replacesSession"] = json!(true);
    let accepted = owner.post("/invitations/accept", body).await;
    assert_eq!(accepted.data("email"), "ben@example.org", "{}", accepted.text);
    assert_eq!(owner.get("/me").await.status, 401, "the former session has ended");

    // The same for an account that exists. The signed-in person's own account needs no consent.
    let ben = owner.signed_in(&accepted);
    let second = plane.organization("second").await;
    let eve = crate::accounts::insert_identity(plane.app.store.writer()).await.unwrap();
    let eve = plane.join(second, eve, "eve@example.org", Role::Admin).await;
    let eve = plane.sign_in(eve).await;
    let token = invite(&eve, "ben@example.org", "org:member").await;
    assert_eq!(accept(&eve, &token, PASSWORD).await.failure().2, "already_signed_in");
    assert_eq!(accept(&ben, &token, PASSWORD).await.status, 200);
}
