//! An OpenID provider: what it publishes, the way there, and what its tokens say.
//!
//! What it publishes is read anew for each sign-in, so keys that were replaced are never trusted.

use std::collections::HashMap;
use std::time::Duration;

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType, CoreGenderClaim,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields, IssuerUrl,
    Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
    StandardErrorResponse, StandardTokenResponse, TokenResponse as _, UserInfoClaims,
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::OidcError;
use crate::config::OidcProvider;

/// How long one answer of the provider may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Bytes of one answer.
const SIZE_LIMIT: usize = 1024 * 1024;

/// Claims beside the standard ones.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct OtherClaims(HashMap<String, Value>);

impl AdditionalClaims for OtherClaims {}

type TokenFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

type ProviderClient = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<TokenFields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// What the provider says of a person.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub issuer: String,
    pub subject: String,
    pub email: Option<String>,
    pub given_name: Option<String>,
    pub family_name: Option<String>,
    pub picture: Option<String>,
    /// Those of the configured claim.
    pub groups: Vec<String>,
}

/// The way to the provider, and what comes back with the browser.
pub struct SignInRequest {
    pub url: Url,
    pub state: String,
    pub nonce: String,
    pub pkce_verifier: String,
}

/// A provider whose endpoints and keys are known.
pub struct Provider<'a> {
    config: &'a OidcProvider,
    client: ProviderClient,
    http: reqwest::Client,
}

/// Why a request to the provider failed.
#[derive(Debug, thiserror::Error)]
enum HttpError {
    #[error(transparent)]
    Request(#[from] reqwest::Error),
    #[error(transparent)]
    Message(#[from] http::Error),
    #[error("the answer has more than 1 MiB")]
    TooLarge,
}

impl<'a> Provider<'a> {
    /// Reads what a provider publishes.
    pub async fn discover(config: &'a OidcProvider, callback_url: &str) -> Result<Self, OidcError> {
        let http = reqwest::Client::builder()
            .timeout(TIME_LIMIT)
            // A redirect could lead the code and the secret elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(failed)?;
        let issuer = IssuerUrl::new(config.issuer.clone()).map_err(failed)?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &caller(&http)).await.map_err(failed)?;
        let secret = config.client_secret.as_ref();
        let secret = secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
        let client =
            Client::from_provider_metadata(metadata, ClientId::new(config.client_id.clone()), secret);
        let redirect = RedirectUrl::new(callback_url.to_owned()).map_err(failed)?;
        Ok(Self { config, client: client.set_redirect_uri(redirect), http })
    }

    /// Where a browser is to go.
    pub fn sign_in_request(&self) -> SignInRequest {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = self.client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let scopes = self.config.scopes.iter().cloned().map(Scope::new);
        let (url, state, nonce) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        SignInRequest {
            url,
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            pkce_verifier: verifier.into_secret(),
        }
    }

    /// Trades a code for what the provider says of the person: in its token, and where it offers more, there.
    pub async fn claims(
        &self,
        code: String,
        pkce_verifier: String,
        nonce: String,
    ) -> Result<Claims, OidcError> {
        let invalid = |error: &dyn std::fmt::Display| OidcError::Invalid(error.to_string());
        let exchange = self.client.exchange_code(AuthorizationCode::new(code)).map_err(failed)?;
        let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(pkce_verifier));
        let tokens = exchange.request_async(&caller(&self.http)).await.map_err(|error| match error {
            openidconnect::RequestTokenError::ServerResponse(refusal) => invalid(&refusal),
            other => failed(other),
        })?;
        let token = tokens.id_token().ok_or_else(|| invalid(&"the provider sent no ID token"))?;
        let verifier = self.client.id_token_verifier();
        let said = token.claims(&verifier, &Nonce::new(nonce)).map_err(|error| invalid(&error))?;
        let mut claims = Claims {
            issuer: said.issuer().to_string(),
            subject: said.subject().to_string(),
            email: said.email().map(|email| email.to_string()),
            given_name: said.given_name().and_then(|name| name.get(None)).map(|name| name.to_string()),
            family_name: said.family_name().and_then(|name| name.get(None)).map(|name| name.to_string()),
            picture: said.picture().and_then(|picture| picture.get(None)).map(|picture| picture.to_string()),
            groups: self.groups(said.additional_claims()),
        };
        let subject = said.subject().clone();
        let Ok(request) = self.client.user_info(tokens.access_token().clone(), Some(subject)) else {
            return Ok(claims);
        };
        let more: UserInfoClaims<OtherClaims, CoreGenderClaim> =
            request.request_async(&caller(&self.http)).await.map_err(failed)?;
        claims.email = claims.email.or_else(|| more.email().map(|email| email.to_string()));
        let given_name = more.given_name().and_then(|name| name.get(None)).map(|name| name.to_string());
        claims.given_name = claims.given_name.or(given_name);
        let family_name = more.family_name().and_then(|name| name.get(None)).map(|name| name.to_string());
        claims.family_name = claims.family_name.or(family_name);
        let picture = more.picture().and_then(|picture| picture.get(None)).map(|picture| picture.to_string());
        claims.picture = claims.picture.or(picture);
        if claims.groups.is_empty() {
            claims.groups = self.groups(more.additional_claims());
        }
        Ok(claims)
    }

    /// The groups in the configured claim: a list of texts, or one text.
    fn groups(&self, claims: &OtherClaims) -> Vec<String> {
        let claim = self.config.groups_claim.as_ref().and_then(|name| claims.0.get(name));
        match claim {
            Some(Value::Array(groups)) => {
                groups.iter().filter_map(|group| group.as_str().map(str::to_owned)).collect()
            }
            Some(Value::String(group)) => vec![group.clone()],
            _ => Vec::new(),
        }
    }
}

fn failed(error: impl std::error::Error) -> OidcError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    OidcError::Provider(text)
}

fn caller(
    http: &reqwest::Client,
) -> impl Fn(HttpRequest) -> futures_util::future::BoxFuture<'static, Result<HttpResponse, HttpError>> + use<>
{
    let http = http.clone();
    move |request| Box::pin(call(http.clone(), request))
}

async fn call(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let mut answer = http.execute(request.try_into()?).await?;
    let mut response = http::Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        *headers = answer.headers().clone();
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > SIZE_LIMIT {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body)?)
}
