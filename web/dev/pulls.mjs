// Pull requests of a change request, as a control plane lists them and as a gateway reads them at the code host.

const HEADS = [
  "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade",
  "de980441c3ab03a8c07dda1ad27b8a11f39deb1e",
];
const [HEAD, UPDATED] = HEADS;
const CHECK = { status: "COMPLETED", conclusion: "SUCCESS", outcome: "passed", url: null };

const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

const posted = (id, login, body, facts = {}) => ({
  id: `C${id}`,
  providerNodeId: `C${id}`,
  providerCommentId: String(id),
  kind: "issue",
  threadId: null,
  inReplyToId: null,
  path: null,
  line: null,
  resolved: null,
  author: { login, displayName: null, avatarUrl: null, profileUrl: null },
  body,
  createdAt: minutesAgo(200 - id),
  updatedAt: null,
  providerUrl: `https://github.com/acme/shop/pull/42#discussion_r${id}`,
  stale: false,
  bodyTruncated: false,
  ...facts,
});

const onLine = (threadId, path, line, resolved = false) => ({
  ...{ kind: "review", threadId, path, line, resolved },
});

const standing = (title, facts = {}) => ({
  state: "open",
  isDraft: false,
  title,
  url: "https://github.com/acme/shop/pull/42",
  headBranch: "loopgate/plan-7",
  headSha: HEAD,
  baseBranch: "main",
  hasConflicts: false,
  reviewDecision: null,
  reviewers: [],
  checks: [],
  checksTruncated: false,
  unresolvedThreads: 0,
  lastCommentAt: null,
  settledAt: null,
  mergedBy: null,
  mergeObstacle: null,
  mergeMethods: ["squash", "merge"],
  canUpdateBranch: false,
  ...facts,
});

/** What a gateway answers to a request for the comments of a pull request. */
const conversation = ({ standing, comments }, query) => ({
  branchId: query.get("branchId"),
  state: comments.length > 0 ? "populated" : "synced_empty",
  comments: comments.toReversed(),
  budget: {
    ...{ maxComments: 100, pageSize: 100, maxBodyBytes: 16_384, maxResponseBytes: 524_288 },
    ...{ providerTruncated: false, responseTruncated: false },
    ...{ omittedComments: 0, bodyTruncatedCount: 0 },
  },
  providerProofedAt: new Date().toISOString(),
  ...{ stale: false, mixedProjection: false },
  ...{ prNumber: Number(query.get("number")), prUrl: standing.url },
});

/** Returns the state of two pull requests, and the answers of a gateway about them. */
export function pulls() {
  const state = {
    "acme/shop#42": {
      standing: standing("Retry webhooks with a growing delay", {
        reviewDecision: "changes_requested",
        reviewers: [
          { login: "ben", verdict: "changes_requested", at: minutesAgo(40) },
          { login: "cy", verdict: "commented", at: minutesAgo(35) },
        ],
        checks: [
          { ...CHECK, name: "lint" },
          {
            ...{ ...CHECK, name: "test", conclusion: "FAILURE", outcome: "failed" },
            url: "https://ci.example/test",
          },
        ],
        unresolvedThreads: 1,
        canUpdateBranch: true,
      }),
      comments: [
        posted(11, "ben", "Why an hour, and not a day?", onLine("T1", "src/webhooks/retry.ts", 13)),
        posted(12, "ada", "The queue is emptied every hour.", {
          ...onLine("T1", "src/webhooks/retry.ts", 13),
          ...{ kind: "review_reply", inReplyToId: "11" },
        }),
        posted(13, "ben", "Fixed, thank you.", onLine("T2", "src/legacy.ts", 1, true)),
        posted(14, "cy", "<img src=x onerror=alert(1)>\n\n**Please** add a test."),
      ],
    },
    "acme/docs#7": {
      standing: standing("Document the delay", {
        mergeObstacle: "blocked",
        mergeMethods: ["merge"],
      }),
      comments: [],
    },
  };
  const records = (loopId) =>
    Object.entries(state).map(([name, { standing }]) => {
      const [fullName, number] = name.split("#");
      const { url, title, headBranch: branchName, baseBranch } = standing;
      return {
        ...{
          fullName,
          number: Number(number),
          url: url.replace("acme/shop/pull/42", `${fullName}/pull/${number}`),
        },
        ...{ title, branchName, baseBranch, loopId, createdAt: minutesAgo(90) },
        standing: {
          ...{
            state: standing.state,
            isDraft: standing.isDraft,
            hasConflicts: standing.hasConflicts,
          },
          ...{ failingChecks: 1, pendingChecks: 0, unresolvedThreads: standing.unresolvedThreads },
        },
        reportedAt: minutesAgo(5),
      };
    });
  const ok = (body) => ({ status: 200, body });
  const fail = (status, error, code) => ({ status, body: { error, code } });
  const named = (fullName, number) => state[`${fullName}#${number}`];
  const moved = "The pull request has new commits. Read them, then repeat the request.";

  /** Returns the answer to a request below /api/gateway/git; `undefined` for other routes. */
  const answer = (path, query, body) => {
    const read = named(`${query.get("owner")}/${query.get("repo")}`, query.get("number"));
    const changed = named(body.repoFullName, body.prNumber);
    switch (path) {
      case "pr/standing":
        return ok(read.standing);
      case "pr/comments":
        return ok(conversation(read, query));
      case "repo-path":
        return ok({ path: `/home/sam/src/${query.get("repoFullName")}` });
      case "pr/reply": {
        const pull = named(body.repoPath.replace("/home/sam/src/", ""), body.prNumber);
        const root = pull.comments.find(
          ({ providerCommentId: id }) => id === String(body.commentId),
        );
        const place = root && {
          ...onLine(root.threadId, root.path, root.line),
          ...{ kind: "review_reply", inReplyToId: root.providerCommentId },
        };
        pull.comments.push(posted(20 + pull.comments.length, "octo-dev", body.body, place));
        return ok({ success: true, message: "Comment posted successfully", output: "" });
      }
      case "pr/merge":
        if (changed.standing.headSha !== body.headSha) return fail(409, moved, "head_moved");
        Object.assign(changed.standing, { state: "merged", mergeObstacle: "not_open" });
        return ok({ success: true });
      case "pr/update-branch":
        if (changed.standing.headSha !== body.headSha) return fail(409, moved, "head_moved");
        Object.assign(changed.standing, { headSha: UPDATED, canUpdateBranch: false });
        return ok({ success: true });
      default:
        return undefined;
    }
  };
  return { records, answer };
}
