//! GraphQL schema of the test code host: the queries and mutations that the CLI and the gateway send.

use serde_json::{Map, Value, json};

use super::graph::{FieldArguments, FieldValue, Graph, GraphError, GraphNode};
use super::objects::{GitFacts, graphql, pull_url};
use super::state::{HostState, HostedPull, NewInline, NewPull, PullState, now};
use crate::git::GitRemotes;

/// Resolver for one request: the locked state and the bare repositories.
pub(super) struct GraphView<'a> {
    pub(super) state: &'a mut HostState,
    pub(super) remotes: &'a GitRemotes,
}

impl Graph for GraphView<'_> {
    fn field(
        &mut self,
        on: &GraphNode,
        name: &str,
        arguments: &FieldArguments,
    ) -> Result<FieldValue, GraphError> {
        match on {
            GraphNode::Query => self.query(name, arguments),
            GraphNode::Repository(full_name) => self.repository(full_name, name, arguments),
            GraphNode::Mutation => {
                self.mutation(name, arguments.get("input").unwrap_or(&Value::Null)).map(FieldValue::Value)
            }
        }
    }
}

impl GraphView<'_> {
    fn query(&self, name: &str, arguments: &FieldArguments) -> Result<FieldValue, GraphError> {
        match name {
            "viewer" => Ok(FieldValue::Value(graphql::user(&self.state.viewer))),
            "repository" => {
                let requested = format!("{}/{}", text(arguments, "owner"), text(arguments, "name"));
                let full_name = self.state.moved.get(&requested).cloned().unwrap_or(requested);
                if self.state.repositories.contains_key(&full_name) {
                    return Ok(FieldValue::Object(GraphNode::Repository(full_name)));
                }
                let message = format!("Could not resolve to a Repository with the name '{full_name}'.");
                Err(GraphError::not_found(message))
            }
            "user" => Ok(FieldValue::Value(graphql::user(&text(arguments, "login")))),
            "node" => Ok(FieldValue::Value(self.node(&text(arguments, "id")))),
            "rateLimit" => Ok(FieldValue::Value(json!({"limit": 5000, "remaining": 4999, "cost": 1,
                                                  "used": 1, "resetAt": now()}))),
            _ => Ok(FieldValue::Value(Value::Null)),
        }
    }

    fn repository(
        &self,
        full_name: &str,
        name: &str,
        arguments: &FieldArguments,
    ) -> Result<FieldValue, GraphError> {
        let Some(repository) = self.state.repositories.get(full_name) else {
            return Ok(FieldValue::Value(Value::Null));
        };
        let value = match name {
            "pullRequests" => {
                let mut pulls: Vec<&HostedPull> =
                    repository.pulls.iter().filter(|pull| matches_filters(pull, arguments)).collect();
                let direction = arguments.get("orderBy").map(|order| &order["direction"]);
                if direction.is_none_or(|direction| direction != "ASC") {
                    // Stored oldest first; GitHub lists the newest first by default.
                    pulls.reverse();
                }
                pulls.into_iter().map(|pull| self.pull(full_name, pull)).collect()
            }
            "pullRequest" | "issueOrPullRequest" => {
                let number = arguments.get("number").and_then(Value::as_u64).unwrap_or(0);
                let pull = self.state.pull(full_name, number).ok_or_else(|| {
                    let kind =
                        if name == "pullRequest" { "a PullRequest" } else { "an issue or pull request" };
                    GraphError::not_found(format!("Could not resolve to {kind} with the number of {number}."))
                })?;
                self.pull(full_name, pull)
            }
            "labels" => {
                let query = text(arguments, "query");
                let labels = repository.labels.iter().filter(|label| label.name.contains(&query));
                labels.map(|label| graphql::label(full_name, label)).collect()
            }
            "label" => {
                let label_name = text(arguments, "name");
                let label = repository.labels.iter().find(|label| label.name == label_name);
                label.map_or(Value::Null, |label| graphql::label(full_name, label))
            }
            "ref" => self.reference(full_name, &text(arguments, "qualifiedName")),
            _ => graphql::repository(full_name, repository).get_mut(name).map_or(Value::Null, Value::take),
        };
        Ok(FieldValue::Value(value))
    }

    fn reference(&self, full_name: &str, qualified: &str) -> Value {
        let branch = qualified.trim_start_matches("refs/heads/");
        let branches = self.remotes.branches(full_name).unwrap_or_default();
        branches.get(branch).map_or(Value::Null, |sha| json!({"name": branch, "target": {"oid": sha}}))
    }

    fn pull(&self, full_name: &str, pull: &HostedPull) -> Value {
        let git = GitFacts::read(self.remotes, full_name, pull);
        let Some(repository) = self.state.repositories.get(full_name) else { return Value::Null };
        graphql::pull(full_name, repository, pull, &self.state.viewer, &git)
    }

    /// Resolves a node id: a pull request, or an object within one.
    fn node(&self, id: &str) -> Value {
        if let Some((full_name, number)) = pull_of(id) {
            return self.state.pull(&full_name, number).map_or(Value::Null, |p| self.pull(&full_name, p));
        }
        // Comments, reviews and threads have no index by id, so all pull requests are searched.
        let pulls =
            self.state.repositories.iter().flat_map(|(full_name, repository)| {
                repository.pulls.iter().map(move |pull| (full_name, pull))
            });
        for (full_name, pull) in pulls {
            let pull = self.pull(full_name, pull);
            for list in ["comments", "reviews", "reviewThreads"] {
                let object = pull[list].as_array().and_then(|all| all.iter().find(|item| item["id"] == id));
                if let Some(object) = object {
                    return object.clone();
                }
            }
        }
        Value::Null
    }

    fn mutation(&mut self, name: &str, input: &Value) -> Result<Value, GraphError> {
        match name {
            "createPullRequest" => self.create_pull(input),
            "updatePullRequest" => self.update_pull(input),
            "addLabelsToLabelable" | "removeLabelsFromLabelable" => self.relabel(name, input),
            "addComment" => self.add_comment(input),
            "addPullRequestReview" => self.add_review(input),
            "addPullRequestReviewThreadReply" => self.reply(input),
            "resolveReviewThread" => self.resolve(input),
            "closePullRequest" => self.set_state(input, PullState::Closed),
            "reopenPullRequest" => self.set_state(input, PullState::Open),
            "mergePullRequest" => self.set_state(input, PullState::Merged),
            "markPullRequestReadyForReview" => {
                let (full_name, number) = self.target(&input["pullRequestId"])?;
                self.change(&full_name, number, |pull| pull.draft = false)?;
                Ok(self.payload(&full_name, number))
            }
            // Accepted without effect: the host has no list of requested reviewers.
            "requestReviews" => {
                let (full_name, number) = self.target(&input["pullRequestId"])?;
                Ok(self.payload(&full_name, number))
            }
            other => {
                Err(GraphError::unprocessable(format!("Field '{other}' doesn't exist on type 'Mutation'")))
            }
        }
    }

    fn create_pull(&mut self, input: &Value) -> Result<Value, GraphError> {
        let full_name = string(&input["repositoryId"]).trim_start_matches("R:").to_owned();
        let new = NewPull {
            title: string(&input["title"]),
            body: string(&input["body"]),
            base: string(&input["baseRefName"]),
            head: branch_of(&string(&input["headRefName"])),
            head_repository: self.fork_of(&full_name, &string(&input["headRefName"])),
            draft: input["draft"] == true,
        };
        check_branches(self.remotes, &full_name, &new).map_err(GraphError::unprocessable)?;
        let number = self.state.open_pull(&full_name, new).map_err(GraphError::unprocessable)?;
        Ok(self.payload(&full_name, number))
    }

    /// Returns the repository of a head such as `owner:branch` when the owner is another one.
    fn fork_of(&self, full_name: &str, head: &str) -> Option<String> {
        let (owner, _) = head.split_once(':')?;
        let is_fork = |name: &&String| *name != full_name && name.split('/').next() == Some(owner);
        self.state.repositories.keys().find(is_fork).cloned()
    }

    fn update_pull(&mut self, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number) = self.target(&input["pullRequestId"])?;
        let labels = label_names(&input["labelIds"]);
        self.change(&full_name, number, |pull| {
            if let Some(title) = input["title"].as_str() {
                title.clone_into(&mut pull.title);
            }
            if let Some(body) = input["body"].as_str() {
                body.clone_into(&mut pull.body);
            }
            if let Some(base) = input["baseRefName"].as_str() {
                base.clone_into(&mut pull.base);
            }
            // An absent list leaves the labels unchanged, an empty one removes all.
            if input["labelIds"].is_array() {
                pull.labels = labels;
            }
        })?;
        Ok(self.payload(&full_name, number))
    }

    fn relabel(&mut self, name: &str, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number) = self.target(&input["labelableId"])?;
        let labels = label_names(&input["labelIds"]);
        if name == "addLabelsToLabelable" {
            self.state.add_labels(&full_name, number, &labels);
        } else {
            self.change(&full_name, number, |pull| pull.labels.retain(|label| !labels.contains(label)))?;
        }
        Ok(json!({"__typename": "AddLabelsToLabelablePayload", "labelable": {"id": input["labelableId"]}}))
    }

    fn add_comment(&mut self, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number) = self.target(&input["subjectId"])?;
        let viewer = self.state.viewer.clone();
        let id = self
            .state
            .comment(&full_name, number, &viewer, &string(&input["body"]))
            .ok_or_else(|| GraphError::not_found("Could not resolve to a node".to_owned()))?;
        let pull = self.state.pull(&full_name, number);
        let comment = pull.and_then(|pull| pull.comments.iter().find(|comment| comment.id == id));
        let url = pull_url(&full_name, number);
        Ok(json!({"commentEdge": {"node": comment.map(|c| graphql::comment(&url, &viewer, c))}}))
    }

    fn add_review(&mut self, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number) = self.target(&input["pullRequestId"])?;
        let state = match input["event"].as_str() {
            Some("APPROVE") => "APPROVED",
            Some("REQUEST_CHANGES") => "CHANGES_REQUESTED",
            _ => "COMMENTED",
        };
        let viewer = self.state.viewer.clone();
        self.state.review(&full_name, number, &viewer, state, &string(&input["body"]));
        Ok(json!({"clientMutationId": null}))
    }

    /// Returns the repository, the pull request and the first comment of a thread.
    fn thread(&self, id: &Value) -> Result<(String, u64, u64), GraphError> {
        let thread = string(id);
        // A thread's id is derived from the id of its first comment.
        let root: u64 = thread.trim_start_matches("PRRT_").parse().unwrap_or(0);
        let pull = self.state.repositories.iter().find_map(|(full_name, repository)| {
            let has_thread = |pull: &&HostedPull| pull.inline.iter().any(|comment| comment.id == root);
            repository.pulls.iter().find(has_thread).map(|pull| (full_name.clone(), pull.number, root))
        });
        pull.ok_or_else(|| {
            GraphError::not_found(format!("Could not resolve to a node with the id '{thread}'"))
        })
    }

    fn resolve(&mut self, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number, root) = self.thread(&input["threadId"])?;
        self.change(&full_name, number, |pull| pull.resolved.push(root))?;
        Ok(json!({"thread": {"id": input["threadId"], "isResolved": true}}))
    }

    fn reply(&mut self, input: &Value) -> Result<Value, GraphError> {
        let (full_name, number, root) = self.thread(&input["pullRequestReviewThreadId"])?;
        let author = self.state.viewer.clone();
        let new = NewInline {
            author,
            body: string(&input["body"]),
            in_reply_to: Some(root),
            ..NewInline::default()
        };
        self.state.inline(&full_name, number, new);
        Ok(json!({"clientMutationId": null}))
    }

    fn set_state(&mut self, input: &Value, state: PullState) -> Result<Value, GraphError> {
        let (full_name, number) = self.target(&input["pullRequestId"])?;
        self.change(&full_name, number, |pull| pull.state = state)?;
        Ok(self.payload(&full_name, number))
    }

    fn change(
        &mut self,
        full_name: &str,
        number: u64,
        change: impl FnOnce(&mut HostedPull),
    ) -> Result<(), GraphError> {
        let pull = self
            .state
            .pull_mut(full_name, number)
            .ok_or_else(|| GraphError::not_found("Could not resolve to a node".to_owned()))?;
        change(pull);
        Ok(())
    }

    fn payload(&self, full_name: &str, number: u64) -> Value {
        let pull = self.state.pull(full_name, number).map(|pull| self.pull(full_name, pull));
        json!({"clientMutationId": null, "pullRequest": pull})
    }

    fn target(&self, id: &Value) -> Result<(String, u64), GraphError> {
        let id = string(id);
        pull_of(&id).filter(|(full_name, number)| self.state.pull(full_name, *number).is_some()).ok_or_else(
            || GraphError::not_found(format!("Could not resolve to a node with the global id of '{id}'")),
        )
    }
}

/// Rejects a pull request with missing branches or without commits, with the messages of GitHub.
pub(super) fn check_branches(remotes: &GitRemotes, full_name: &str, new: &NewPull) -> Result<(), String> {
    let head_repository = new.head_repository.as_deref().unwrap_or(full_name);
    for (repository, branch, end) in [(head_repository, &new.head, "Head"), (full_name, &new.base, "Base")] {
        let branches = remotes.branches(repository).map_err(|error| error.to_string())?;
        if !branches.contains_key(branch) {
            return Err(format!("{end} sha can't be blank, {end} ref must be a branch"));
        }
    }
    match remotes.commits(full_name, &new.base, &new.head) {
        // An error of git is ignored: both branches exist, as checked above.
        Ok(commits) if commits.is_empty() => Err(format!("No commits between {} and {}", new.base, new.head)),
        _ => Ok(()),
    }
}

/// Removes the optional owner from a head such as `owner:branch`.
pub(super) fn branch_of(head: &str) -> String {
    head.split_once(':').map_or(head, |(_, branch)| branch).to_owned()
}

fn matches_filters(pull: &HostedPull, arguments: &FieldArguments) -> bool {
    let state = match arguments.get("states") {
        Some(Value::Array(states)) => states.iter().any(|state| state == pull.state.as_str()),
        Some(Value::String(state)) => state == pull.state.as_str(),
        _ => true,
    };
    let is_same = |name: &str, branch: &str| {
        arguments.get(name).and_then(Value::as_str).is_none_or(|expected| expected == branch)
    };
    state && is_same("headRefName", &pull.head) && is_same("baseRefName", &pull.base)
}

fn pull_of(id: &str) -> Option<(String, u64)> {
    let (full_name, number) = id.strip_prefix("PR:")?.rsplit_once(':')?;
    Some((full_name.to_owned(), number.parse().ok()?))
}

fn label_names(ids: &Value) -> Vec<String> {
    let ids = ids.as_array().map(Vec::as_slice).unwrap_or_default();
    ids.iter().filter_map(|id| Some(id.as_str()?.rsplit_once(':')?.1.to_owned())).collect()
}

fn text(arguments: &Map<String, Value>, name: &str) -> String {
    arguments.get(name).map(string).unwrap_or_default()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
