//! What was said about a pull request: in its conversation, in reviews, on lines.
//!
//! Asks for the three together, page by page from the newest, until there is enough. A thread comes
//! with what was said in it, so one question a page is all.

use std::collections::HashSet;

use loopgate_api::ids::RepoFullName;
use serde::Deserialize;

use super::graphql::{PullQuestion, Variable};
use super::{CodeHost, GraphQlError, PullNumber};

/// Comments after which no further page is asked for.
const ENOUGH: usize = 100;
/// Pages of each list.
const MAX_PAGES: u32 = 3;

/// Each list is read from its end: what was said last matters most.
const QUESTION: PullQuestion = PullQuestion {
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

/// Where something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentKind {
    /// In the conversation.
    Conversation,
    /// As a review's text, or first on a line.
    Review,
    /// In answer to something on a line.
    Reply,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its name in the graph.
    pub id: String,
    /// Its number; a review's text has none.
    pub number: Option<u64>,
    /// Where it was said.
    pub kind: CommentKind,
    /// The thread that it belongs to.
    pub thread: Option<String>,
    /// Number of what it answers.
    pub reply_to: Option<u64>,
    /// File.
    pub path: Option<String>,
    /// Line, as it was when it was said.
    pub line: Option<u64>,
    /// Whether its thread is settled.
    pub resolved: Option<bool>,
    /// Login; absent when the account is gone.
    pub author: Option<String>,
    /// Markdown.
    pub body: String,
    /// ISO 8601.
    pub created_at: String,
    /// Its place on the web.
    pub url: Option<String>,
}

/// Everything that was said, as far as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discussion {
    /// The pull request's page.
    pub url: Option<String>,
    /// Each once, in the order in which they were found.
    pub comments: Vec<Comment>,
    /// Whether the host has more.
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

/// Whatever was said; which members it has depends on where.
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

/// The login of an account that still exists.
pub(super) fn login(author: Option<Author>) -> Option<String> {
    author.and_then(|author| author.login).filter(|login| !login.is_empty())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parent {
    database_id: Option<u64>,
}

impl CodeHost {
    /// What was said about a pull request.
    ///
    /// # Errors
    /// [`GraphQlError`]
    pub async fn pull_request_comments(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<Discussion, GraphQlError> {
        let mut collector = Collector::default();
        for _ in 0..MAX_PAGES {
            let pull = self.graph_of_pull(repository, number, &QUESTION, collector.cursors()).await?;
            collector.take(pull);
            if collector.complete() || collector.comments.len() >= ENOUGH {
                break;
            }
        }
        Ok(collector.finish())
    }
}

/// How far one list has been read.
#[derive(Default)]
struct PageCursor {
    before: Option<String>,
    complete: bool,
}

impl PageCursor {
    /// The nodes of the next page; those of a list that is complete came before.
    fn turn<T>(&mut self, list: Option<NodeList<T>>) -> (Vec<T>, bool) {
        if self.complete {
            return (Vec::new(), false);
        }
        let Some(list) = list else {
            self.complete = true;
            return (Vec::new(), false);
        };
        let page = list.page_info.unwrap_or_default();
        let more = page.has_previous_page.unwrap_or(false);
        // A page that names no place to go on from is the last that can be had.
        let stuck = more && (page.start_cursor.is_none() || page.start_cursor == self.before);
        self.complete = !more || stuck;
        self.before = page.start_cursor.or(self.before.take());
        (list.nodes.unwrap_or_default().into_iter().flatten().collect(), stuck)
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
    cut: bool,
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
        let (said, cut) = self.conversation.turn(pull.comments);
        self.cut |= cut;
        said.into_iter().for_each(|node| self.add(Comment::new(node, CommentKind::Conversation)));
        let (threads, cut) = self.threads.turn(pull.review_threads);
        self.cut |= cut;
        threads.into_iter().for_each(|thread| self.take_thread(thread));
        let (reviews, cut) = self.reviews.turn(pull.reviews);
        self.cut |= cut;
        for node in
            reviews.into_iter().filter(|node| node.body.as_ref().is_some_and(|b| !b.trim().is_empty()))
        {
            let node = CommentNode { database_id: None, url: None, ..node };
            self.add(Comment::new(node, CommentKind::Review));
        }
    }

    fn take_thread(&mut self, thread: Thread) {
        // A thread is read from its beginning, and no further.
        let whole = |list: &NodeList<CommentNode>| {
            list.page_info.as_ref().is_none_or(|page| !page.has_next_page.unwrap_or(false))
        };
        self.cut |= !thread.comments.as_ref().is_some_and(whole);
        let said = thread.comments.and_then(|list| list.nodes).unwrap_or_default();
        let said: Vec<CommentNode> = said.into_iter().flatten().collect();
        let first = said.first().and_then(|node| node.database_id);
        for (at, node) in said.into_iter().enumerate() {
            let named = node.reply_to.as_ref().and_then(|parent| parent.database_id);
            let reply_to = named.or(first.filter(|_| at > 0));
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
        let truncated = self.cut || !self.complete();
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

    fn said(id: &str) -> Value {
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
    fn lists_advance_together_and_each_thing_is_taken_once() {
        let empty = page(json!([]), None);
        let first = json!({"url": "u", "comments": page(json!([said("a"), null]), Some("1")),
                           "reviews": page(json!([said("r")]), None), "reviewThreads": empty});
        let second = json!({"url": "u", "comments": page(json!([said("a"), said("b")]), None),
                            "reviews": page(json!([said("late")]), None), "reviewThreads": empty});
        let collector = collect(vec![first.clone()]);
        assert!(!collector.complete());
        let cursors: Vec<_> = collector.cursors().map(|(name, _)| name).collect();
        assert_eq!(cursors, ["comments"]);
        let found = collect(vec![first, second]).finish();
        let ids: Vec<_> = found.comments.iter().map(|comment| comment.id.as_str()).collect();
        assert_eq!((ids.as_slice(), found.truncated), (["a", "r", "b"].as_slice(), false));
        let review = &found.comments[1];
        assert_eq!((review.kind, review.number, &review.url), (CommentKind::Review, None, &None));
    }

    #[test]
    fn thread_comments_have_their_line() {
        let mut root = said("c1");
        root["path"] = json!("src/a.rs");
        root["line"] = json!(9);
        root["originalLine"] = json!(7);
        let mut reply = said("c2");
        reply["databaseId"] = json!(102);
        reply["replyTo"] = json!({"databaseId": 101});
        let thread = json!({"id": "T", "isResolved": true, "comments": page(json!([root, reply]), None)});
        let found = collect(vec![json!({"reviewThreads": page(json!([thread]), None)})]).finish();
        let [root, reply] = found.comments.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (root.kind, root.line, root.path.as_deref()),
            (CommentKind::Review, Some(7), Some("src/a.rs"))
        );
        assert_eq!((root.thread.as_deref(), root.resolved), (Some("T"), Some(true)));
        assert_eq!((reply.kind, reply.reply_to), (CommentKind::Reply, Some(101)));
        assert!(!found.truncated);
    }

    #[test]
    fn missing_program_is_reported() {
        let more = collect(vec![json!({"comments": page(json!([said("a")]), Some("1"))})]);
        assert!(more.finish().truncated, "a page was not asked for");
        let stuck = json!({"nodes": [], "pageInfo": {"hasPreviousPage": true, "startCursor": null}});
        let stuck = collect(vec![json!({"comments": stuck})]);
        assert!(stuck.complete() && stuck.finish().truncated);
        let thread =
            json!({"id": "T", "comments": {"nodes": [said("c")], "pageInfo": {"hasNextPage": true}}});
        assert!(collect(vec![json!({"reviewThreads": page(json!([thread]), None)})]).finish().truncated);
        let gone = collect(vec![json!({"comments": page(json!([{"id": "x", "author": null}]), None)})]);
        assert_eq!(gone.finish().comments[0].author, None);
    }

    proptest! {
        #[test]
        fn nothing_is_taken_twice_and_the_end_is_found(
            pages in prop::collection::vec((prop::collection::vec("[a-e]", 0..4), any::<Option<u8>>()), 1..5),
        ) {
            let list = |(ids, next): &(Vec<String>, Option<u8>)| {
                let nodes: Vec<_> = ids.iter().map(|id| said(id)).collect();
                json!({"comments": page(json!(nodes), next.map(|n| n.to_string()).as_deref())})
            };
            let found = collect(pages.iter().map(list).collect());
            let ends = pages.iter().any(|(_, next)| next.is_none());
            prop_assert!(!ends || found.complete());
            let ids: HashSet<_> = found.comments.iter().map(|comment| &comment.id).collect();
            prop_assert_eq!(ids.len(), found.comments.len());
        }
    }
}
