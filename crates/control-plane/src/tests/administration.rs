//! Acts of the operator on the database of a running control plane.

use std::path::PathBuf;

use sea_orm::{ConnectionTrait as _, Database};
use sea_orm_migration::MigratorTrait as _;
use serde_json::json;

use super::plane::{ORIGIN, first_owner};
use super::{TestApp, TestClient, TestResponse};
use crate::accounts::FirstOwner;
use crate::administration::{Administration, AdministrationError};
use crate::store::Store;
use crate::store::migration::Migrator;

async fn sign_in(plane: &TestApp, token: &str) -> (TestClient, TestResponse) {
    let browser = plane.anonymous().with_header("origin", ORIGIN);
    let reply = browser.post("/auth/sign-in-link", json!({"token": token})).await;
    (browser.signed_in(&reply), reply)
}

/// Connects to the same database with connections of its own, as another process does.
async fn administration(plane: &TestApp) -> Administration {
    let config = &plane.app.config;
    let store = Store::connect(&config.database_url, config.database_schema.as_deref()).await.unwrap();
    Administration::of(store)
}

fn refusal<T>(result: Result<T, AdministrationError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn second_organization_is_separate_from_the_first() {
    let plane = TestApp::start().await;
    let operator = administration(&plane).await;
    let eve = FirstOwner {
        organization: "Acme Labs".to_owned(),
        name: "Eve Moneypenny".to_owned(),
        email: "eve@example.org".to_owned(),
    };
    let created = operator.add_organization(&eve).await.unwrap();
    assert_eq!(created.organization_slug, "acme-labs");
    assert!(refusal(operator.add_organization(&eve).await).contains("\"acme-labs\" exists"));
    let slugs: Vec<String> =
        operator.organizations().await.unwrap().into_iter().map(|organization| organization.slug).collect();
    assert_eq!(slugs, ["home", "acme-labs"]);

    let token = operator.sign_in_token(None, Some("acme-labs")).await.unwrap();
    let (eve, reply) = sign_in(&plane, &token).await;
    assert_eq!(reply.data("organization")["slug"], "acme-labs");
    assert_eq!(eve.get("/members").await.json["data"].as_array().unwrap().len(), 1);
    let (ada, reply) = sign_in(&plane, &operator.sign_in_token(None, None).await.unwrap()).await;
    assert_eq!(reply.data("email"), "ada@example.org");
    let log = ada.get("/audit-log?action=sign_in_link_created").await;
    assert_eq!(log.data("entries").as_array().unwrap().len(), 1, "the log of an organization names its own");
    operator.close().await.unwrap();
}

#[tokio::test]
async fn operator_helps_users_by_their_address() {
    let plane = TestApp::start().await;
    let member = plane.member("ben@example.org").await;
    let operator = administration(&plane).await;
    let users = operator.users(None).await.unwrap();
    let listed: Vec<_> = users.iter().map(|user| (user.email.as_str(), user.is_administrator)).collect();
    assert_eq!(listed, [("ada@example.org", true), ("ben@example.org", false)]);
    assert!(refusal(operator.users(Some("nowhere")).await).contains("no organization"));

    operator.set_active("BEN@example.org", None, false).await.unwrap();
    assert_eq!(member.get("/me").await.status, 401, "sessions end");
    assert!(refusal(operator.sign_in_token(Some("ben@example.org"), None).await).contains("deactivated"));
    operator.set_active("ben@example.org", None, true).await.unwrap();
    let token = operator.password_reset_token("ben@example.org", None).await.unwrap();
    let browser = plane.anonymous().with_header("origin", ORIGIN);
    let body = json!({"token": token, "password": "correct horse battery"});
    assert_eq!(browser.post("/auth/password-reset", body).await.status, 200);

    assert!(refusal(operator.sign_in_token(Some("cy@example.org"), None).await).contains("no user"));
    let elsewhere =
        FirstOwner { organization: "Other".to_owned(), email: "ben@example.org".to_owned(), ..first_owner() };
    operator.add_organization(&elsewhere).await.unwrap();
    let ambiguous = refusal(operator.sign_in_token(Some("ben@example.org"), None).await);
    assert!(ambiguous.contains("name one with --in"), "{ambiguous}");
    operator.sign_in_token(Some("ben@example.org"), Some("other")).await.unwrap();
    operator.close().await.unwrap();
}

#[tokio::test]
async fn copy_contains_changes_that_are_only_in_the_log() {
    let plane = TestApp::start().await;
    let operator = administration(&plane).await;
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("o'clock.db");
    if !plane.app.store.is_embedded() {
        assert!(matches!(operator.copy_database(&copy).await, Err(AdministrationError::NotSqlite)));
        return;
    }
    plane.owner().await.post("/tickets", json!({"title": "Cart", "body": "A cart."})).await;
    operator.copy_database(&copy).await.unwrap();
    assert!(operator.copy_database(&copy).await.is_err(), "an existing file is kept");
    operator.close().await.unwrap();

    let url = format!("sqlite://{}?mode=rw", copy.display());
    Administration::check_file(&url).await.unwrap();
    let restored = Administration::open(&url).await.unwrap();
    assert_eq!(restored.users(None).await.unwrap().len(), 1);
    restored.close().await.unwrap();
    let later = Database::connect(&url).await.unwrap();
    let statements = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0); \
        UPDATE schema_compatibility SET minimum_version = '99.1.0'";
    later.execute_unprepared(statements).await.unwrap();
    later.close().await.unwrap();
    assert!(matches!(Administration::check_file(&url).await, Err(AdministrationError::OtherVersion(_))));
    let empty = format!("sqlite://{}?mode=rwc", dir.path().join("empty.db").display());
    assert!(matches!(Administration::open(&empty).await, Err(AdministrationError::OtherVersion(_))));
    assert!(Administration::check_file(&empty).await.is_err());
    assert!(
        !Administration::is_in_use(&empty).await.unwrap() && Administration::is_in_use(&url).await.unwrap()
    );
}

#[tokio::test]
async fn backup_of_an_earlier_version_is_accepted_and_a_damaged_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let (file, url) = file_and_url(&dir, "earlier.db");
    let earlier = Database::connect(&url).await.unwrap();
    Migrator::up(&earlier, Some(3)).await.unwrap();
    earlier.close().await.unwrap();
    Administration::check_file(&url).await.unwrap();
    assert!(matches!(Administration::open(&url).await, Err(AdministrationError::OtherVersion(_))));

    let mut content = std::fs::read(&file).unwrap();
    // Keeps the first page, which contains the header and the schema.
    content[4096..].fill(0xff);
    let (damaged, url) = file_and_url(&dir, "damaged.db");
    std::fs::write(damaged, content).unwrap();
    assert!(Administration::check_file(&url).await.is_err());
}

fn file_and_url(dir: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let file = dir.path().join(name);
    let url = format!("sqlite://{}?mode=rwc", file.display());
    (file, url)
}
