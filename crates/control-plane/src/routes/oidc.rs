//! Signing in through an OpenID provider. Both routes lead a browser on; what goes wrong ends on the sign-in page.

use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse, Redirect};
use http::HeaderMap;
use http::header::{CACHE_CONTROL, SET_COOKIE};
use serde::Deserialize;
use url::form_urlencoded;
use utoipa::IntoParams;

use crate::accounts::oidc::{self, FinishedSignIn, OidcError, ProviderAnswer, StartedSignIn};
use crate::app::ControlPlaneState;
use crate::auth::ClientInfo;
use crate::extract::Query;

/// Characters of a path to go on to.
const PATH_LIMIT: usize = 1000;

/// How a sign-in begins.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct StartQuery {
    /// Path of the page to go on to, for example `/home/loops`.
    pub return_to: Option<String>,
    /// Token of an invitation that is to be accepted.
    pub invitation: Option<String>,
}

/// Sends the browser to the provider.
#[utoipa::path(get, path = "/auth/oidc/start", tag = "oidc", params(StartQuery),
    responses((status = 303, description = "To the provider, or to the sign-in page with `error`.")))]
pub async fn start(
    State(app): State<ControlPlaneState>,
    Query(query): Query<StartQuery>,
) -> impl IntoResponse {
    let return_to = query.return_to.filter(|path| is_own_path(path));
    match oidc::start(&app, return_to, query.invitation.as_deref()).await {
        Ok(StartedSignIn { url, browser_secret }) => {
            let cookie = app.oidc_cookie.set(&browser_secret);
            (AppendHeaders([(SET_COOKIE, cookie), no_store()]), Redirect::to(url.as_str())).into_response()
        }
        Err(error) => refused(&app, &error).into_response(),
    }
}

/// What the provider sends the browser back with.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct CallbackQuery {
    /// The state of the sign-in.
    #[serde(default)]
    pub state: String,
    /// The authorization code.
    pub code: Option<String>,
    /// What went wrong instead.
    pub error: Option<String>,
}

/// Takes the browser back, and sends it to the sign-in page with a one-time token.
#[utoipa::path(get, path = "/auth/oidc/callback", tag = "oidc", params(CallbackQuery),
    responses((status = 303, description = "To the sign-in page, with `token` or `error`.")))]
pub async fn callback(
    State(app): State<ControlPlaneState>,
    client: ClientInfo,
    headers: HeaderMap,
    Query(query): Query<CallbackQuery>,
) -> impl IntoResponse {
    let CallbackQuery { state, code, error } = query;
    let answer = ProviderAnswer { state, code, error };
    match oidc::finish(&app, &client, app.oidc_cookie.read(&headers), answer).await {
        Ok(FinishedSignIn { link_token, return_to }) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("token", &link_token);
            if let Some(path) = return_to {
                query.append_pair("returnTo", &path);
            }
            let page = format!("{}/sign-in?{}", app.config.web_origin, query.finish());
            let headers = [(SET_COOKIE, app.oidc_cookie.clear()), no_store()];
            (AppendHeaders(headers), Redirect::to(&page)).into_response()
        }
        Err(error) => refused(&app, &error).into_response(),
    }
}

fn no_store() -> (http::HeaderName, String) {
    (CACHE_CONTROL, "no-store".to_owned())
}

fn refused(app: &ControlPlaneState, error: &OidcError) -> impl IntoResponse + use<> {
    tracing::warn!(%error, "a sign-in through the OpenID provider did not come about");
    let page = format!("{}/sign-in?error={}", app.config.web_origin, error.code());
    (AppendHeaders([no_store()]), Redirect::to(&page))
}

/// Whether a text is a path of our own pages, and leads nowhere else.
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
    fn only_own_pages_are_gone_on_to() {
        for own in ["/", "/home/loops", "/home/loops?status=RUNNING"] {
            assert!(is_own_path(own), "{own}");
        }
        for other in ["", "home", "//evil.example", "/\\evil.example", "https://evil.example", "/a\nb"] {
            assert!(!is_own_path(other), "{other}");
        }
    }
}
