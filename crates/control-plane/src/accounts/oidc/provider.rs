//! Client for an OpenID provider: discovery, the authorization URL, and the claims about a user.
//!
//! Metadata and keys are fetched for each sign-in and not cached, so rotated keys are never trusted.

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

// Timeout of one request to the provider; a user waits for it in the browser.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
// Size limit of one response in bytes.
const RESPONSE_LIMIT: usize = 1024 * 1024;

/// Claims in addition to the standard ones.
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

/// Claims about a user.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub issuer: String,
    pub subject: String,
    pub email: Option<String>,
    pub given_name: Option<String>,
    pub family_name: Option<String>,
    pub picture: Option<String>,
    /// Values of the configured groups claim.
    pub groups: Vec<String>,
}

/// The authorization URL, and the secrets to verify the callback with.
pub struct SignInRequest {
    pub url: Url,
    pub state: String,
    pub nonce: String,
    pub pkce_verifier: String,
}

/// A provider whose metadata has been fetched.
pub struct DiscoveredProvider<'a> {
    config: &'a OidcProvider,
    client: ProviderClient,
    http: reqwest::Client,
}

/// The reason why a request to the provider failed.
#[derive(Debug, thiserror::Error)]
enum MetadataError {
    #[error(transparent)]
    Request(#[from] reqwest::Error),
    #[error(transparent)]
    Message(#[from] http::Error),
    #[error("the response exceeds 1 MiB")]
    TooLarge,
}

impl<'a> DiscoveredProvider<'a> {
    /// Fetches the provider's metadata and keys.
    pub async fn discover(config: &'a OidcProvider, callback_url: &str) -> Result<Self, OidcError> {
        let http = loopgate_http_client::builder()
            .timeout(REQUEST_TIMEOUT)
            // A redirect could send the authorization code and client secret to another host.
            .redirect(reqwest::redirect::Policy::none());
        let http = loopgate_http_client::build(http).map_err(provider_error)?;
        let issuer = IssuerUrl::new(config.issuer.clone()).map_err(provider_error)?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &http_client(&http))
            .await
            .map_err(provider_error)?;
        let secret = config.client_secret.as_ref();
        let secret = secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
        let client =
            Client::from_provider_metadata(metadata, ClientId::new(config.client_id.clone()), secret);
        let redirect = RedirectUrl::new(callback_url.to_owned()).map_err(provider_error)?;
        Ok(Self { config, client: client.set_redirect_uri(redirect), http })
    }

    /// Creates the authorization URL to redirect the browser to.
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

    /// Exchanges an authorization code for claims, from the ID token and, when the provider has one, from its
    /// userinfo endpoint.
    pub async fn claims(
        &self,
        code: String,
        pkce_verifier: String,
        nonce: String,
    ) -> Result<Claims, OidcError> {
        let invalid = |error: &dyn std::fmt::Display| OidcError::Invalid(error.to_string());
        let exchange = self.client.exchange_code(AuthorizationCode::new(code)).map_err(provider_error)?;
        let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(pkce_verifier));
        let tokens = exchange.request_async(&http_client(&self.http)).await.map_err(|error| match error {
            openidconnect::RequestTokenError::ServerResponse(refusal) => invalid(&refusal),
            other => provider_error(other),
        })?;
        let token = tokens.id_token().ok_or_else(|| invalid(&"the provider sent no ID token"))?;
        // Verifies signature, issuer, audience, expiry and nonce.
        let verifier = self.client.id_token_verifier();
        let id_claims = token.claims(&verifier, &Nonce::new(nonce)).map_err(|error| invalid(&error))?;
        let mut claims = Claims {
            issuer: id_claims.issuer().to_string(),
            subject: id_claims.subject().to_string(),
            email: id_claims.email().map(|email| email.to_string()),
            given_name: id_claims.given_name().and_then(|name| name.get(None)).map(|name| name.to_string()),
            family_name: id_claims.family_name().and_then(|name| name.get(None)).map(|name| name.to_string()),
            picture: id_claims
                .picture()
                .and_then(|picture| picture.get(None))
                .map(|picture| picture.to_string()),
            groups: self.groups(id_claims.additional_claims()),
        };
        let subject = id_claims.subject().clone();
        // Passing the subject rejects a userinfo response about another user. An error means that the
        // provider has no userinfo endpoint.
        let Ok(request) = self.client.user_info(tokens.access_token().clone(), Some(subject)) else {
            return Ok(claims);
        };
        let user_info: UserInfoClaims<OtherClaims, CoreGenderClaim> =
            request.request_async(&http_client(&self.http)).await.map_err(provider_error)?;
        // The ID token is signed, so its claims take precedence.
        claims.email = claims.email.or_else(|| user_info.email().map(|email| email.to_string()));
        let given_name = user_info.given_name().and_then(|name| name.get(None)).map(|name| name.to_string());
        claims.given_name = claims.given_name.or(given_name);
        let family_name =
            user_info.family_name().and_then(|name| name.get(None)).map(|name| name.to_string());
        claims.family_name = claims.family_name.or(family_name);
        let picture =
            user_info.picture().and_then(|picture| picture.get(None)).map(|picture| picture.to_string());
        claims.picture = claims.picture.or(picture);
        if claims.groups.is_empty() {
            claims.groups = self.groups(user_info.additional_claims());
        }
        Ok(claims)
    }

    /// Returns the groups of the configured claim, which is an array of strings or a single string.
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

fn provider_error(error: impl std::error::Error) -> OidcError {
    // The causes contain what matters for the operator, for example "connection refused".
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    OidcError::DiscoveredProvider(text)
}

fn http_client(
    http: &reqwest::Client,
) -> impl Fn(HttpRequest) -> futures_util::future::BoxFuture<'static, Result<HttpResponse, MetadataError>> + use<>
{
    let http = http.clone();
    move |request| Box::pin(send(http.clone(), request))
}

async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, MetadataError> {
    let mut received = http.execute(request.try_into()?).await?;
    let mut response = http::Response::builder().status(received.status());
    if let Some(headers) = response.headers_mut() {
        *headers = received.headers().clone();
    }
    let mut body = Vec::new();
    // Read in chunks: `Content-Length` may be missing or wrong.
    while let Some(chunk) = received.chunk().await? {
        if body.len() + chunk.len() > RESPONSE_LIMIT {
            return Err(MetadataError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body)?)
}
