//! Declares where the requests of a route name repositories and paths, or ids from which their handler
//! derives one. Approval evaluates only declared sources.

use http::Uri;
use serde_json::Value;

/// Length limit in bytes of values that may be a path or a name: `PATH_MAX` on Linux.
const MAX_TEXT: usize = 4096;
/// Limit of values that are examined in a request without a known route. Each one costs file system calls.
const MAX_TEXTS: usize = 1000;

/// Location of a value in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Member of the JSON body. Dots separate nested members, and `*` stands for each element of an array.
    Body(&'static str),
    /// Query parameter; all values of a repeated one.
    Query(&'static str),
    /// Path parameter; of a wildcard, its first segment.
    Segment(&'static str),
}

/// A value that a handler resolves to directories of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Path of a file or directory, including everything below.
    Path(At),
    /// Path of a directory of which only the entries are listed.
    Listing(At),
    /// Like [`Source::Listing`]; the home directory when absent or empty.
    ListingOrHome(At),
    /// Full name of a repository, `<org>/<repo>`.
    Name(At),
    /// Repository name, split into the query parameters `owner` and `repo`.
    OwnerAndName,
    /// Ticket id: the ticket's worktrees of the repositories that the request names (or else of all managed
    /// ones), and the worktrees of its loops.
    Ticket(At),
    /// Ticket id: the directories of the ticket's sessions.
    Session(At),
    /// Loop id: the directories of the loop.
    Loop(At),
    /// Pid: the directories of the loop or deployment that runs as this process.
    Process(At),
    /// JSON text of a BOOTSTRAP order in `prompt`; all managed repositories when absent.
    BootstrapOrder,
    /// All managed repositories, whatever the request contains.
    ManagedRepositories,
    /// All worktrees of pull requests.
    PullRequestWorktrees,
    /// Every value that could be any of these. For requests without a known route.
    Anything,
}

/// Decoded values of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestValues {
    body: Value,
    query: Vec<(String, String)>,
    /// Names of the route's path segments, paired with the segments of the request.
    segments: Vec<(String, String)>,
}

impl RequestValues {
    /// Decodes a request of the route with this path. Without a route, each segment counts as a ticket id. A
    /// body that is not JSON has no members.
    pub(crate) fn read(route: Option<&str>, target: &Uri, body: &[u8]) -> Self {
        let query = target.query().unwrap_or_default();
        let decoded =
            |segment: &str| percent_encoding::percent_decode_str(segment).decode_utf8_lossy().into_owned();
        Self {
            body: serde_json::from_slice(body).unwrap_or_default(),
            query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            segments: match route {
                Some(route) => {
                    let names = route.split('/').map(|name| name.trim_matches(['{', '*', '}']).to_owned());
                    names.zip(target.path().split('/').map(decoded)).collect()
                }
                None => target.path().split('/').map(|part| ("ticketId".to_owned(), decoded(part))).collect(),
            },
        }
    }

    /// Returns all strings at a location.
    pub(crate) fn texts(&self, at: At) -> Vec<&str> {
        match at {
            At::Body(_) => self.values(at).into_iter().filter_map(Value::as_str).collect(),
            At::Query(name) => of_name(&self.query, name),
            At::Segment(name) => of_name(&self.segments, name),
        }
    }

    /// Returns all values at a location of the body.
    pub(crate) fn values(&self, at: At) -> Vec<&Value> {
        let At::Body(path) = at else { return Vec::new() };
        path.split('.').fold(vec![&self.body], |values, step| match step {
            "*" => values.into_iter().filter_map(Value::as_array).flatten().collect(),
            name => values.into_iter().filter_map(|value| value.get(name)).collect(),
        })
    }

    /// Returns all strings of the request, regardless of their location.
    pub(crate) fn all_texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> =
            self.query.iter().chain(&self.segments).map(|(_, value)| value.as_str()).collect();
        // An explicit queue instead of recursion: the nesting depth is chosen by the caller.
        let mut queue = vec![&self.body];
        while let Some(value) = queue.pop() {
            match value {
                Value::String(text) => texts.push(text),
                Value::Array(elements) => queue.extend(elements),
                Value::Object(members) => queue.extend(members.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts.retain(|text| !text.is_empty() && text.len() <= MAX_TEXT);
        texts.truncate(MAX_TEXTS);
        texts
    }

    /// Formats the members of the body that determine what the request does, for display to the owner.
    pub(crate) fn action(&self, members: &[&'static str]) -> Option<String> {
        let pairs = members.iter().filter_map(|name| {
            let value = self.body.get(name).filter(|value| !value.is_null())?;
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            Some(format!("{name}={text}"))
        });
        let pairs: Vec<String> = pairs.collect();
        (!pairs.is_empty()).then(|| pairs.join(", "))
    }
}

fn of_name<'a>(pairs: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_at_the_declared_locations() {
        let body =
            json!({"repo": {"fullName": "acme/shop"}, "peers": [{"path": "/a"}, {}, {"path": "/b"}], "n": 5});
        let target = "/api/x/AB%2F1/rest/of?q=%2Fa+b&q=&z=1".parse().unwrap();
        let values =
            RequestValues::read(Some("/api/x/{ticketId}/{*rest}"), &target, body.to_string().as_bytes());
        assert_eq!(values.texts(At::Body("repo.fullName")), ["acme/shop"]);
        assert_eq!(values.texts(At::Body("peers.*.path")), ["/a", "/b"]);
        assert_eq!(values.texts(At::Body("n")), Vec::<&str>::new());
        assert_eq!(values.values(At::Body("n")), [&json!(5)]);
        assert_eq!(values.texts(At::Query("q")), ["/a b", ""]);
        assert_eq!(values.texts(At::Segment("ticketId")), ["AB/1"]);
        assert_eq!(values.texts(At::Segment("rest")), ["rest"]);
        assert!(values.all_texts().contains(&"/b") && values.all_texts().contains(&"1"));
        let empty = RequestValues::read(Some("/x"), &"/x".parse().unwrap(), b"no json");
        assert_eq!((empty.texts(At::Body("a")).len(), empty.action(&["a"])), (0, None));
    }

    #[test]
    fn action_lists_the_declared_body_members() {
        let read = |body: Value| {
            RequestValues::read(Some("/x"), &"/x".parse().unwrap(), body.to_string().as_bytes())
        };
        let members = &["action", "force"];
        assert_eq!(
            read(json!({"action": "commit", "message": "x"})).action(members).unwrap(),
            "action=commit"
        );
        assert_eq!(read(json!({"force": true, "action": null})).action(members).unwrap(), "force=true");
        assert_eq!(read(json!([])).action(members), None);
    }
}
