//! Sign-in through an OpenID provider that runs in the test.

use loopgate_testkit::openid_provider::OpenIdProvider;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};
use url::Url;

use crate::OidcProvider;
use crate::audit::AuditAction;
use crate::store::column::StoredEnum;
use crate::store::entity::{audit_entry, external_identity, oidc_sign_in, user};
use crate::tests::plane::ORIGIN;
use crate::tests::{TestApp, TestClient, TestResponse};

/// A control plane and the OpenID provider that it is configured with.
struct OidcFixture {
    provider: OpenIdProvider,
    plane: TestApp,
}

fn accounts() -> Value {
    json!({
        "ada-1": {"email": "ada@example.org", "given_name": "Ada", "family_name": "Byron", "groups": ["dev"]},
        "boss": {"email": "boss@example.org", "given_name": "Bo", "groups": ["dev", "admins"]},
        "outsider": {"email": "out@example.org", "groups": ["sales"]},
    })
}

impl OidcFixture {
    async fn start() -> Self {
        Self::start_with(|config| {
            config.organization = Some("home".to_owned());
            config.groups_claim = Some("groups".to_owned());
            config.admin_groups = vec!["admins".to_owned()];
            config.member_groups = vec!["dev".to_owned()];
        })
        .await
    }

    async fn start_with(change: impl FnOnce(&mut OidcProvider)) -> Self {
        let callback = format!("{ORIGIN}/auth/oidc/callback");
        let provider = OpenIdProvider::start(&callback, &accounts()).await.unwrap();
        let mut oidc = OidcProvider {
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.to_owned(),
            client_secret: Some(provider.client_secret.into()),
            name: "Acme ID".to_owned(),
            scopes: ["email", "profile", "groups"].map(str::to_owned).to_vec(),
            groups_claim: None,
            admin_groups: Vec::new(),
            member_groups: Vec::new(),
            organization: None,
        };
        change(&mut oidc);
        let plane = TestApp::start_with(|config| config.oidc = Some(oidc)).await;
        Self { provider, plane }
    }

    /// Starts a sign-in. Returns the browser with its cookie, and the authorization URL of the provider.
    async fn begin(&self, query: &str) -> (TestClient, Url) {
        let browser = self.plane.anonymous();
        let started = browser.get(&format!("/auth/oidc/start{query}")).await;
        assert_eq!(started.status, 303, "{}", started.text);
        let cookie = started.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
        let browser = browser.with_header("cookie", cookie.split(';').next().unwrap());
        (browser, started.header("location").unwrap().parse().unwrap())
    }

    /// Signs in at the provider. Returns the browser and the URL of the page that it is redirected to.
    async fn sign_in(&self, query: &str, subject: &str) -> (TestClient, Url) {
        let (browser, url) = self.begin(query).await;
        let back = self.provider.sign_in(url.as_str(), subject).await.unwrap();
        let page = page_of(&browser.get(&own_path(&back)).await);
        (browser, page)
    }

    /// Returns the error on the page after an unsuccessful sign-in.
    async fn refusal(&self, query: &str, subject: &str) -> String {
        let (_, page) = self.sign_in(query, subject).await;
        query_of(&page, "error").unwrap_or_else(|| panic!("{page}"))
    }

    /// Signs in at the provider and returns a signed-in client.
    async fn signed_in(&self, subject: &str) -> TestClient {
        let (browser, page) = self.sign_in("", subject).await;
        exchange(&browser, &page).await
    }

    async fn audit_log(&self) -> String {
        self.plane.owner().await.get("/audit-log").await.text
    }
}

/// Exchanges the token in the page's URL for a session.
async fn exchange(browser: &TestClient, page: &Url) -> TestClient {
    let reply = post_token(browser, page).await;
    browser.signed_in(&reply)
}

async fn post_token(browser: &TestClient, page: &Url) -> TestResponse {
    let token = query_of(page, "token").unwrap_or_else(|| panic!("{page}"));
    browser.with_header("origin", ORIGIN).post("/auth/sign-in-link", json!({"token": token})).await
}

fn own_path(url: &Url) -> String {
    assert!(url.as_str().starts_with(ORIGIN), "{url}");
    url[url::Position::BeforePath..].to_owned()
}

/// Returns the redirect target, which is always the sign-in page.
fn page_of(answer: &TestResponse) -> Url {
    assert_eq!(answer.status, 303, "{}", answer.text);
    let page: Url = answer.header("location").unwrap().parse().unwrap();
    assert_eq!(page.path(), "/sign-in");
    page
}

fn query_of(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
}

fn error_of(page: &Url) -> String {
    query_of(page, "error").unwrap_or_else(|| panic!("{page}"))
}

fn changed(url: &Url, name: &str, value: &str) -> Url {
    let mut changed = url.clone();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let mut query = changed.query_pairs_mut();
    query.clear();
    for (own, old) in &pairs {
        query.append_pair(own, if own == name { value } else { old });
    }
    drop(query);
    changed
}

#[tokio::test]
async fn provider_account_joins_once_and_keeps_its_user() {
    let fixture = OidcFixture::start().await;
    let methods = fixture.plane.anonymous().get("/auth/methods").await;
    assert_eq!(methods.data("oidc"), "Acme ID");
    let (browser, page) = fixture.sign_in("?returnTo=%2Fhome%2Floops", "ada-1").await;
    assert_eq!(query_of(&page, "returnTo").as_deref(), Some("/home/loops"));
    let ada = exchange(&browser, &page).await;
    let me = ada.get("/me").await;
    assert_eq!((me.data("email"), me.data("lastName")), (&json!("ada@example.org"), &json!("Byron")));
    assert_eq!((me.data("role"), &me.data("organization")["slug"]), (&json!("org:member"), &json!("home")));
    // The owner has the same e-mail address. Accounts are matched by issuer and subject only, because a
    // provider may let its users choose any address.
    assert_ne!(me.data("id"), &json!(fixture.plane.owner.user_id));
    let again = fixture.signed_in("ada-1").await.get("/me").await;
    assert_eq!(again.data("id"), me.data("id"));
    let log = fixture.audit_log().await;
    assert!(log.contains("member_joined") && log.contains(r#""method":"oidc""#), "{log}");
}

#[tokio::test]
async fn roles_follow_the_providers_groups() {
    let fixture = OidcFixture::start().await;
    let boss = fixture.signed_in("boss").await;
    assert_eq!(boss.get("/me").await.data("role"), "org:admin");
    assert_eq!(fixture.refusal("", "outsider").await, "oidc_not_allowed");
    let ada = fixture.signed_in("ada-1").await;
    let id = ada.get("/me").await.data("id").as_str().unwrap().to_owned();
    // Roles are assigned from the groups at every sign-in, so a manual change is temporary.
    boss.with_header("origin", ORIGIN).patch(&format!("/members/{id}"), json!({"role": "org:admin"})).await;
    assert_eq!(ada.get("/me").await.data("role"), "org:admin");
    fixture.signed_in("ada-1").await;
    assert_eq!(ada.get("/me").await.data("role"), "org:member", "the next sign-in resets the role");

    boss.with_header("origin", ORIGIN).patch(&format!("/members/{id}"), json!({"active": false})).await;
    assert_eq!(fixture.refusal("", "ada-1").await, "oidc_inactive");
}

#[tokio::test]
async fn unknown_account_requires_an_invitation() {
    let fixture = OidcFixture::start_with(|_| {}).await;
    assert_eq!(fixture.refusal("", "boss").await, "oidc_no_account");
    let owner = fixture.plane.owner().await;
    let body = json!({"email": "new@example.org", "role": "org:admin"});
    let invited = owner.post("/invitations", body).await;
    let token = invited.data("token").as_str().unwrap_or_else(|| panic!("{}", invited.text)).to_owned();
    let (browser, page) = fixture.sign_in(&format!("?invitation={token}"), "boss").await;
    let me = exchange(&browser, &page).await.get("/me").await;
    assert_eq!((me.data("email"), me.data("role")), (&json!("new@example.org"), &json!("org:admin")));
    assert_eq!(fixture.refusal(&format!("?invitation={token}"), "ada-1").await, "oidc_invitation");
    assert_eq!(fixture.signed_in("boss").await.get("/me").await.data("id"), me.data("id"));
    let identities = external_identity::Entity::find().all(fixture.plane.app.store.reader()).await.unwrap();
    assert_eq!(identities.len(), 1, "a rejected sign-in stores no identity");
}

#[tokio::test]
async fn callback_is_accepted_once_from_the_browser_that_started_it() {
    let fixture = OidcFixture::start().await;
    let (browser, url) = fixture.begin("").await;
    let back = own_path(&fixture.provider.sign_in(url.as_str(), "ada-1").await.unwrap());
    let stranger = fixture.plane.anonymous().get(&back).await;
    assert_eq!(error_of(&page_of(&stranger)), "oidc_invalid", "another browser");
    let other = fixture.begin("").await.0.get(&back).await;
    assert_eq!(error_of(&page_of(&other)), "oidc_invalid", "a browser with another sign-in");
    let done = page_of(&browser.get(&back).await);
    let stranger = post_token(&fixture.plane.anonymous(), &done).await;
    assert_eq!(stranger.failure().2, "sign_in_link_invalid", "the token in another browser");
    exchange(&browser, &done).await;
    let again = browser.get(&back).await;
    assert_eq!(error_of(&page_of(&again)), "oidc_invalid", "a repeated callback");

    let (browser, url) = fixture.begin("").await;
    // Makes the sign-in older than its lifetime instead of waiting.
    let back = own_path(&fixture.provider.sign_in(url.as_str(), "ada-1").await.unwrap());
    oidc_sign_in::Entity::update_many()
        .col_expr(oidc_sign_in::Column::ExpiresAt, Expr::value(crate::store::now() - 1))
        .exec(fixture.plane.app.store.writer())
        .await
        .unwrap();
    assert_eq!(error_of(&page_of(&browser.get(&back).await)), "oidc_invalid", "an expired sign-in");
    let refused = audit_entry::Entity::find()
        .filter(audit_entry::Column::Action.eq(StoredEnum(AuditAction::SignInFailed)))
        .count(fixture.plane.app.store.reader())
        .await;
    assert_eq!(refused.unwrap(), 4, "each refusal is in the installation's audit log");
}

#[tokio::test]
async fn tokens_of_another_sign_in_are_rejected() {
    let fixture = OidcFixture::start().await;
    // The parameter is changed in the authorization request, so the provider issues a code for other values.
    for (name, value, expected) in [
        ("nonce", "another", "oidc_invalid"),
        ("code_challenge", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "oidc_invalid"),
        ("state", "another", "oidc_invalid"),
    ] {
        let (browser, url) = fixture.begin("").await;
        let url = changed(&url, name, value);
        let back = own_path(&fixture.provider.sign_in(url.as_str(), "ada-1").await.unwrap());
        assert_eq!(error_of(&page_of(&browser.get(&back).await)), expected, "{name}");
    }
    let (browser, url) = fixture.begin("").await;
    let state = query_of(&url, "state").unwrap();
    let denied = browser.get(&format!("/auth/oidc/callback?error=access_denied&state={state}")).await;
    assert_eq!(error_of(&page_of(&denied)), "oidc_denied");
    let users = user::Entity::find().count(fixture.plane.app.store.reader()).await.unwrap();
    assert_eq!(users, 1, "no user was created");
}

#[tokio::test]
async fn unavailable_provider_is_reported_on_the_page() {
    let fixture = OidcFixture::start().await;
    let (browser, url) = fixture.begin("").await;
    let back = own_path(&fixture.provider.sign_in(url.as_str(), "ada-1").await.unwrap());
    let OidcFixture { provider, plane } = fixture;
    provider.stop().await.unwrap();
    assert_eq!(error_of(&page_of(&browser.get(&back).await)), "oidc_unavailable");
    assert_eq!(error_of(&page_of(&plane.anonymous().get("/auth/oidc/start").await)), "oidc_unavailable");
    let without = TestApp::start().await.anonymous().get("/auth/oidc/start").await;
    assert_eq!(error_of(&page_of(&without)), "oidc_not_configured");
}
