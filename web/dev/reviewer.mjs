// Reviews of a worktree by the mock reviewer: their state, findings, verdict, debates and chats.

const HOUR_MS = 3_600_000;
const MODEL = "gpt-5.3-codex";
const WORKTREE = "/home/sam/src/worktrees/shop-loop-plan-7";
const PROVIDERS = ["assistant", "reviewer"];

const now = () => new Date().toISOString();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ok = (body) => ({ status: 200, body });
const CODES = { 400: "invalid_request", 404: "not_found", 409: "conflict" };
const fail = (status, error, more = {}) => ({
  status,
  body: { error, code: CODES[status], ...more },
});
const missing = (error) => fail(400, error, { code: "missing_field" });

/** Findings in the log of the mock reviewer. The second one is also reported by the assistant. */
export const FINDINGS = [
  {
    severity: "high",
    priority: "P1",
    file: "src/webhooks/retry.ts",
    line: 14,
    message:
      "The delay overflows after 1,023 attempts\n`2 ** attempt` becomes `Infinity`, which `Math.min` limits, but a *negative* attempt returns less than a second.",
    suggestion: "Reject negative attempts:\n\n```ts\nif (attempt < 0) throw new RangeError();\n```",
    commented: false,
  },
  {
    severity: "medium",
    priority: "P2",
    file: "test/retry.test.ts",
    line: 13,
    message: "The test asserts nothing about the delay",
    commented: false,
  },
  {
    severity: "low",
    priority: "P3",
    file: "src/webhooks/deliver.ts",
    line: 90,
    message: "The caller ignores the result of post()",
    commented: false,
  },
  {
    severity: "critical",
    priority: "P0",
    file: "src/billing/charge.ts",
    line: 7,
    message: "Charges are repeated when a webhook is delivered twice",
    commented: false,
  },
  {
    severity: "low",
    priority: "P3",
    file: "docs/<img src=x onerror=alert(1)>.md",
    line: 12,
    message:
      "<script>alert(1)</script> <img src=https://attacker.example/i.png onerror=alert(1)>\n[link](javascript:alert(1)) ![image](https://attacker.example/i.png)",
    commented: false,
  },
];

const OF_ASSISTANT = [
  {
    severity: "high",
    file: "test/retry.test.ts",
    line: 13,
    message: "The test asserts nothing about the delay of a retry",
    commented: false,
    confidence: 0.8,
  },
];

/** Words that two texts share, as a part of all their words. */
function similarity(a, b) {
  const words = (text) => new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? []);
  const [left, right] = [words(a.message ?? ""), words(b.message ?? "")];
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / new Set([...left, ...right]).size + (a.file && a.file === b.file ? 0.25 : 0);
}

/**
 * `REVIEWER=missing`: the program is not installed. `REVIEWED=1`: a review has ended before. `REVIEW_MS`: duration of a
 * review.
 */
export function reviewer({ REVIEWER, REVIEWED, REVIEW_MS = "1500" } = process.env) {
  const isInstalled = REVIEWER !== "missing";
  let review;
  const findings = new Map();
  const chats = new Map();

  const reviewOf = (status, startedAt) => ({
    status,
    processRunning: status === "running",
    pid: 4242,
    provider: "reviewer",
    sessionId: `session of ${startedAt}`,
    startedAt,
    ...(status !== "running" && { completedAt: now(), exitCode: status === "completed" ? 0 : 1 }),
    config: { model: MODEL, reasoningEffort: "medium", reviewMode: "base", baseBranch: "main" },
    log: "Reading src/webhooks/retry.ts\nThinking about <b>overflow</b>\n",
    logSize: 62,
  });
  if (REVIEWED) {
    const startedAt = new Date(Date.now() - HOUR_MS).toISOString();
    review = { ...reviewOf("completed", startedAt), completedAt: startedAt };
    findings.set("reviewer", {
      provider: "reviewer",
      model: MODEL,
      // Not every review says how sure it is.
      findings: FINDINGS.map((finding, index) => ({
        ...finding,
        ...(index === 0 && { confidence: 0.9 }),
      })),
    });
    findings.set("assistant", { provider: "assistant", model: "unknown", findings: OF_ASSISTANT });
  }

  const end = (status) => {
    review = { ...reviewOf(status, review.startedAt), log: `${review.log}5 findings.\n` };
  };

  /** Keeps what persons have decided about the same findings, as the gateway does. */
  const storeFindings = () => {
    const earlier = findings.get("reviewer")?.findings ?? [];
    const decided = ({ file, message }) => {
      const same = earlier.find((other) => other.file === file && other.message === message);
      return same && { declined: same.declined, declineReason: same.declineReason };
    };
    findings.set("reviewer", {
      provider: "reviewer",
      model: MODEL,
      findings: FINDINGS.map((finding) => ({ ...finding, ...decided(finding) })),
    });
  };

  async function run(startedAt) {
    await sleep(Number(REVIEW_MS));
    if (review.startedAt !== startedAt || review.status !== "running") return;
    storeFindings();
    end("completed");
  }

  /** Returns an answer in parts, which `stream` sends one after the other. */
  const events = (...list) => ({ events: list });
  const say = (mode, ...texts) => [
    {
      type: "status",
      status: "running",
      pid: mode === "assistant" ? 4300 : 4301,
      ...(mode && { mode }),
    },
    ...texts.map((content) => ({ type: "text", content })),
  ];
  const DONE = [{ type: "result", success: true }, { type: "done" }];

  const chatOf = (id, query) => {
    const empty = {
      messages: [],
      ticketId: query.get("ticketId"),
      repoPath: query.get("repo"),
      findingId: id,
    };
    if (!chats.has(id)) chats.set(id, empty);
    return chats.get(id);
  };

  const actions = {
    "GET available": () =>
      ok(isInstalled ? { available: true, version: "0.169.0" } : { available: false }),
    "GET status": ({ query }) => {
      if (!query.get("repo")) return missing("repo query parameter is required");
      const place = { hasReview: review !== undefined, worktreeDir: WORKTREE };
      return ok({ ...place, ...(review ?? { message: "No review has been started" }) });
    },
    "POST review": ({ body }) => {
      if (!body.repoPath) return missing("repoPath is required");
      if (review?.status === "running")
        return fail(409, "Review already running", { pid: review.pid });
      review = reviewOf("running", now());
      void run(review.startedAt);
      return events({ type: "status", status: "running", pid: review.pid, provider: "reviewer" });
    },
    "POST stop": ({ body }) => {
      if (!body.repo) return missing("repo is required in body");
      if (!review) return fail(404, "No review found");
      if (review.status !== "running")
        return ok({ stopped: false, message: `Review is not running (status: ${review.status})` });
      end("stopped");
      return ok({ stopped: true, pid: review.pid });
    },
    "GET review-findings": ({ query }) => {
      if (!query.get("repo")) return missing("ticketId and repo are required");
      return ok(findings.get(query.get("provider") ?? "reviewer") ?? { findings: [] });
    },
    "POST review-findings": ({ query, body }) => {
      if (!query.get("repo")) return missing("ticketId and repo are required");
      const provider = query.get("provider") ?? "reviewer";
      if (!PROVIDERS.includes(provider)) return fail(400, "unsupported provider");
      if (body.declinedIndex !== undefined) {
        const finding = findings.get(provider)?.findings[body.declinedIndex];
        if (!finding) return fail(400, "Index out of range");
        if (finding.message !== body.message) return fail(409, "The findings have changed");
        finding.declined = body.declined !== false || undefined;
        finding.declineReason = finding.declined && (body.declineReason || undefined);
        return ok({ success: true });
      }
      return fail(400, "Invalid request body");
    },
    "POST review-dedup": ({ body: { repoPath, providerA, providerB, findingsA, findingsB } }) => {
      if (!repoPath || !providerA || !providerB)
        return missing("repoPath, providerA, and providerB are required");
      return ok({
        duplicates: findingsA.flatMap((a, index) => {
          const other = findingsB.findIndex((b) => similarity(a, b) >= 0.6);
          return other < 0 ? [] : [[index, other]];
        }),
      });
    },
    "POST review-verdict": async ({ body }) => {
      if (!body.repoPath || !body.sessionId || !PROVIDERS.includes(body.provider))
        return missing("repoPath, sessionId, and provider are required");
      await sleep(200);
      const verdict = { verdict: "needs_attention", reason: "The delay needs a lower bound." };
      if (review?.sessionId === body.sessionId) review.verdict = verdict;
      return ok({ verdict });
    },
    "POST argue": ({ query, body }) => {
      if (!query.get("repo") && !body.repoPath) return missing("repo parameter is required");
      if (!body.assistantArgument || !body.findingSummary)
        return missing("assistantArgument and findingSummary are required");
      if (body.rounds === undefined) return events(...say(undefined, "I ", "insist."), ...DONE);
      return events(
        ...say("reviewer", "Nothing rejects ", "a negative attempt."),
        ...say("assistant", "`attempt` is ", "never negative: see `deliver`."),
        ...say(
          "reviewer",
          'Then the finding is wrong.\n<debate-status>{"pendingIssues":[],"conceded":true}</debate-status>',
        ),
        { type: "result", success: true },
        {
          type: "done",
          content: "Then the finding is wrong.",
          debateStatus: {
            pendingIssues: [],
            resolvedIssues: [],
            conceded: true,
            outcome: "concession",
          },
        },
      );
    },
    "GET finding-chat": ({ id, query }) => {
      if (!query.get("ticketId") || !query.get("repo"))
        return missing("ticketId and repo parameters are required");
      return ok(chatOf(id, query));
    },
    "POST finding-chat": ({ id, query, body }) => {
      if (!query.get("ticketId") || !query.get("repo"))
        return missing("ticketId and repo parameters are required");
      if (!body.message) return missing("message is required");
      const { messages } = chatOf(id, query);
      const timestamp = now();
      const answer = "It matters **only** for <b>negative</b> attempts.";
      messages.push(
        { id: `user-${messages.length}`, role: "user", content: body.message, timestamp },
        { id: `assistant-${messages.length}`, role: "assistant", content: answer, timestamp },
      );
      return events(...say("assistant", answer.slice(0, 20), answer.slice(20)), ...DONE);
    },
    "PATCH finding-chat": ({ id, query, body: { message } }) => {
      if (!query.get("ticketId") || !query.get("repo"))
        return missing("ticketId and repo parameters are required");
      if (!message?.id || !message.role || !message.content)
        return missing("message with id, role and content is required");
      chatOf(id, query).messages.push(message);
      return ok({ success: true });
    },
  };

  /** Returns the answer to a request below /api/gateway/reviewer; `undefined` for other routes. */
  return function answer(method, pathname, query, body) {
    const [, action, id] = /^\/api\/gateway\/reviewer\/([^/]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    return actions[`${method} ${action}`]?.({ id: decodeURIComponent(id ?? ""), query, body });
  };
}

/** Sends the events of an answer, one line each, with a pause in which a page displays them. */
export async function stream(response, list, pauseMs) {
  for (const event of list) {
    response.write(`${JSON.stringify(event)}\n`);
    await sleep(pauseMs);
  }
  response.end();
}
