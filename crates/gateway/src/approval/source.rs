//! Where the requests of a route name repositories and paths, or something by which their handler finds
//! one. Each route declares it, and approval judges nothing else.

use http::Uri;
use serde_json::Value;

/// Bytes of a text that can name something.
const MAX_TEXT: usize = 4096;
/// Texts that are looked at in a request of a route that declares nothing.
const MAX_TEXTS: usize = 1000;

/// A place in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// A member of the JSON body, with a dot before a member of a member; `*` is each element of an array.
    Body(&'static str),
    /// A parameter of the query. Every value of a repeated one counts.
    Query(&'static str),
    /// A parameter of the path; of one that takes the rest, its first segment.
    Segment(&'static str),
}

/// Something that a handler resolves to directories of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A path; everything below it counts too.
    Path(At),
    /// A path of which nothing but its own entries is looked at.
    Listing(At),
    /// The same; the home directory when it is missing or empty.
    ListingOrHome(At),
    /// `<org>/<repo>`.
    Name(At),
    /// The same, in the query's `owner` and `repo`.
    OwnerAndName,
    /// A ticket: its worktree of the repositories that the request names, or of all that are managed,
    /// and those of its loops.
    Ticket(At),
    /// A ticket: what its session names.
    Session(At),
    /// Id of a loop.
    Loop(At),
    /// Pid of a process.
    Process(At),
    /// The JSON text of a BOOTSTRAP; every managed repository when there is none.
    BootstrapOrder,
    /// Every managed repository.
    ManagedRepositories,
    /// The worktrees of pull requests.
    PullRequestWorktrees,
    /// Whatever looks like one of these: for requests whose meaning is not known here.
    Anything,
}

/// The texts of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestValues {
    body: Value,
    query: Vec<(String, String)>,
    /// Of the route's path and of the request's.
    segments: Vec<(String, String)>,
}

impl RequestValues {
    /// Reads a request of a route with this path; without a route any segment may be a ticket. A body
    /// that is no JSON has no members.
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

    /// Every text at a place.
    pub(crate) fn texts(&self, at: At) -> Vec<&str> {
        match at {
            At::Body(_) => self.values(at).into_iter().filter_map(Value::as_str).collect(),
            At::Query(name) => of_name(&self.query, name),
            At::Segment(name) => of_name(&self.segments, name),
        }
    }

    /// Every value at a place of the body.
    pub(crate) fn values(&self, at: At) -> Vec<&Value> {
        let At::Body(path) = at else { return Vec::new() };
        path.split('.').fold(vec![&self.body], |values, step| match step {
            "*" => values.into_iter().filter_map(Value::as_array).flatten().collect(),
            name => values.into_iter().filter_map(|value| value.get(name)).collect(),
        })
    }

    /// Every text of the request, wherever it stands.
    pub(crate) fn all_texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> =
            self.query.iter().chain(&self.segments).map(|(_, value)| value.as_str()).collect();
        let mut ahead = vec![&self.body];
        while let Some(value) = ahead.pop() {
            match value {
                Value::String(text) => texts.push(text),
                Value::Array(elements) => ahead.extend(elements),
                Value::Object(members) => ahead.extend(members.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts.retain(|text| !text.is_empty() && text.len() <= MAX_TEXT);
        texts.truncate(MAX_TEXTS);
        texts
    }

    /// The members of the body that tell what a request does, as a person is shown them.
    pub(crate) fn action(&self, members: &[&'static str]) -> Option<String> {
        let told = members.iter().filter_map(|name| {
            let value = self.body.get(name).filter(|value| !value.is_null())?;
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            Some(format!("{name}={text}"))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

fn of_name<'a>(pairs: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_found_where_a_route_declares_them() {
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
        let nothing = RequestValues::read(Some("/x"), &"/x".parse().unwrap(), b"no json");
        assert_eq!((nothing.texts(At::Body("a")).len(), nothing.action(&["a"])), (0, None));
    }

    #[test]
    fn action_is_derived_from_body_members() {
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
