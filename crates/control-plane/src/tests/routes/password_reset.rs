use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::json;

use crate::store::entity::user::Role;
use crate::store::entity::{external_identity, password_reset};
use crate::store::now;
use crate::tests::plane::ORIGIN;
use crate::tests::{TestApp, TestClient, TestResponse};

const PASSWORD: &str = "correct horse battery";

async fn id_of(client: &TestClient) -> Uuid {
    client.get("/me").await.data("id").as_str().unwrap().parse().unwrap()
}

async fn create(admin: &TestClient, member: Uuid) -> TestResponse {
    admin.post(&format!("/members/{member}/password-reset"), json!({})).await
}

fn token_of(created: &TestResponse) -> String {
    let url = created.data("url").as_str().unwrap_or_else(|| panic!("{}", created.text));
    url.strip_prefix(&format!("{ORIGIN}/reset-password?token=")).unwrap().to_owned()
}

async fn redeem(plane: &TestApp, token: &str) -> TestResponse {
    let browser = plane.anonymous().with_header("origin", ORIGIN);
    browser.post("/auth/password-reset", json!({"token": token, "password": PASSWORD})).await
}

#[tokio::test]
async fn member_sets_a_new_password_with_the_link_of_an_administrator() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let ben = id_of(&member).await;
    let created = create(&owner, ben).await;
    assert_eq!(created.status, 200, "{}", created.text);
    let token = token_of(&created);

    let weak = json!({"token": token, "password": "short"});
    let browser = plane.anonymous().with_header("origin", ORIGIN);
    assert_eq!(browser.post("/auth/password-reset", weak).await.status, 400, "the link stays valid");
    let reset = redeem(&plane, &token).await;
    assert_eq!(
        (reset.status.as_u16(), reset.data("email")),
        (200, &json!("ben@example.org")),
        "{}",
        reset.text
    );
    let session = browser.signed_in(&reset);
    assert_eq!(session.get("/me").await.status, 200);
    assert_eq!(member.get("/me").await.status, 401, "earlier sessions are ended");
    let sign_in = json!({"email": "Ben@example.org", "password": PASSWORD});
    assert_eq!(browser.post("/auth/sign-in", sign_in).await.status, 200);
    assert_eq!(redeem(&plane, &token).await.failure().2, "password_reset_invalid", "a link is valid once");
}

#[tokio::test]
async fn link_is_replaced_by_a_newer_one_and_expires() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let ben = id_of(&plane.member("ben@example.org").await).await;
    let first = token_of(&create(&owner, ben).await);
    let second = token_of(&create(&owner, ben).await);
    let refused = redeem(&plane, &first).await;
    assert_eq!((refused.status.as_u16(), refused.failure().2), (410, "password_reset_invalid"));
    password_reset::Entity::update_many()
        .col_expr(password_reset::Column::ExpiresAt, Expr::value(now()))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    assert_eq!(redeem(&plane, &second).await.status, 410);
    let third = token_of(&create(&owner, ben).await);
    owner.patch(&format!("/members/{ben}"), json!({"active": false})).await;
    assert_eq!(redeem(&plane, &third).await.status, 410, "a deactivated member cannot use it");
    assert_eq!(create(&owner, ben).await.failure().2, "inactive_user");
}

/// A person has one password for all organizations, so a link of one of them would open the others.
#[tokio::test]
async fn administrator_cannot_reset_accounts_beyond_the_organization() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let member = plane.member("ben@example.org").await;
    let ben = id_of(&member).await;
    assert_eq!(create(&member, ben).await.refused(), (403, "Forbidden"));
    let stranger = plane.stranger().await;
    assert_eq!(create(&stranger, ben).await.refused(), (404, "Member not found"));

    // A link from before the person joined the other organization is no longer valid, too.
    let earlier = token_of(&create(&owner, ben).await);
    let elsewhere = plane.organization("other").await;
    plane.join(elsewhere, plane.identity(ben).await, "ben@other.example.org", Role::Admin).await;
    assert_eq!(create(&owner, ben).await.failure().2, "other_organizations");
    assert_eq!(redeem(&plane, &earlier).await.failure().2, "password_reset_invalid");

    let cy = id_of(&plane.member("cy@example.org").await).await;
    let account = external_identity::ActiveModel {
        issuer: Set("https://id.example.org".to_owned()),
        subject: Set("cy".to_owned()),
        identity_id: Set(plane.identity(cy).await),
        created_at: Set(now()),
    };
    external_identity::Entity::insert(account)
        .exec_without_returning(plane.app.store.writer())
        .await
        .unwrap();
    assert_eq!(create(&owner, cy).await.failure().2, "external_account");
}

#[tokio::test]
async fn link_asks_before_it_ends_the_session_of_another_person() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let ben = id_of(&plane.member("ben@example.org").await).await;
    let token = token_of(&create(&owner, ben).await);
    let mut body = json!({"token": token, "password": PASSWORD});
    let asked = owner.post("/auth/password-reset", body.clone()).await;
    assert_eq!((asked.status.as_u16(), &asked.json["data"]["error"]), (409, &json!("already_signed_in")));
    assert_eq!(owner.get("/me").await.status, 200);
    body["replacesSession"] = json!(true);
    let reset = owner.post("/auth/password-reset", body).await;
    assert_eq!(reset.data("email"), "ben@example.org", "{}", reset.text);
    assert_eq!(owner.get("/me").await.status, 401, "the former session has ended");
}
