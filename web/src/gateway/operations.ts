/** The operations of a gateway that pages use: request, and type of the response. */
import type {
  BranchUpdate,
  ChatMessage,
  FindingContext,
  GatewayAnswer,
  LearningDecision,
  MergeRequest,
  NewPullRequestReview,
  PatchesRequest,
  PullRequestReply,
  ReviewFinding,
} from "@/api/types";

export interface Operation<Result> {
  /** Identifier in approval policies; the control plane requires it with a command. */
  id: string;
  method: "GET" | "POST" | "PATCH";
  /** Path and query. */
  path: string;
  body?: object;
  /** The operation changes something, and is not sent a second time when its response is lost. */
  isChange?: true;
  /** The response is a stream of events, one JSON object per line: see `follow`. */
  isStream?: true;
  /** Time limit, if it is not the usual one. */
  timeoutMs?: number;
  /** Never set: carries the type of the response. */
  result?: Result;
}

const read = <Result>(id: string, path: string): Operation<Result> => ({
  id,
  method: "GET",
  path: `/api/gateway/${path}`,
});

export const repositories = read<GatewayAnswer<"list_repos">>("repos_config", "repos");

/** Learnings of loops, chats and sessions. */
export const learnings = read<GatewayAnswer<"list_learnings">>("learnings", "learnings");

/** Stores a decision of a person about a learning, and returns all of them. */
export const decideLearning = (
  body: LearningDecision,
): Operation<GatewayAnswer<"decide_learning">> => ({
  id: "learnings",
  method: "POST",
  path: "/api/gateway/learnings/decision",
  body,
  isChange: true,
});

/** Checks what loops need on the machine. */
export const healthCheck = read<GatewayAnswer<"health_check">>("health_check", "health-check");

/** Requests that wait for the owner's approval. Not available as a command. */
export const pendingApprovals = read<GatewayAnswer<"waiting_approvals">>("", "approvals");

/** Branches of a repository whose names contain `filter`: the default branch and the newest ones. */
export const branchesOf = (repo: string, filter: string, limit: number) =>
  read<GatewayAnswer<"git_branches">>(
    "git_action",
    `git/branches?${new URLSearchParams({ repo, filter, limit: String(limit) })}`,
  );

/** What a loop on a repository would find. `repository`: its full name, or the path of a clone. `branch` may be empty. */
export const repositoryPreview = (
  repository: { repoFullName: string } | { repo: string },
  branch: string,
) =>
  read<GatewayAnswer<"preview_repository">>(
    "git_action",
    `git/repository?${new URLSearchParams({ ...repository, branch })}`,
  );

/** Files of a repository whose paths contain `query`. */
export const filesOf = (repo: string, query: string) =>
  read<GatewayAnswer<"search_files">>(
    "filesystem",
    `files/search?${new URLSearchParams({ repo, base: "true", query })}`,
  );

/** A part of a loop's changes. Without members, all since the base. */
export interface ChangeRange {
  repository?: string;
  /** Full hash of a commit: the changes after it. */
  since?: string;
  /** Full hash of a commit: its changes. */
  commit?: string;
}

export const loopChanges = (loopId: string, range: ChangeRange) =>
  read<GatewayAnswer<"loop_changes">>(
    "git_action",
    `git/loop-changes/${loopId}?${new URLSearchParams({ ...range })}`,
  );

export const loopPatches = (
  loopId: string,
  body: PatchesRequest,
): Operation<GatewayAnswer<"loop_patches">> => ({
  id: "git_action",
  method: "POST",
  path: `/api/gateway/git/loop-changes/${loopId}`,
  body,
});

/** Both versions of a file: of the working tree and HEAD, or of HEAD and a branch of `origin`. */
export const fileVersions = (
  repoPath: string,
  filePath: string,
  baseBranch?: string,
): Operation<GatewayAnswer<"git_diff">> => ({
  id: "git_action",
  method: "POST",
  path: "/api/gateway/git/diff",
  body: { repoPath, filePath, ...(baseBranch !== undefined && { baseBranch }) },
});

/** A pull request at the code host. */
export interface PullRequestName {
  /** `<owner>/<repository>`. */
  fullName: string;
  number: number;
}

const pullQuery = ({ fullName, number }: PullRequestName, more: Record<string, string>) => {
  const [owner = "", repo = ""] = fullName.split("/");
  return new URLSearchParams({ owner, repo, number: String(number), ...more });
};

/** State, checks and permitted actions. `refresh`: read again, also if it was just read. */
export const pullRequestStanding = (pull: PullRequestName, refresh = false) =>
  read<GatewayAnswer<"pull_request_standing">>(
    "git_pr",
    `git/pr/standing?${pullQuery(pull, refresh ? { refresh: "true" } : {})}`,
  );

export const pullRequestComments = (pull: PullRequestName, branch: string) => {
  const branchId = `${encodeURIComponent(pull.fullName)}::${encodeURIComponent(branch)}`;
  return read<GatewayAnswer<"pull_request_comments">>(
    "git_pr",
    `git/pr/comments?${pullQuery(pull, { branchId })}`,
  );
};

/** Path of the clone of a repository; null without one. */
export const repositoryPath = (repoFullName: string) =>
  read<GatewayAnswer<"git_repo_path">>(
    "git_action",
    `git/repo-path?${new URLSearchParams({ repoFullName })}`,
  );

const changePull = <Result>(action: string, body: object): Operation<Result> => ({
  id: "git_pr",
  method: "POST",
  path: `/api/gateway/git/pr/${action}`,
  body,
  isChange: true,
});

/** Posts a review with comments on lines to a pull request. */
export const pullRequestReview = (body: NewPullRequestReview) =>
  changePull<GatewayAnswer<"post_review">>("review", body);

/** Comments in the conversation of a pull request, or replies to a comment. */
export const pullRequestReply = (body: PullRequestReply) =>
  changePull<GatewayAnswer<"reply_to_pull_request">>("reply", body);

/** Merges a pull request, if it still has the named head commit. */
export const pullRequestMerge = (body: MergeRequest) =>
  changePull<GatewayAnswer<"merge_pull_request">>("merge", body);

/** Merges the base branch into the branch of a pull request, if it still has the named head commit. */
export const pullRequestUpdate = (body: BranchUpdate) =>
  changePull<GatewayAnswer<"update_pull_request_branch">>("update-branch", body);

/** Whether the program of the reviewer runs on the machine. */
export const reviewerAvailability = read<GatewayAnswer<"reviewer_available">>(
  "reviewer_review",
  "reviewer/available",
);

/**
 * A worktree, as the operations on the worktree of a ticket name it: the clone, and the rest of the worktree's name after
 * that of the clone. For the worktree of a loop, this is the only id that also names those of further repositories.
 */
export interface TicketWorktree {
  repo: string;
  ticket: string;
}

const reviewPath = (action: string, ticket: string) =>
  `/api/gateway/reviewer/${action}/${encodeURIComponent(ticket)}`;

const reviewer = <Result>(
  action: string,
  { repo, ticket }: TicketWorktree,
  body: object,
): Operation<Result> => ({
  id: "reviewer_review",
  method: "POST",
  path: reviewPath(action, ticket),
  body: { repoPath: repo, ...body },
});

const findingsPath = ({ repo, ticket }: TicketWorktree, provider: string) =>
  `${reviewPath("review-findings", ticket)}?${new URLSearchParams({ repo, provider })}`;

export const reviewStatus = ({ repo, ticket }: TicketWorktree, provider: string) =>
  read<GatewayAnswer<"review_status">>(
    "reviewer_review",
    `reviewer/status/${encodeURIComponent(ticket)}?${new URLSearchParams({ repo, provider })}`,
  );

/** Reviews the changes since the base branch. Without one, since the default branch of the repository. */
export const startReview = (
  worktree: TicketWorktree,
  provider: string,
  baseBranch: string | undefined,
): Operation<GatewayAnswer<"start_review">> => ({
  ...reviewer("review", worktree, { provider, ...(baseBranch !== undefined && { baseBranch }) }),
  isChange: true,
  isStream: true,
});

export const stopReview = (
  { repo, ticket }: TicketWorktree,
  provider: string,
): Operation<GatewayAnswer<"stop_review">> => ({
  id: "reviewer_review",
  method: "POST",
  path: reviewPath("stop", ticket),
  body: { repo, provider },
});

/** The stored findings, at their lines in the current files. */
export const reviewFindings = (
  worktree: TicketWorktree,
  provider: string,
): Operation<GatewayAnswer<"review_findings">> => ({
  id: "reviewer_review",
  method: "GET",
  path: findingsPath(worktree, provider),
});

/** Records that a person declines a finding or, without a decision, restores it. */
export const declineFinding = (
  worktree: TicketWorktree,
  provider: string,
  { index, message }: { index: number; message: string },
  decision: { reason: string } | undefined,
): Operation<GatewayAnswer<"change_review_findings">> => ({
  id: "reviewer_review",
  method: "POST",
  path: findingsPath(worktree, provider),
  body: {
    declinedIndex: index,
    message,
    declined: decision !== undefined,
    declineReason: decision?.reason.trim(),
  },
});

/** Pairs of indexes of findings that two reviews have in common. */
export const duplicateFindings = (
  worktree: TicketWorktree,
  [providerA, findingsA]: [string, readonly ReviewFinding[]],
  [providerB, findingsB]: [string, readonly ReviewFinding[]],
): Operation<GatewayAnswer<"review_duplicates">> =>
  reviewer("review-dedup", worktree, { providerA, providerB, findingsA, findingsB });

// The provider has 10 minutes, after which the gateway responds.
const VERDICT_TIMEOUT_MS = 630_000;

export const reviewVerdict = (
  worktree: TicketWorktree,
  provider: string,
  sessionId: string,
): Operation<GatewayAnswer<"review_verdict">> => ({
  ...reviewer("review-verdict", worktree, { provider, sessionId }),
  timeoutMs: VERDICT_TIMEOUT_MS,
});

/** An argument against a finding. With `rounds`, the assistant replies to the reviewer in turn. */
export const argueFinding = (
  worktree: TicketWorktree,
  argument: {
    findingSummary: string;
    assistantArgument: string;
    provider: string;
    rounds?: number;
    /** With one element, a new debate is started. */
    debateHistory?: { sender: string; content: string }[];
  },
): Operation<GatewayAnswer<"argue_finding">> => ({
  ...reviewer("argue", worktree, argument),
  id: "reviewer_argue",
  isChange: true,
  isStream: true,
});

const findingChatPath = ({ repo, ticket }: TicketWorktree, findingId: string) =>
  `${reviewPath("finding-chat", findingId)}?${new URLSearchParams({ ticketId: ticket, repo })}`;

export const findingChat = (
  worktree: TicketWorktree,
  findingId: string,
): Operation<GatewayAnswer<"finding_chat_history">> => ({
  id: "reviewer_review",
  method: "GET",
  path: findingChatPath(worktree, findingId),
});

/** Asks the assistant about a finding. */
export const askAboutFinding = (
  worktree: TicketWorktree,
  findingId: string,
  body: { message: string; findingContext: FindingContext },
): Operation<GatewayAnswer<"finding_chat">> => ({
  id: "reviewer_review",
  method: "POST",
  path: findingChatPath(worktree, findingId),
  body,
  isChange: true,
  isStream: true,
});

/** Adds a message of a debate to the chat about a finding. */
export const storeFindingMessage = (
  worktree: TicketWorktree,
  findingId: string,
  message: ChatMessage,
): Operation<GatewayAnswer<"change_finding_chat">> => ({
  id: "reviewer_review",
  method: "PATCH",
  path: findingChatPath(worktree, findingId),
  body: { message },
});

/** Terminates a process that the gateway started. */
export const killProcess = (pid: number): Operation<GatewayAnswer<"kill_process">> => ({
  id: "orchestrator_kill",
  method: "POST",
  path: "/api/gateway/orchestrator/kill",
  body: { pid },
});

/**
 * State and output of the deployment of a worktree. `worktree`: its path, since the place of a ticket's worktree depends on
 * settings that may have changed since its loop.
 */
export const deployStatus = ({ repo, ticket }: TicketWorktree, worktree: string) =>
  read<GatewayAnswer<"deploy_status">>(
    "deploy",
    `deploy/status/${encodeURIComponent(ticket)}?${new URLSearchParams({ repo, worktree })}`,
  );

/** Detects how to run a directory. Stores the result if it is a managed repository, but not for its worktrees. */
export const detectDeployment = (
  repoPath: string,
): Operation<GatewayAnswer<"detect_deployment">> => ({
  id: "deploy",
  method: "POST",
  path: "/api/gateway/deploy/detect",
  body: { repoPath },
});

// The owner of the machine has two minutes to approve a request, and a teardown command runs for up to one.
const DEPLOY_TIMEOUT_MS = 180_000;

const changeDeployment = <Result>(path: string, body: object): Operation<Result> => ({
  id: "deploy",
  method: "POST",
  path: `/api/gateway/${path}`,
  body,
  isChange: true,
  timeoutMs: DEPLOY_TIMEOUT_MS,
});

/** Starts the server of a worktree, and first ends the one that runs. */
export const startDeployment = ({ repo, ticket }: TicketWorktree, worktreePath: string) =>
  changeDeployment<GatewayAnswer<"deploy">>("deploy", {
    ticketId: ticket,
    repoPath: repo,
    worktreePath,
  });

export const stopDeployment = ({ repo }: TicketWorktree, worktreePath: string) =>
  changeDeployment<GatewayAnswer<"tear_down_deploy">>("deploy/teardown", {
    repoPath: repo,
    worktreePath,
  });
