/** The operations of a gateway that pages use: request, and type of the response. */
import type {
  GatewayBranches,
  GatewayCheckReport,
  GatewayRepos,
  LoopChanges,
  LoopPatches,
  PatchesRequest,
  PendingApprovals,
  PullRequestComment,
} from "@/api/types";

export interface Operation<Result> {
  /** Identifier in approval policies; the control plane requires it with a command. */
  id: string;
  method: "GET" | "POST";
  /** Path and query. */
  path: string;
  body?: object;
  /** Never set: carries the type of the response. */
  result?: Result;
}

const read = <Result>(id: string, path: string): Operation<Result> => ({
  id,
  method: "GET",
  path: `/api/gateway/${path}`,
});

export const repositories = read<GatewayRepos>("repos_config", "repos");

/** Checks what loops need on the machine. */
export const healthCheck = read<GatewayCheckReport>("health_check", "health-check");

/** Requests that wait for the owner's approval. Not available as a command. */
export const pendingApprovals = read<PendingApprovals>("", "approvals");

/** Branches of a repository whose names contain `filter`: the default branch and the newest ones. */
export const branchesOf = (repo: string, filter: string, limit: number) =>
  read<GatewayBranches>(
    "git_action",
    `git/branches?${new URLSearchParams({ repo, filter, limit: String(limit) })}`,
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
  read<LoopChanges>(
    "git_action",
    `git/loop-changes/${loopId}?${new URLSearchParams({ ...range })}`,
  );

export const loopPatches = (loopId: string, body: PatchesRequest): Operation<LoopPatches> => ({
  id: "git_action",
  method: "POST",
  path: `/api/gateway/git/loop-changes/${loopId}`,
  body,
});

/** Comments on a line of a pull request. */
export const pullRequestComment = (body: PullRequestComment): Operation<unknown> => ({
  id: "git_pr",
  method: "POST",
  path: "/api/gateway/git/pr/inline-comment",
  body,
});
