//! Reading the comments on a pull request: the conversation, reviews, and threads on lines.
//!
//! A single query per page reads all three lists backwards from the newest entry. Each thread includes its
//! comments, so that threads need no queries of their own.

use std::collections::HashSet;

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::graphql::{PullQuery, Variable};
use super::{CodeHost, GraphQlError, PullNumber};

/// Number of comments after which no further page is read.
const MAX_COMMENTS: usize = 100;
/// Maximum number of pages per list, to bound the latency.
const MAX_PAGES: u32 = 3;

// Each list is read backwards, because the latest comments matter most.
const QUERY: PullQuery = PullQuery {
    name: "PullRequestComments",
    variables: ", $comments: String, $reviews: String, $threads: String",
    fields: "number url \
        comments(last: 50, before: $comments) { pageInfo { hasPreviousPage startCursor } \
        nodes { id databaseId author { login } body createdAt url } } \
        reviews(last: 50, before: $reviews) { pageInfo { hasPreviousPage startCursor } \
        nodes { id author { login } body createdAt } } \
        reviewThreads(last: 50, before: $threads) { pageInfo { hasPreviousPage startCursor } \
        nodes { id isResolved comments(first: 50) { pageInfo { hasNextPage } \
        nodes { id databaseId author { login } body createdAt url path line originalLine \
        replyTo { databaseId } } } } }",
};

/// The kind of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentKind {
    /// A comment in the conversation.
    Conversation,
    /// The text of a review, or the first comment of a thread.
    Review,
    /// A further comment of a thread.
    Reply,
}

/// A comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Node id in the GraphQL API.
    pub id: String,
    /// Id in the REST API; `None` for the text of a review.
    pub number: Option<u64>,
    pub kind: CommentKind,
    /// Node id of its thread.
    pub thread: Option<String>,
    /// REST id of the comment that this one replies to.
    pub reply_to: Option<u64>,
    /// Path of the commented file.
    pub path: Option<String>,
    /// Number of the line when the comment was written.
    pub line: Option<u64>,
    /// Whether its thread is resolved.
    pub resolved: Option<bool>,
    /// Login of the author; `None` when the account was deleted.
    pub author: Option<String>,
    /// Text of the comment in Markdown.
    pub body: String,
    /// Time of its creation, ISO 8601.
    pub created_at: String,
    /// URL of the comment on the web page.
    pub url: Option<String>,
}

/// The comments on a pull request, up to the limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discussion {
    /// URL of the pull request.
    pub url: Option<String>,
    /// The comments, without duplicates, in the order in which they were read.
    pub comments: Vec<Comment>,
    /// Whether the code host has further comments.
    pub truncated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    url: Option<String>,
    comments: Option<NodeList<CommentNode>>,
    reviews: Option<NodeList<CommentNode>>,
    review_threads: Option<NodeList<Thread>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeList<T> {
    page_info: Option<NodePageInfo>,
    nodes: Option<Vec<Option<T>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodePageInfo {
    has_previous_page: Option<bool>,
    start_cursor: Option<String>,
    has_next_page: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    id: String,
    is_resolved: Option<bool>,
    comments: Option<NodeList<CommentNode>>,
}

/// A comment of any list. The optional members depend on the list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    id: String,
    database_id: Option<u64>,
    author: Option<Author>,
    body: Option<String>,
    created_at: Option<String>,
    url: Option<String>,
    path: Option<String>,
    line: Option<u64>,
    original_line: Option<u64>,
    reply_to: Option<Parent>,
}

#[derive(Deserialize)]
pub(super) struct Author {
    login: Option<String>,
}

/// Returns the login of an account that exists.
pub(super) fn login(author: Option<Author>) -> Option<String> {
    author.and_then(|author| author.login).filter(|login| !login.is_empty())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parent {
    database_id: Option<u64>,
}

impl CodeHost {
    /// Reads the comments on a pull request.
    ///
    /// # Errors
    /// Fails with [`GraphQlError`], for example when the pull request does not exist.
    pub async fn pull_request_comments(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<Discussion, GraphQlError> {
        let mut collector = Collector::default();
        for _ in 0..MAX_PAGES {
            let pull = self.query_pull_request(repository, number, &QUERY, collector.cursors()).await?;
            collector.take(pull);
            if collector.complete() || collector.comments.len() >= MAX_COMMENTS {
                break;
            }
        }
        Ok(collector.finish())
    }
}

/// The position up to which a list has been read.
#[derive(Default)]
struct PageCursor {
    before: Option<String>,
    complete: bool,
}

impl PageCursor {
    /// Returns the nodes of the next page. Further responses repeat a list that is complete, which is
    /// ignored.
    fn advance<T>(&mut self, list: Option<NodeList<T>>) -> (Vec<T>, bool) {
        if self.complete {
            return (Vec::new(), false);
        }
        let Some(list) = list else {
            self.complete = true;
            return (Vec::new(), false);
        };
        let page = list.page_info.unwrap_or_default();
        let more = page.has_previous_page.unwrap_or(false);
        // Without a new cursor the next page cannot be requested; the list is then truncated.
        let no_cursor = more && (page.start_cursor.is_none() || page.start_cursor == self.before);
        self.complete = !more || no_cursor;
        self.before = page.start_cursor.or(self.before.take());
        (list.nodes.unwrap_or_default().into_iter().flatten().collect(), no_cursor)
    }
}

#[derive(Default)]
struct Collector {
    url: Option<String>,
    comments: Vec<Comment>,
    seen: HashSet<String>,
    conversation: PageCursor,
    reviews: PageCursor,
    threads: PageCursor,
    truncated: bool,
}

impl Collector {
    fn cursors(&self) -> impl Iterator<Item = (&'static str, Variable<'_>)> {
        let lists =
            [("comments", &self.conversation), ("reviews", &self.reviews), ("threads", &self.threads)];
        lists.into_iter().filter_map(|(name, list)| Some((name, Variable::Text(list.before.as_deref()?))))
    }

    fn complete(&self) -> bool {
        self.conversation.complete && self.reviews.complete && self.threads.complete
    }

    fn take(&mut self, pull: Pull) {
        self.url = self.url.take().or(pull.url);
        let (nodes, truncated) = self.conversation.advance(pull.comments);
        self.truncated |= truncated;
        nodes.into_iter().for_each(|node| self.add(Comment::new(node, CommentKind::Conversation)));
        let (threads, truncated) = self.threads.advance(pull.review_threads);
        self.truncated |= truncated;
        threads.into_iter().for_each(|thread| self.take_thread(thread));
        let (reviews, truncated) = self.reviews.advance(pull.reviews);
        self.truncated |= truncated;
        // Most reviews have no text, only a verdict or comments on lines.
        for node in
            reviews.into_iter().filter(|node| node.body.as_ref().is_some_and(|b| !b.trim().is_empty()))
        {
            let node = CommentNode { database_id: None, url: None, ..node };
            self.add(Comment::new(node, CommentKind::Review));
        }
    }

    fn take_thread(&mut self, thread: Thread) {
        // Only the first page of a thread's comments is read; more than 50 are rare.
        let is_complete = |list: &NodeList<CommentNode>| {
            list.page_info.as_ref().is_none_or(|page| !page.has_next_page.unwrap_or(false))
        };
        self.truncated |= !thread.comments.as_ref().is_some_and(is_complete);
        let nodes = thread.comments.and_then(|list| list.nodes).unwrap_or_default();
        let nodes: Vec<CommentNode> = nodes.into_iter().flatten().collect();
        let first = nodes.first().and_then(|node| node.database_id);
        for (at, node) in nodes.into_iter().enumerate() {
            let explicit = node.reply_to.as_ref().and_then(|parent| parent.database_id);
            let reply_to = explicit.or(first.filter(|_| at > 0));
            let reply = at > 0 || node.reply_to.is_some();
            let mut comment =
                Comment::new(node, if reply { CommentKind::Reply } else { CommentKind::Review });
            comment.reply_to = reply_to;
            comment.thread = Some(thread.id.clone());
            comment.resolved = thread.is_resolved;
            self.add(comment);
        }
    }

    fn add(&mut self, comment: Comment) {
        if self.seen.insert(comment.id.clone()) {
            self.comments.push(comment);
        }
    }

    fn finish(self) -> Discussion {
        let truncated = self.truncated || !self.complete();
        Discussion { url: self.url, comments: self.comments, truncated }
    }
}

impl Comment {
    fn new(node: CommentNode, kind: CommentKind) -> Self {
        Self {
            id: node.id,
            number: node.database_id.filter(|number| *number > 0),
            kind,
            thread: None,
            reply_to: None,
            path: node.path,
            line: node.original_line.or(node.line),
            resolved: None,
            author: login(node.author),
            body: node.body.unwrap_or_default(),
            created_at: node.created_at.unwrap_or_default(),
            url: node.url.filter(|url| !url.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn page(nodes: Value, next: Option<&str>) -> Value {
        json!({"nodes": nodes, "pageInfo": {"hasPreviousPage": next.is_some(), "startCursor": next}})
    }

    fn node(id: &str) -> Value {
        json!({"id": id, "databaseId": 101, "author": {"login": "ann"}, "body": "Nice",
               "createdAt": "2030-05-01T10:00:00Z", "url": "https://host/1"})
    }

    fn collect(pages: Vec<Value>) -> Collector {
        let mut collector = Collector::default();
        for page in pages {
            collector.take(serde_json::from_value(page).unwrap());
        }
        collector
    }

    #[test]
    fn lists_advance_together_without_duplicates() {
        let empty = page(json!([]), None);
        let first = json!({"url": "u", "comments": page(json!([node("a"), null]), Some("1")),
                           "reviews": page(json!([node("r")]), None), "reviewThreads": empty});
        let second = json!({"url": "u", "comments": page(json!([node("a"), node("b")]), None),
                            "reviews": page(json!([node("late")]), None), "reviewThreads": empty});
        let collector = collect(vec![first.clone()]);
        assert!(!collector.complete());
        let cursors: Vec<_> = collector.cursors().map(|(name, _)| name).collect();
        assert_eq!(cursors, ["comments"]);
        let discussion = collect(vec![first, second]).finish();
        let ids: Vec<_> = discussion.comments.iter().map(|comment| comment.id.as_str()).collect();
        assert_eq!((ids.as_slice(), discussion.truncated), (["a", "r", "b"].as_slice(), false));
        let review = &discussion.comments[1];
        assert_eq!((review.kind, review.number, &review.url), (CommentKind::Review, None, &None));
    }

    #[test]
    fn thread_comments_have_their_line() {
        let mut root = node("c1");
        root["path"] = json!("src/a.rs");
        root["line"] = json!(9);
        root["originalLine"] = json!(7);
        let mut reply = node("c2");
        reply["databaseId"] = json!(102);
        reply["replyTo"] = json!({"databaseId": 101});
        let thread = json!({"id": "T", "isResolved": true, "comments": page(json!([root, reply]), None)});
        let discussion = collect(vec![json!({"reviewThreads": page(json!([thread]), None)})]).finish();
        let [root, reply] = discussion.comments.as_slice() else { panic!("{discussion:?}") };
        assert_eq!(
            (root.kind, root.line, root.path.as_deref()),
            (CommentKind::Review, Some(7), Some("src/a.rs"))
        );
        assert_eq!((root.thread.as_deref(), root.resolved), (Some("T"), Some(true)));
        assert_eq!((reply.kind, reply.reply_to), (CommentKind::Reply, Some(101)));
        assert!(!discussion.truncated);
    }

    #[test]
    fn incomplete_lists_are_truncated() {
        let more = collect(vec![json!({"comments": page(json!([node("a")]), Some("1"))})]);
        assert!(more.finish().truncated, "a page was not asked for");
        let no_cursor = json!({"nodes": [], "pageInfo": {"hasPreviousPage": true, "startCursor": null}});
        let no_cursor = collect(vec![json!({"comments": no_cursor})]);
        assert!(no_cursor.complete() && no_cursor.finish().truncated);
        let thread =
            json!({"id": "T", "comments": {"nodes": [node("c")], "pageInfo": {"hasNextPage": true}}});
        assert!(collect(vec![json!({"reviewThreads": page(json!([thread]), None)})]).finish().truncated);
        let gone = collect(vec![json!({"comments": page(json!([{"id": "x", "author": null}]), None)})]);
        assert_eq!(gone.finish().comments[0].author, None);
    }

    proptest! {
        #[test]
        fn pages_have_no_duplicates_and_end(
            pages in prop::collection::vec((prop::collection::vec("[a-e]", 0..4), any::<Option<u8>>()), 1..5),
        ) {
            let list = |(ids, next): &(Vec<String>, Option<u8>)| {
                let nodes: Vec<_> = ids.iter().map(|id| node(id)).collect();
                json!({"comments": page(json!(nodes), next.map(|n| n.to_string()).as_deref())})
            };
            let discussion = collect(pages.iter().map(list).collect());
            let ends = pages.iter().any(|(_, next)| next.is_none());
            prop_assert!(!ends || discussion.complete());
            let ids: HashSet<_> = discussion.comments.iter().map(|comment| &comment.id).collect();
            prop_assert_eq!(ids.len(), discussion.comments.len());
        }
    }
}
