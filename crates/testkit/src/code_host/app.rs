//! GitHub App authentication of the test code host: signed requests, installations and installation tokens.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::Context as _;
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::KeyPair as _;
use axum::Router;
use axum::extract::{Path, Query, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::objects::rest;
use super::rest::{RestError, RestResult, not_found};
use super::{HostHandle, HostState};

/// A registered GitHub App with its key pair.
#[derive(Debug, Clone)]
pub struct HostedApp {
    pub id: u64,
    /// Private key in PEM, with which a client signs requests as the App.
    pub private_key: String,
    public_key: Vec<u8>,
    /// Full names of the accessible repositories by installation id.
    pub installations: HashMap<u64, Vec<String>>,
    /// Full names of the accessible repositories by installation token.
    tokens: HashMap<String, Vec<String>>,
}

impl HostedApp {
    /// Creates an App with a new RSA key.
    pub fn new(id: u64) -> anyhow::Result<Self> {
        let key = KeyPair::generate(KeySize::Rsa2048).context("generate an RSA key")?;
        let der = AsDer::<Pkcs8V1Der<'_>>::as_der(&key).context("encode the RSA key")?;
        let text = STANDARD.encode(der.as_ref());
        Ok(Self {
            id,
            private_key: format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"),
            public_key: key.public_key().as_ref().to_vec(),
            installations: HashMap::new(),
            tokens: HashMap::new(),
        })
    }

    /// Returns whether a request carries a valid, unexpired JWT signed by the App.
    fn verify(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(token) = bearer.and_then(|bearer| bearer.strip_prefix("Bearer ")) else { return false };
        let mut validation = Validation::new(Algorithm::RS256);
        // Tokens of a GitHub App have an expiry, but neither audience nor subject.
        validation.required_spec_claims = HashSet::from(["exp".to_owned()]);
        let key = DecodingKey::from_rsa_der(&self.public_key);
        let claims = jsonwebtoken::decode::<Value>(token, &key, &validation).map(|data| data.claims);
        // GitHub accepts the issuer as number and as string.
        claims.is_ok_and(|claims| claims["iss"] == self.id || claims["iss"] == *self.id.to_string())
    }
}

pub(super) fn router() -> Router<Arc<HostHandle>> {
    Router::new()
        .route("/repos/{owner}/{name}/installation", get(installation))
        .route("/app/installations/{id}/access_tokens", post(create_token))
        .route("/installation/repositories", get(list_repositories))
}

fn signed_app(host: &HostHandle, headers: &HeaderMap) -> Result<HostedApp, RestError> {
    let app = super::lock(&host.app).clone().filter(|app| app.verify(headers));
    let unauthorized = json!({"message": "A JSON web token could not be decoded", "status": "401"});
    app.ok_or(RestError(StatusCode::UNAUTHORIZED, unauthorized))
}

async fn installation(
    Shared(host): Shared<Arc<HostHandle>>,
    Path((owner, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> RestResult {
    let app = signed_app(&host, &headers)?;
    let full_name = format!("{owner}/{name}");
    let is_accessible =
        |names: &[String]| names.iter().any(|accessible| accessible.eq_ignore_ascii_case(&full_name));
    let (id, _) = app.installations.iter().find(|(_, names)| is_accessible(names)).ok_or_else(not_found)?;
    Ok(axum::Json(json!({"id": id})).into_response())
}

#[derive(Deserialize)]
struct TokenRequest {
    repositories: Option<Vec<String>>,
    #[serde(default)]
    permissions: HashMap<String, String>,
}

async fn create_token(
    Shared(host): Shared<Arc<HostHandle>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    request: Option<axum::Json<TokenRequest>>,
) -> RestResult {
    let app = signed_app(&host, &headers)?;
    let accessible = app.installations.get(&id).ok_or_else(not_found)?;
    let request = request.map(|axum::Json(request)| request);
    let find = |name: &String| {
        accessible.iter().find(|full| {
            full.rsplit('/').next().is_some_and(|short_name| short_name.eq_ignore_ascii_case(name))
        })
    };
    let names: Vec<&String> = match request.as_ref().and_then(|request| request.repositories.as_ref()) {
        None => accessible.iter().collect(),
        Some(names) => names.iter().map(find).collect::<Option<_>>().ok_or_else(inaccessible)?,
    };
    let permissions = request.as_ref().map(|request| &request.permissions);
    let repositories = host.read(|state| repository_rows(state, names.iter().copied()));
    let token = format!("ghs_{}", hex::encode(rand::random::<[u8; 16]>()));
    let accessible = names.into_iter().cloned().collect();
    // The App may have been replaced by `register` since it was read.
    if let Some(app) = super::lock(&host.app).as_mut() {
        app.tokens.insert(token.clone(), accessible);
    }
    // Far in the future: tests do not wait for the expiry of a token.
    let body = json!({"token": token, "expires_at": "2099-01-01T00:00:00Z", "permissions": permissions,
        "repository_selection": "selected", "repositories": repositories});
    Ok((StatusCode::CREATED, axum::Json(body)).into_response())
}

fn repository_rows<'a>(state: &HostState, names: impl Iterator<Item = &'a String>) -> Vec<Value> {
    let repositories = names.filter_map(|name| Some((name, state.repositories.get(name)?)));
    repositories.map(|(name, repository)| rest::repository(name, repository)).collect()
}

#[derive(Deserialize)]
struct PageRequest {
    per_page: usize,
    page: usize,
}

/// Lists the repositories that an installation token can access, paginated.
async fn list_repositories(
    Shared(host): Shared<Arc<HostHandle>>,
    Query(query): Query<PageRequest>,
    headers: HeaderMap,
) -> RestResult {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.split(' ').nth(1));
    let app = super::lock(&host.app).clone();
    let names = token.and_then(|token| app.as_ref()?.tokens.get(token)).ok_or_else(not_found)?;
    let page = names.iter().skip((query.page - 1) * query.per_page).take(query.per_page);
    let repositories = host.read(|state| repository_rows(state, page));
    let body = json!({"total_count": names.len(), "repositories": repositories});
    Ok(axum::Json(body).into_response())
}

fn inaccessible() -> RestError {
    let message = "There is at least one repository that does not exist or is not accessible to the parent installation.";
    RestError(StatusCode::UNPROCESSABLE_ENTITY, json!({"message": message, "status": "422"}))
}
