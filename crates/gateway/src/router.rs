//! All routes of the gateway: method, path, required credential, operation for approval, and endpoint.
//!
//! Requests of a route without an operation need no approval and are not recorded as activity.

use axum::Router;
use http::Method;
use loopgate_api::error::ErrorBody;
use loopgate_api::operation::OperationId;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::route::{Auth, Endpoint, Handler, Route, RouteTable};
use crate::routes;

/// The endpoint is created by a function, because its description in the OpenAPI document takes much memory.
type RouteEntry = (Method, &'static str, Auth, Option<OperationId>, fn() -> Endpoint);

#[rustfmt::skip]
fn rows() -> Vec<RouteEntry> {
    use Auth::{Gateway, Loopback, Public};
    use OperationId::*;
    use routes::{approvals, binary_paths, chats, deploy, exchange, files, git, health, learnings, mcp_auth, openapi, orchestrator, pulls, repos, reviewer, version};
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const PATCH: Method = Method::PATCH;
    const DELETE: Method = Method::DELETE;
    vec![
        (GET,    "/health",                                                         Public,   None,                            health::liveness_endpoint),
        (GET,    "/api/gateway/health-check",                                       Gateway,  Some(HealthCheck),               health::check_endpoint),
        (GET,    "/api/gateway/version",                                            Gateway,  Some(HealthCheck),               version::endpoint),
        (GET,    "/api/gateway/mcp-auth",                                           Gateway,  Some(HealthCheck),               mcp_auth::endpoint),
        (GET,    "/api/gateway/openapi.json",                                       Gateway,  Some(HealthCheck),               openapi::endpoint),
        (GET,    "/api/gateway/approvals",                                          Gateway,  None,                            approvals::endpoint),
        (POST,   "/gateway-auth/exchange",                                          Loopback, None,                            exchange::endpoint),

        (GET,    "/api/gateway/settings/binary-paths",                              Gateway,  Some(BinaryPathsSettings),       binary_paths::list_endpoint),
        (PATCH,  "/api/gateway/settings/binary-paths",                              Gateway,  Some(BinaryPathsSettings),       binary_paths::update_endpoint),
        (GET,    "/api/gateway/repos",                                              Gateway,  Some(ReposConfig),               repos::list_endpoint),
        (POST,   "/api/gateway/repos",                                              Gateway,  Some(ReposConfig),               repos::add_endpoint),
        (DELETE, "/api/gateway/repos",                                              Gateway,  Some(ReposConfig),               repos::remove_endpoint),
        (PATCH,  "/api/gateway/repos",                                              Gateway,  Some(ReposConfig),               repos::update_endpoint),

        (POST,   "/api/gateway/git",                                                Gateway,  Some(GitAction),                 git::action::endpoint),
        (GET,    "/api/gateway/git/branches",                                       Gateway,  Some(GitAction),                 git::branches::endpoint),
        (POST,   "/api/gateway/git/diff",                                           Gateway,  Some(GitAction),                 git::diff::endpoint),
        (GET,    "/api/gateway/git/loop-changes/{loopId}",                          Gateway,  Some(GitAction),                 git::loop_changes::list_endpoint),
        (POST,   "/api/gateway/git/loop-changes/{loopId}",                          Gateway,  Some(GitAction),                 git::loop_changes::patches_endpoint),
        (POST,   "/api/gateway/git/worktree",                                       Gateway,  Some(GitAction),                 git::worktree::clean_up_endpoint),
        (DELETE, "/api/gateway/git/worktree",                                       Gateway,  Some(GitAction),                 git::worktree::remove_endpoint),
        (GET,    "/api/gateway/git/branch-worktree",                                Gateway,  Some(GitBranchWorktree),         git::lookup::branch_worktree_endpoint),
        (GET,    "/api/gateway/git/repo-path",                                      Gateway,  Some(GitAction),                 git::lookup::repo_path_endpoint),
        (GET,    "/api/gateway/git/repository",                                     Gateway,  Some(GitAction),                 git::preview::endpoint),
        (POST,   "/api/gateway/git/pr",                                             Gateway,  Some(GitPr),                     pulls::open::endpoint),
        (GET,    "/api/gateway/git/pr/list",                                        Gateway,  Some(GitPr),                     pulls::list::endpoint),
        (GET,    "/api/gateway/git/pr/comments",                                    Gateway,  Some(GitPr),                     pulls::comments::endpoint),
        (GET,    "/api/gateway/git/pr/reviews",                                     Gateway,  Some(GitPr),                     pulls::reviews::endpoint),
        (GET,    "/api/gateway/git/pr/standing",                                    Gateway,  Some(GitPr),                     pulls::standing::endpoint),
        (POST,   "/api/gateway/git/pr/merge",                                       Gateway,  Some(GitPr),                     pulls::merge::merge_endpoint),
        (POST,   "/api/gateway/git/pr/update-branch",                               Gateway,  Some(GitPr),                     pulls::merge::update_branch_endpoint),
        (POST,   "/api/gateway/git/pr/reply",                                       Gateway,  Some(GitPr),                     pulls::reply::endpoint),
        (GET,    "/api/gateway/git/pr/files",                                       Gateway,  Some(GitPr),                     pulls::files::files_endpoint),
        (GET,    "/api/gateway/git/pr/head-sha",                                    Gateway,  Some(GitPr),                     pulls::files::head_sha_endpoint),
        (POST,   "/api/gateway/git/pr/inline-comment",                              Gateway,  Some(GitPr),                     pulls::inline_comment::endpoint),
        (POST,   "/api/gateway/git/pr/review",                                      Gateway,  Some(GitPr),                     pulls::review::endpoint),
        (GET,    "/api/gateway/git/user",                                           Gateway,  Some(GitPr),                     pulls::user::endpoint),

        (GET,    "/api/gateway/directories",                                        Gateway,  Some(Filesystem),                files::directories::endpoint),
        (GET,    "/api/gateway/files/search",                                       Gateway,  Some(Filesystem),                files::search::endpoint),
        (GET,    "/api/gateway/work-directory/{ticketId}",                          Gateway,  Some(Filesystem),                files::work_directory::endpoint),
        (GET,    "/api/gateway/orchestrator/attachments/{*attachmentPath}",         Gateway,  Some(Filesystem),                files::attachments::endpoint),
        (POST,   "/api/gateway/orchestrator/upload/{ticketId}",                     Gateway,  Some(Filesystem),                files::upload::endpoint),
        (POST,   "/api/gateway/run-viewer-extract",                                 Gateway,  Some(Filesystem),                files::run_viewer::extract_endpoint),
        (GET,    "/api/gateway/run-viewer-extract",                                 Gateway,  Some(Filesystem),                files::run_viewer::list_endpoint),
        (DELETE, "/api/gateway/run-viewer-extract",                                 Gateway,  Some(Filesystem),                files::run_viewer::remove_endpoint),

        (POST,   "/api/gateway/orchestrator/loop",                                  Gateway,  Some(OrchestratorLoop),          orchestrator::loops::start_endpoint),
        (POST,   "/api/gateway/orchestrator/loop/kill",                             Gateway,  Some(OrchestratorLoopKill),      orchestrator::loops::end_endpoint),
        (POST,   "/api/gateway/orchestrator/loop/message",                          Gateway,  Some(OrchestratorLoopMessage),   orchestrator::loops::message_endpoint),
        (POST,   "/api/gateway/orchestrator/launch",                                Gateway,  Some(OrchestratorLaunch),        orchestrator::launch::endpoint),
        (POST,   "/api/gateway/orchestrator/kill",                                  Gateway,  Some(OrchestratorKill),          orchestrator::kill::endpoint),
        (GET,    "/api/gateway/orchestrator/status",                                Gateway,  Some(OrchestratorStatus),        orchestrator::tickets::directory_status_endpoint),
        (GET,    "/api/gateway/orchestrator/status/{ticketId}",                     Gateway,  Some(OrchestratorStatus),        orchestrator::tickets::status_endpoint),
        (GET,    "/api/gateway/orchestrator/logs/{ticketId}",                       Gateway,  Some(OrchestratorLogs),          orchestrator::tickets::logs_endpoint),
        (GET,    "/api/gateway/orchestrator/plan/{ticketId}",                       Gateway,  Some(OrchestratorPlan),          orchestrator::tickets::plan_endpoint),
        (GET,    "/api/gateway/orchestrator/judges/{ticketId}",                     Gateway,  Some(OrchestratorJudges),        orchestrator::tickets::judges_endpoint),
        (GET,    "/api/gateway/orchestrator/commit-message/{ticketId}",             Gateway,  Some(OrchestratorCommitMessage), orchestrator::commit_message::endpoint),
        (POST,   "/api/gateway/orchestrator/plan-loop/{ticketId}/prepare",          Gateway,  Some(OrchestratorPlanLoop),      orchestrator::plan_loop::prepare_endpoint),
        (POST,   "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/prepare", Gateway,  Some(OrchestratorPlanLoop),      orchestrator::plan_loop::prepare_artifact_endpoint),
        (POST,   "/api/gateway/orchestrator/plan-loop/{ticketId}/confirm",          Gateway,  Some(OrchestratorPlanLoop),      orchestrator::plan_loop::confirm_endpoint),
        (POST,   "/api/gateway/orchestrator/plan-loop/{ticketId}/select-artifact/confirm", Gateway,  Some(OrchestratorPlanLoop),      orchestrator::plan_loop::confirm_artifact_endpoint),
        (POST,   "/api/gateway/orchestrator/plan-loop/{ticketId}/cancel",           Gateway,  Some(OrchestratorPlanLoop),      orchestrator::plan_loop::cancel_endpoint),
        (GET,    "/api/gateway/orchestrator/sessions",                              Gateway,  Some(OrchestratorSessions),      orchestrator::sessions::list_endpoint),
        (POST,   "/api/gateway/orchestrator/sessions",                              Gateway,  Some(OrchestratorSessions),      orchestrator::sessions::note_endpoint),
        (DELETE, "/api/gateway/orchestrator/sessions",                              Gateway,  Some(OrchestratorSessions),      orchestrator::sessions::forget_endpoint),
        (GET,    "/api/gateway/orchestrator/sessions/unread-count",                 Gateway,  Some(OrchestratorSessions),      orchestrator::sessions::unread_endpoint),
        (POST,   "/api/gateway/orchestrator/chat/{ticketId}",                       Gateway,  Some(OrchestratorChat),          orchestrator::chat::endpoint),
        (GET,    "/api/gateway/orchestrator/chat-history/{ticketId}",               Gateway,  Some(OrchestratorChatHistory),   orchestrator::chat_history::read_endpoint),
        (POST,   "/api/gateway/orchestrator/chat-history/{ticketId}",               Gateway,  Some(OrchestratorChatHistory),   orchestrator::chat_history::add_endpoint),
        (DELETE, "/api/gateway/orchestrator/chat-history/{ticketId}",               Gateway,  Some(OrchestratorChatHistory),   orchestrator::chat_history::remove_endpoint),
        (GET,    "/api/gateway/orchestrator/comment-chat/{commentId}",              Gateway,  Some(OrchestratorCommentChat),   orchestrator::comment_chat::read_endpoint),
        (POST,   "/api/gateway/orchestrator/comment-chat/{commentId}",              Gateway,  Some(OrchestratorCommentChat),   orchestrator::comment_chat::chat_endpoint),
        (PATCH,  "/api/gateway/orchestrator/comment-chat/{commentId}",              Gateway,  Some(OrchestratorCommentChat),   orchestrator::comment_chat::mark_endpoint),
        (DELETE, "/api/gateway/orchestrator/comment-chat/{commentId}",              Gateway,  Some(OrchestratorCommentChat),   orchestrator::comment_chat::forget_endpoint),

        (GET,    "/api/gateway/reviewer/available",                                 Gateway,  Some(ReviewerReview),            reviewer::available::endpoint),
        (POST,   "/api/gateway/reviewer/review/{ticketId}",                         Gateway,  Some(ReviewerReview),            reviewer::review::endpoint),
        (GET,    "/api/gateway/reviewer/status/{ticketId}",                         Gateway,  Some(ReviewerReview),            reviewer::status::read_endpoint),
        (DELETE, "/api/gateway/reviewer/status/{ticketId}",                         Gateway,  Some(ReviewerReview),            reviewer::status::forget_endpoint),
        (POST,   "/api/gateway/reviewer/stop/{ticketId}",                           Gateway,  Some(ReviewerReview),            reviewer::stop::stop_endpoint),
        (DELETE, "/api/gateway/reviewer/stop/{ticketId}",                           Gateway,  Some(ReviewerReview),            reviewer::stop::discard_endpoint),
        (GET,    "/api/gateway/reviewer/review-findings/{ticketId}",                Gateway,  Some(ReviewerReview),            reviewer::findings::read_endpoint),
        (POST,   "/api/gateway/reviewer/review-findings/{ticketId}",                Gateway,  Some(ReviewerReview),            reviewer::findings::change_endpoint),
        (POST,   "/api/gateway/reviewer/review-dedup/{ticketId}",                   Gateway,  Some(ReviewerReview),            reviewer::duplicates::endpoint),
        (POST,   "/api/gateway/reviewer/review-extract/{ticketId}",                 Gateway,  Some(ReviewerReview),            reviewer::extraction::endpoint),
        (POST,   "/api/gateway/reviewer/review-verdict/{ticketId}",                 Gateway,  Some(ReviewerReview),            reviewer::verdict::endpoint),
        (POST,   "/api/gateway/reviewer/argue/{ticketId}",                          Gateway,  Some(ReviewerArgue),             reviewer::argue::endpoint),
        (POST,   "/api/gateway/reviewer/chat/{ticketId}",                           Gateway,  Some(ReviewerReview),            reviewer::chat::endpoint),
        (GET,    "/api/gateway/reviewer/finding-chat/{findingId}",                  Gateway,  Some(ReviewerReview),            reviewer::finding_chat::read_endpoint),
        (POST,   "/api/gateway/reviewer/finding-chat/{findingId}",                  Gateway,  Some(ReviewerReview),            reviewer::finding_chat::send_endpoint),
        (PATCH,  "/api/gateway/reviewer/finding-chat/{findingId}",                  Gateway,  Some(ReviewerReview),            reviewer::finding_chat::change_endpoint),
        (DELETE, "/api/gateway/reviewer/finding-chat/{findingId}",                  Gateway,  Some(ReviewerReview),            reviewer::finding_chat::forget_endpoint),
        (GET,    "/api/gateway/terminal-chat",                                      Gateway,  Some(TerminalChat),              chats::terminal::read_endpoint),
        (POST,   "/api/gateway/terminal-chat",                                      Gateway,  Some(TerminalChat),              chats::terminal::send_endpoint),
        (DELETE, "/api/gateway/terminal-chat",                                      Gateway,  Some(TerminalChat),              chats::terminal::clear_endpoint),
        (GET,    "/api/gateway/ticket-chat",                                        Gateway,  Some(TicketChat),                chats::ticket::read_endpoint),
        (POST,   "/api/gateway/ticket-chat",                                        Gateway,  Some(TicketChat),                chats::ticket::send_endpoint),
        (DELETE, "/api/gateway/ticket-chat",                                        Gateway,  Some(TicketChat),                chats::ticket::clear_endpoint),
        (GET,    "/api/gateway/run-viewer-chat",                                    Gateway,  Some(RunViewerChat),             chats::run_viewer::read_endpoint),
        (POST,   "/api/gateway/run-viewer-chat",                                    Gateway,  Some(RunViewerChat),             chats::run_viewer::send_endpoint),
        (DELETE, "/api/gateway/run-viewer-chat",                                    Gateway,  Some(RunViewerChat),             chats::run_viewer::clear_endpoint),
        (POST,   "/api/gateway/deploy",                                             Gateway,  Some(Deploy),                    deploy::start::endpoint),
        (POST,   "/api/gateway/deploy/health",                                      Gateway,  Some(Deploy),                    deploy::health::endpoint),
        (POST,   "/api/gateway/deploy/kill",                                        Gateway,  Some(Deploy),                    deploy::stop::kill_endpoint),
        (POST,   "/api/gateway/deploy/teardown",                                    Gateway,  Some(Deploy),                    deploy::stop::teardown_endpoint),
        (GET,    "/api/gateway/deploy/status/{ticketId}",                           Gateway,  Some(Deploy),                    deploy::lookup::status_endpoint),
        (POST,   "/api/gateway/deploy/check-existing",                              Gateway,  Some(Deploy),                    deploy::health::existing_endpoint),
        (POST,   "/api/gateway/deploy/detect",                                      Gateway,  Some(Deploy),                    deploy::detection::detect_endpoint),
        (POST,   "/api/gateway/deploy/redetect",                                    Gateway,  Some(Deploy),                    deploy::detection::redetect_endpoint),
        (POST,   "/api/gateway/deploy/extract-info",                                Gateway,  Some(Deploy),                    deploy::lookup::extract_endpoint),
        (GET,    "/api/gateway/learnings",                                          Gateway,  Some(Learnings),                 learnings::list_endpoint),
        (POST,   "/api/gateway/learnings/decision",                                 Gateway,  Some(Learnings),                 learnings::decide_endpoint),
        (POST,   "/api/gateway/orchestrator/extract-learnings",                     Gateway,  Some(Learnings),                 orchestrator::learnings::extraction::start_endpoint),
        (GET,    "/api/gateway/orchestrator/process-learnings",                     Gateway,  Some(Learnings),                 orchestrator::learnings::processing::status_endpoint),
        (POST,   "/api/gateway/orchestrator/process-learnings",                     Gateway,  Some(Learnings),                 orchestrator::learnings::processing::start_endpoint),
        (GET,    "/api/gateway/orchestrator/process-all-learnings",                 Gateway,  Some(Learnings),                 orchestrator::learnings::batch::status_endpoint),
        (POST,   "/api/gateway/orchestrator/process-all-learnings",                 Gateway,  Some(Learnings),                 orchestrator::learnings::batch::start_endpoint),
        (GET,    "/api/gateway/orchestrator/pending-learnings",                     Gateway,  Some(Learnings),                 orchestrator::learnings::batch::pending_endpoint),
        (GET,    "/api/gateway/orchestrator/learnings-status/{ticketId}",           Gateway,  Some(Learnings),                 orchestrator::learnings::extraction::status_endpoint),
        (POST,   "/api/gateway/orchestrator/record-learning-use",                   Gateway,  Some(Learnings),                 orchestrator::learnings::uses::record_endpoint),
        // Lets the tests show that a panicking handler is answered with a 500.
        #[cfg(test)]
        (GET, "/api/gateway/git/panicking", Gateway, Some(GitAction), routes::panicking::endpoint),
    ]
}

/// The dispatch table, and the axum router of the handlers.
pub(crate) struct Routes {
    pub(crate) table: RouteTable,
    pub(crate) handlers: Router<App>,
}

/// Builds the routes from the table. Called once at start.
pub(crate) fn build() -> Routes {
    let mut handlers = Router::new();
    let mut table = Vec::new();
    for (method, path, auth, operation, endpoint) in rows() {
        let Endpoint { handler, policy } = endpoint();
        // Dispatch table and axum router come from the same rows, so they cannot diverge.
        table.push(Route { method, path, auth, operation, policy });
        if let Handler::Axum(handler) = handler {
            handlers = handlers.route(path, handler.2);
        }
    }
    Routes { table: RouteTable::new(table), handlers }
}

/// Generates the OpenAPI document from the handlers' annotations. Takes about 15 MB of memory, so it
/// is not done at start.
pub(crate) fn document() -> OpenApi {
    let mut router: OpenApiRouter<App> = OpenApiRouter::with_openapi(routes::openapi::base());
    for (.., endpoint) in rows() {
        match endpoint().handler {
            Handler::Axum(mut handler) => {
                handler.1.paths.values_mut().for_each(describe_refusals);
                router = router.routes(*handler);
            }
            Handler::Pipeline(document) => router.get_openapi_mut().merge(*document),
        }
    }
    let mut document = router.into_openapi();
    name_wildcards(&mut document);
    document
}

/// Adds the error response of the pipeline to every operation: any route can be refused before its handler
/// runs, always with the same JSON shape.
fn describe_refusals(item: &mut PathItem) {
    let PathItem { get, post, put, patch, delete, .. } = item;
    for operation in [get, post, put, patch, delete].into_iter().flatten() {
        let example = ErrorBody::new(401, "unauthorized").with("reason", "no credential provided");
        let body = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("ErrorBody")))
            .example(serde_json::to_value(example).ok())
            .build();
        let refusal = ResponseBuilder::new()
            .description("The request was refused (credential, approval, body size) or the handler failed")
            .content("application/json", body)
            .build();
        operation.responses.responses.insert("default".to_owned(), refusal.into());
    }
}

/// Renames wildcards such as `{*path}` to `{path}`: OpenAPI only knows parameters of one segment.
fn name_wildcards(document: &mut OpenApi) {
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
}

/// Returns every row of the table as a [`Route`].
#[cfg(test)]
pub(crate) fn all_routes() -> Vec<Route> {
    let route = |(method, path, auth, operation, endpoint): RouteEntry| Route {
        method,
        path,
        auth,
        operation,
        policy: endpoint().policy,
    };
    rows().into_iter().map(route).collect()
}

/// Returns the schemas of all handlers, before the document merges those of the same name.
#[cfg(test)]
pub(crate) fn all_schemas() -> Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)> {
    let handlers = rows().into_iter().filter_map(|(.., endpoint)| match endpoint().handler {
        Handler::Axum(handler) => Some(handler.0),
        Handler::Pipeline(_) => None,
    });
    handlers.flatten().collect()
}
