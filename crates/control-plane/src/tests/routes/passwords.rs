use serde_json::json;

use crate::accounts::email::EmailAddress;
use crate::bus::Topic;
use crate::tests::plane::first_owner;
use crate::tests::{ORIGIN, TestApp, TestClient, TestResponse};

const PASSWORD: &str = "correct horse battery";

/// Starts a control plane whose owner has a password.
async fn with_password() -> TestApp {
    let plane = TestApp::start().await;
    plane.plane.set_first_password(&plane.owner, PASSWORD.into()).await.unwrap();
    plane
}

async fn sign_in(client: &TestClient, email: &str, password: &str) -> TestResponse {
    client.post("/auth/sign-in", json!({"email": email, "password": password})).await
}

fn page(plane: &TestApp) -> TestClient {
    plane.anonymous().with_header("origin", ORIGIN)
}

// CP-52
#[tokio::test]
async fn first_start_creates_one_organization_with_one_administrator() {
    let plane = TestApp::start().await;
    assert_eq!(plane.anonymous().get("/auth/methods").await.data("password"), false);
    plane.plane.set_first_password(&plane.owner, PASSWORD.into()).await.unwrap();
    let mut other = first_owner();
    other.email = "mallory@example.org".to_owned();
    let (one, two) =
        tokio::join!(plane.plane.ensure_first_owner(&other), plane.plane.ensure_first_owner(&other));
    assert_eq!((one.unwrap(), two.unwrap()), (plane.owner.clone(), plane.owner.clone()));

    // An existing password is kept, whatever password a later start configures.
    let plane = plane.restart().await;
    plane.plane.set_first_password(&plane.owner, "another password".into()).await.unwrap();
    let signed_in = sign_in(&page(&plane), " Ada@Example.ORG ", PASSWORD).await;
    assert_eq!((signed_in.status.as_u16(), signed_in.header("cache-control")), (200, Some("no-store")));
    assert_eq!(signed_in.data("role"), "org:admin");
    let me = page(&plane).signed_in(&signed_in).get("/me").await;
    assert_eq!(me.json["data"]["organization"]["slug"], "home");
    assert_eq!(plane.anonymous().get("/auth/methods").await.data("password"), true);
    assert_eq!(sign_in(&page(&plane), "mallory@example.org", PASSWORD).await.status, 401);
}

#[tokio::test]
async fn concurrent_first_starts_create_one_organization() {
    let plane = TestApp::start().await;
    use crate::store::entity::{identity, organization, user};
    use sea_orm::{EntityTrait, PaginatorTrait};
    // Without rows each concurrent start sees an empty database, as on a new installation.
    let store = &plane.app.store;
    user::Entity::delete_many().exec(store.writer()).await.unwrap();
    organization::Entity::delete_many().exec(store.writer()).await.unwrap();
    identity::Entity::delete_many().exec(store.writer()).await.unwrap();
    let first = first_owner();
    let starts = (0..8).map(|_| plane.plane.ensure_first_owner(&first));
    let owners = futures_util::future::join_all(starts).await;
    let owners: Vec<_> = owners.into_iter().map(Result::unwrap).collect();
    assert!(owners.windows(2).all(|pair| pair[0] == pair[1]), "{owners:?}");
    assert_eq!(organization::Entity::find().count(store.reader()).await.unwrap(), 1);
    assert_eq!(user::Entity::find().count(store.reader()).await.unwrap(), 1);
}

// CP-52
#[tokio::test]
async fn sign_in_is_throttled_after_ten_wrong_passwords() {
    let plane = with_password().await;
    let attacker = page(&plane).with_address("192.0.2.1");
    let mut texts = Vec::new();
    for _ in 0..10 {
        let refused = sign_in(&attacker, "ada@example.org", "wrong").await;
        assert_eq!((refused.failure().0, refused.failure().2), (401, "invalid_credentials"));
        texts.push(refused.failure().1.to_owned());
    }
    // The attempts are stored: a restart does not reset the limit, and the correct password is rejected too.
    let plane = plane.restart().await;
    let attacker = attacker.at(&plane.anonymous());
    let throttled = sign_in(&attacker, "ada@example.org", PASSWORD).await;
    assert_eq!((throttled.failure().0, throttled.failure().2), (429, "too_many_attempts"));
    texts.push(throttled.failure().1.to_owned());
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    // Other networks and other accounts are not locked out.
    assert_eq!(
        sign_in(&attacker.with_address("198.51.100.1"), "ada@example.org", PASSWORD).await.status,
        200
    );
    assert_eq!(sign_in(&attacker, "eve@example.org", PASSWORD).await.status, 401);

    // Makes all attempts older than the window of 15 minutes instead of waiting.
    use crate::store::entity::sign_in_attempt::{Column, Entity};
    use sea_orm::sea_query::ExprTrait as _;
    use sea_orm::{EntityTrait, prelude::Expr};
    let backdate = Entity::update_many().col_expr(Column::At, Expr::col(Column::At).sub(15 * 60 * 1000));
    backdate.exec(plane.app.store.writer()).await.unwrap();
    assert_eq!(sign_in(&attacker, "ada@example.org", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn failed_attempts_of_others_do_not_lock_out_a_known_browser() {
    let plane = with_password().await;
    let client = page(&plane).with_address("192.0.2.1");
    let first = sign_in(&client, "ada@example.org", PASSWORD).await;
    let mut cookies = first.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    let cookie = cookies.find(|cookie| cookie.starts_with("loopgate_known_browser=")).unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    let known = client.with_header("cookie", cookie.split(';').next().unwrap());
    for network in 1..=11 {
        let attacker = page(&plane).with_address(&format!("198.51.100.{network}"));
        for _ in 0..10 {
            sign_in(&attacker, "ada@example.org", "wrong").await;
        }
    }
    assert_eq!(sign_in(&client, "ada@example.org", PASSWORD).await.failure().2, "too_many_attempts");
    assert_eq!(sign_in(&known, "ada@example.org", PASSWORD).await.status, 200);
    // The cookie is for one account, cannot be forged, and has a limit of its own.
    assert_eq!(sign_in(&known, "eve@example.org", "wrong").await.status, 401);
    let forged = client.with_header("cookie", &format!("loopgate_known_browser={}", "0".repeat(64)));
    assert_eq!(sign_in(&forged, "ada@example.org", PASSWORD).await.failure().2, "too_many_attempts");
    for _ in 0..10 {
        assert_eq!(sign_in(&known, "ada@example.org", "wrong").await.status, 401);
    }
    assert_eq!(sign_in(&known, "ada@example.org", PASSWORD).await.failure().2, "too_many_attempts");
}

#[tokio::test]
async fn concurrent_wrong_passwords_are_all_counted() {
    let plane = with_password().await;
    let attacker = page(&plane).with_address("192.0.2.1");
    let guesses = (0..30).map(|_| sign_in(&attacker, "ada@example.org", "wrong"));
    let answers = futures_util::future::join_all(guesses).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert!(checked <= 10, "{checked} passwords were verified");
    assert!(answers.iter().all(|answer| matches!(answer.status.as_u16(), 401 | 429)));
}

#[tokio::test]
async fn successful_sign_in_resets_the_failure_count() {
    let plane = with_password().await;
    let client = page(&plane).with_address("192.0.2.1");
    for round in 0..3 {
        for _ in 0..6 {
            assert_eq!(sign_in(&client, "ada@example.org", "wrong").await.status, 401);
        }
        assert_eq!(sign_in(&client, "ada@example.org", PASSWORD).await.status, 200, "round {round}");
    }
}

#[tokio::test]
async fn unknown_account_and_wrong_password_are_indistinguishable() {
    let plane = with_password().await;
    let client = page(&plane);
    let wrong = sign_in(&client, "ada@example.org", "wrong").await;
    for email in ["nobody@example.org", "", "no address", "ada@example.org\u{0}"] {
        let unknown = sign_in(&client, email, PASSWORD).await;
        assert_eq!((unknown.status, &unknown.json), (wrong.status, &wrong.json), "{email:?}");
        assert_eq!(unknown.header("set-cookie"), None);
    }
    let long = "x".repeat(9000);
    assert_eq!(sign_in(&client, "ada@example.org", &long).await.status, 413);
}

#[tokio::test]
async fn sign_in_fails_when_user_or_organization_is_inactive() {
    use crate::store::entity::{organization, user};
    use sea_orm::EntityTrait;
    use sea_orm::prelude::Expr;
    let plane = with_password().await;
    let client = page(&plane);
    let store = &plane.app.store;
    let organizations = organization::Entity::update_many();
    let closed = organizations.col_expr(organization::Column::Active, Expr::value(false));
    closed.exec(store.writer()).await.unwrap();
    let refused = sign_in(&client, "ada@example.org", PASSWORD).await;
    assert_eq!(refused.failure().2, "invalid_credentials");
    let organizations = organization::Entity::update_many();
    let open = organizations.col_expr(organization::Column::Active, Expr::value(true));
    open.exec(store.writer()).await.unwrap();
    let signed_in = client.signed_in(&sign_in(&client, "ada@example.org", PASSWORD).await);
    let users = user::Entity::update_many().col_expr(user::Column::Active, Expr::value(false));
    users.exec(store.writer()).await.unwrap();
    assert_eq!(signed_in.get("/me").await.status, 401);
    assert_eq!(sign_in(&client, "ada@example.org", PASSWORD).await.status, 401);
}

#[tokio::test]
async fn password_change_revokes_other_sessions() {
    let plane = with_password().await;
    let client = page(&plane);
    let own = client.signed_in(&sign_in(&client, "ada@example.org", PASSWORD).await);
    let other = plane.owner().await;
    let mut wake = plane.app.bus.subscribe(Topic::Credentials);
    let change = |current: &str, new: &str| json!({"currentPassword": current, "newPassword": new});
    let wrong = own.put("/auth/password", change("wrong", "a new long password")).await;
    assert_eq!((wrong.failure().0, wrong.failure().2), (403, "wrong_password"));
    let missing = own.put("/auth/password", json!({"newPassword": "a new long password"})).await;
    assert_eq!(missing.failure().2, "wrong_password");
    let short = own.put("/auth/password", change(PASSWORD, "short")).await;
    assert_eq!(short.refused(), (400, "newPassword: must have at least 12 character(s)"));

    let changed = own.put("/auth/password", change(PASSWORD, "a new long password")).await;
    assert_eq!(changed.data("signInEmail"), "ada@example.org");
    wake.changed().await.unwrap();
    assert_eq!(
        (own.get("/me").await.status, other.get("/me").await.status.as_u16()),
        (http::StatusCode::OK, 401)
    );
    assert_eq!(sign_in(&client, "ada@example.org", PASSWORD).await.status, 401);
    assert_eq!(sign_in(&client, "ada@example.org", "a new long password").await.status, 200);
    // Attempts with a wrong current password count as well, or a stolen session could guess the password.
    for _ in 0..20 {
        own.put("/auth/password", change("wrong", "a new long password")).await;
    }
    let throttled = own.put("/auth/password", change("a new long password", "another long one")).await;
    assert_eq!(throttled.failure().2, "too_many_attempts");
}

#[tokio::test]
async fn first_password_enables_password_sign_in() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let first = owner.put("/auth/password", json!({"newPassword": PASSWORD})).await;
    assert_eq!(first.data("signInEmail"), "ada@example.org");
    assert_eq!(sign_in(&page(&plane), "ada@example.org", PASSWORD).await.status, 200);
    // A sign-in address is unique: a second user with the same address cannot set a password for it.
    let namesake = plane.member("ADA@example.org").await;
    let taken = namesake.put("/auth/password", json!({"newPassword": PASSWORD})).await;
    assert_eq!((taken.failure().0, taken.failure().2), (409, "email_taken"));
}

#[tokio::test]
async fn password_is_stored_only_as_a_hash() {
    use crate::store::entity::identity;
    use sea_orm::EntityTrait;
    let plane = with_password().await;
    let rows = identity::Entity::find().all(plane.app.store.reader()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(rows[0].password_hash.as_ref().unwrap().starts_with("$argon2id$"));
    assert!(!format!("{rows:?}").contains(PASSWORD));
    assert!(EmailAddress::parse(rows[0].sign_in_email.as_ref().unwrap()).is_some());
}
