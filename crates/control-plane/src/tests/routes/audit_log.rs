use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use crate::store::entity::audit_entry;
use crate::tests::{TestApp, TestClient};

const PASSWORD: &str = "correct horse battery";

/// Returns the entries of the audit log, oldest first.
async fn log(admin: &TestClient) -> Vec<Value> {
    let page = admin.get("/audit-log?limit=200").await;
    assert_eq!(page.status, 200, "{}", page.text);
    page.data("entries").as_array().unwrap().iter().rev().cloned().collect()
}

#[tokio::test]
async fn actions_are_logged_with_actor_subject_and_address() {
    let plane = TestApp::start().await;
    plane.plane.set_first_password(&plane.owner, PASSWORD.into()).await.unwrap();
    let page = plane.anonymous().with_header("origin", crate::tests::ORIGIN).with_address("192.0.2.9");
    let sign_in = |password: &str| json!({"email": "ada@example.org", "password": password});
    page.post("/auth/sign-in", sign_in("wrong")).await;
    let ada = page.signed_in(&page.post("/auth/sign-in", sign_in(PASSWORD)).await);
    let key = ada.post("/api-keys", json!({"name": "ci"})).await;
    let key_id = key.data("id").as_str().unwrap().to_owned();
    let ci = page.with_bearer(key.data("plaintext").as_str().unwrap());
    let agent = ci.post("/agents", json!({"name": "Tax", "role": "tax", "prompt": "p"})).await;
    let agent = agent.data("id").as_str().unwrap().to_owned();
    ci.patch("/agents/tax", json!({"prompt": "q", "changeNote": "n"})).await;
    ci.delete("/agents/tax").await;
    ada.delete(&format!("/api-keys/{key_id}")).await;
    ada.put("/feature-flags/mermaid-enhancements", json!({"enabled": true})).await;
    let invited = ada.post("/invitations", json!({"email": "ben@example.org", "role": "org:member"})).await;
    let target = plane.desktop().await.target_id;
    ada.patch(&format!("/compute-targets/{target}/sharing"), json!({"isSharedWithOrg": true})).await;
    ada.delete(&format!("/compute-targets/{target}")).await;
    let token = invited.data("token").as_str().unwrap();
    let accepted = page.post("/invitations/accept", json!({"token": token, "password": PASSWORD})).await;
    let ben = page.signed_in(&accepted);
    let ben_id = accepted.data("id").as_str().unwrap().to_owned();
    ada.patch(&format!("/members/{ben_id}"), json!({"role": "org:admin"})).await;
    ben.post("/auth/sign-out", json!({})).await;
    ada.patch(&format!("/members/{ben_id}"), json!({"active": false})).await;
    let password = json!({"currentPassword": PASSWORD, "newPassword": "another long password"});
    ada.put("/auth/password", password).await;

    let rows = log(&ada).await;
    let actions: Vec<&str> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    let expected = [
        "sign_in_failed",
        "sign_in",
        "key_created",
        "agent_created",
        "agent_updated",
        "agent_deleted",
        "key_revoked",
        "feature_flag_set",
        "invitation_created",
        "desktop_permitted",
        "desktop_key_issued",
        "target_registered",
        "target_sharing_changed",
        "target_removed",
        "invitation_accepted",
        "sign_in",
        "member_role_changed",
        "sign_out",
        "member_deactivated",
        "password_changed",
    ];
    assert_eq!(actions, expected);
    let owner = json!(plane.owner.user_id);
    assert_eq!((&rows[0]["userId"], &rows[0]["subject"]), (&Value::Null, &owner));
    assert_eq!((&rows[1]["userId"], &rows[1]["address"]), (&owner, &json!("192.0.2.9")));
    assert_eq!(rows[1]["details"], json!({"method": "password"}));
    assert_eq!((&rows[3]["keyId"], &rows[3]["subject"]), (&json!(key_id), &json!(agent)));
    assert_eq!(rows[7]["details"], json!({"enabled": true}));
    assert_eq!(rows[8]["subject"], "ben@example.org");
    assert_eq!((&rows[16]["subject"], &rows[16]["details"]["to"]), (&json!(ben_id), &json!("org:admin")));
    let text = json!(rows).to_string();
    for secret in [PASSWORD, token, key.data("plaintext").as_str().unwrap()] {
        assert!(!text.contains(secret));
    }
}

#[tokio::test]
async fn pages_are_stable_and_show_one_organization() {
    let plane = TestApp::start().await;
    let admin = plane.owner().await;
    for number in 0..7 {
        admin.post("/api-keys", json!({"name": format!("{number}")})).await;
    }
    plane.stranger().await.post("/api-keys", json!({"name": "foreign"})).await;
    let mut names = Vec::new();
    let mut before = String::new();
    loop {
        let page = admin.get(&format!("/audit-log?action=key_created&limit=3{before}")).await;
        let entries = page.data("entries").as_array().unwrap();
        names.extend(entries.iter().map(|entry| entry["details"]["name"].as_str().unwrap().to_owned()));
        // Entries that are added between two requests must not shift the later pages.
        admin.post("/api-keys", json!({"name": "later"})).await;
        match page.data("nextBefore").as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(names, ["6", "5", "4", "3", "2", "1", "0"]);
    assert_eq!(admin.get("/audit-log?limit=201").await.status, 400);
    assert_eq!(admin.get("/audit-log?action=nonsense").await.status, 400);
    assert_eq!(plane.member("ben@example.org").await.get("/audit-log").await.status, 403);
}

#[tokio::test]
async fn database_rejects_changes_of_the_log() {
    let plane = TestApp::start().await;
    plane.owner().await;
    let writer = plane.app.store.writer();
    let before = audit_entry::Entity::find().all(writer).await.unwrap();
    // A trigger rejects the statements, so that a bug in the application cannot rewrite the log either.
    let changed = audit_entry::Entity::update_many().col_expr(audit_entry::Column::Subject, Expr::value("x"));
    assert!(changed.exec(writer).await.unwrap_err().to_string().contains("append-only"));
    let deleted = audit_entry::Entity::delete_many().exec(writer).await;
    assert!(deleted.unwrap_err().to_string().contains("append-only"));
    assert_eq!(audit_entry::Entity::find().all(writer).await.unwrap(), before);
    assert_eq!(before.len(), 1);
}

#[tokio::test]
async fn email_of_unknown_account_is_not_logged() {
    let plane = TestApp::start().await;
    // Users type passwords into the e-mail field by mistake, so an unknown account's name is not stored.
    let typed = json!({"email": "my secret passphrase", "password": "x"});
    plane.anonymous().post("/auth/sign-in", typed).await;
    let rows = audit_entry::Entity::find().all(plane.app.store.reader()).await.unwrap();
    assert_eq!((rows.len(), rows[0].subject.as_str(), rows[0].organization_id), (1, "", None));
}
