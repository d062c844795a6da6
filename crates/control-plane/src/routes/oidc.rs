//! Sign-in with an OpenID provider. Both routes redirect the browser; errors end on the sign-in page.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse, Redirect};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use serde::Deserialize;
use url::form_urlencoded;
use utoipa::IntoParams;

use crate::accounts::oidc::{self, OidcError, ProviderCallback, ProviderRedirect, SignInResult};
use crate::app::ControlPlaneState;
use crate::auth::ClientInfo;
use crate::extract::Query;

// Longest accepted `returnTo` path, in bytes. Keeps the redirect's URL well below the limits of browsers.
const PATH_LIMIT: usize = 1000;

/// Parameters of a sign-in.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct StartQuery {
    /// Path of the page to open after the sign-in, for example `/home/loops`.
    pub return_to: Option<String>,
    /// Token of an invitation to accept.
    pub invitation: Option<String>,
}

/// Starts a sign-in and redirects the browser to the provider.
#[utoipa::path(get, path = "/auth/oidc/start", tag = "oidc", params(StartQuery),
    responses((status = 303, description = "Redirect to the provider, or to the sign-in page with `error`.")))]
pub async fn start(
    State(app): State<ControlPlaneState>,
    Query(query): Query<StartQuery>,
) -> impl IntoResponse {
    let return_to = query.return_to.filter(|path| is_own_path(path));
    match oidc::start(&app, return_to, query.invitation.as_deref()).await {
        Ok(ProviderRedirect { url, browser_secret }) => {
            // The cookie binds the callback to this browser, against login CSRF.
            let cookie = app.oidc_cookie.set(&browser_secret);
            (AppendHeaders([(SET_COOKIE, cookie), no_store()]), Redirect::to(url.as_str())).into_response()
        }
        Err(error) => error_redirect(&app, &error).into_response(),
    }
}

/// Parameters of the provider's redirect back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CallbackQuery {
    /// `state` parameter of the authorization request.
    #[serde(default)]
    pub state: String,
    /// Authorization code; absent after an error.
    pub code: Option<String>,
    /// OAuth 2.0 error code; absent on success.
    pub error: Option<String>,
}

/// Completes a sign-in and redirects the browser to the sign-in page with a one-time token.
#[utoipa::path(get, path = "/auth/oidc/callback", tag = "oidc", params(CallbackQuery),
    responses((status = 303, description = "Redirect to the sign-in page with `token` or `error`.")))]
pub async fn callback(
    State(app): State<ControlPlaneState>,
    client: ClientInfo,
    headers: HeaderMap,
    Query(query): Query<CallbackQuery>,
) -> impl IntoResponse {
    let CallbackQuery { state, code, error } = query;
    let answer = ProviderCallback { state, code, error };
    match oidc::finish(&app, &client, app.oidc_cookie.read(&headers), answer).await {
        Ok(SignInResult { link_token, return_to }) => {
            // The page exchanges the one-time token for a session: a session key must not appear in a URL.
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("token", &link_token);
            if let Some(path) = return_to {
                query.append_pair("returnTo", &path);
            }
            let page = format!("{}/sign-in?{}", app.config.web_origin, query.finish());
            // The cookie stays: the page needs it to use the token.
            (AppendHeaders([no_store()]), Redirect::to(&page)).into_response()
        }
        Err(error) => error_redirect(&app, &error).into_response(),
    }
}

fn no_store() -> (http::HeaderName, String) {
    (CACHE_CONTROL, "no-store".to_owned())
}

fn error_redirect(app: &ControlPlaneState, error: &OidcError) -> impl IntoResponse + use<> {
    tracing::warn!(%error, "OpenID sign-in failed");
    let page = format!("{}/sign-in?error={}", app.config.web_origin, error.code());
    (AppendHeaders([no_store()]), Redirect::to(&page))
}

/// Returns whether a text is a path on this origin. `//host` and `/\host` are rejected, because browsers
/// resolve both to another host (open redirect).
fn is_own_path(path: &str) -> bool {
    let second = path.chars().nth(1);
    path.starts_with('/')
        && !matches!(second, Some('/' | '\\'))
        && path.len() <= PATH_LIMIT
        && !path.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_accepts_only_paths_of_this_origin() {
        for path in ["/", "/home/loops", "/home/loops?status=RUNNING"] {
            assert!(is_own_path(path), "{path}");
        }
        for other in ["", "home", "//evil.example", "/\\evil.example", "https://evil.example", "/a\nb"] {
            assert!(!is_own_path(other), "{other}");
        }
    }
}
