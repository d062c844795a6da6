//! The routes of the OpenAPI document, by who may call them.

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Anybody; what is sent is the credential.
    Anybody,
    /// A page's session only.
    Session,
    /// The runner of a loop.
    Runner,
    /// A session, or an API key with the scope that the method needs.
    Person,
}

const ANYBODY: [&str; 6] = [
    "GET /health",
    "GET /health/db",
    "POST /auth/sign-in-link",
    "POST /desktop/bootstrap/claim",
    "GET /storage/key",
    "PUT /storage/key",
];
const SESSION: [&str; 9] = [
    "GET /api-keys",
    "POST /api-keys",
    "DELETE /api-keys/id",
    "POST /auth/sign-out",
    "POST /compute-targets/local-auth/challenge",
    "POST /desktop/onboarding-attempt",
    "GET /loops/id/events",
    "GET /loops/id/stream",
    "GET /loops/usage",
];
const RUNNER: [&str; 6] = [
    "POST /loops/id/events",
    "POST /loops/id/heartbeat",
    "POST /loops/id/refresh-token",
    "POST /loops/id/upload-artifacts",
    "POST /loops/id/upload-urls",
    "POST /loops/id/download-urls",
];

impl Route {
    /// Who may call a route, its path written without braces. One that is not listed above takes
    /// API keys, so that a new route is held to their scopes.
    pub fn of(method: &str, path: &str) -> Self {
        let route = format!("{method} {path}");
        let is_in = |routes: &[&str]| routes.contains(&route.as_str());
        match () {
            () if is_in(&ANYBODY) => Self::Anybody,
            () if is_in(&SESSION) => Self::Session,
            () if is_in(&RUNNER) => Self::Runner,
            () => Self::Person,
        }
    }

    /// Every route: method, path without braces, and who may call it.
    pub fn all() -> Vec<(String, String, Self)> {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let mut routes = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let path = path.replace(['{', '}'], "");
            for method in methods.as_object().unwrap().keys().map(|name| name.to_uppercase()) {
                let route = Self::of(&method, &path);
                routes.push((method, path.clone(), route));
            }
        }
        let listed = ANYBODY.len() + SESSION.len() + RUNNER.len();
        let known = routes.iter().filter(|(_, _, route)| *route != Self::Person).count();
        assert_eq!(known, listed, "a listed route does not exist");
        routes
    }
}
