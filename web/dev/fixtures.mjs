// Fixtures of the mock server: users, documents and loops in all statuses.
import { repeated, SCRIPT } from "./events.mjs";

const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const id = (n) => `01980000-0000-7000-8000-${String(n).padStart(12, "0")}`;

const check = (id, label, fields) => ({ id, label, required: true, passed: true, ...fields });

const mcpServer = () => ({
  available: false,
  serverName: null,
  matchedUrl: null,
  checkedAt: minutesAgo(0),
  error: null,
  loopgateAvailable: false,
});

const PLAN = `# Print the version with \`--version\`

The command line has no way to say which version it is. This adds a \`--version\` flag that prints the version of \`package.json\` and ends with status 0.

## How it works

\`\`\`mermaid
flowchart LR
  A[argv] --> B{--version?}
  B -- yes --> C[read package.json]
  C --> D[print, exit 0]
  B -- no --> E[run the command]
  E --> F[(store)]
\`\`\`

\`\`\`mermaid
sequenceDiagram
  User->>CLI: --version
  CLI->>package.json: read
  CLI-->>User: 1.4.0
\`\`\`

## Tasks

- [ ] Parse the flag before any command is looked up, in \`src/cli.ts\`
- [ ] Read the version once, through \`import packageJson from "../package.json"\`
- [ ] Print it without decoration, so that scripts can read it
- [ ] Cover both spellings, \`--version\` and \`-V\`, with a test

\`\`\`ts
export function version(argv: string[]): string | undefined {
  // Only the first argument counts: \`tool run --version\` asks the sub-command.
  return argv[0] === "--version" || argv[0] === "-V" ? packageJson.version : undefined;
}
\`\`\`

## Decisions

| Question | Decision | Why |
|---|---|---|
| Short form | \`-V\` | \`-v\` is taken by *verbose* |
| Output | the bare version | \`$(tool --version)\` is the usual way to read it |
| Exit status | 0 | it is no error |

> Nothing else changes. The help text gains one line.

### Open questions

1. Should \`--version --json\` answer with an object? The plan leaves it out.
`;

/** `finished`: number of finished loops in addition to those in all statuses. */
export function fixtures(finished = 0) {
  const target = (fields) => ({
    organizationId: id(1),
    supportedOperations: [],
    selectedHarness: "assistant",
    grantsCommands: false,
    createdAt: minutesAgo(9999),
    updatedAt: minutesAgo(0),
    ...fields,
  });
  const protectedBy = (status, reason) => ({ status, reason, upgradeSupported: false });
  const targets = [
    target({
      id: id(901),
      machineName: "studio-7",
      platform: "linux",
      gatewayId: "3d0c5a52-8d0f-4a3e-9a38-0f4a3f6f2a11",
      capabilities: {},
      userId: id(2),
      isSharedWithOrg: true,
      security: protectedBy("protected", "BOUND_DESKTOP_MANAGED_KEY"),
      isOnline: true,
      lastSeenAt: minutesAgo(0),
    }),
    target({
      id: id(902),
      machineName: "thinkpad",
      platform: "darwin",
      capabilities: {},
      userId: id(3),
      ownerName: "Ben Lindqvist",
      isSharedWithOrg: true,
      security: protectedBy("legacy_manual", "NO_BOUND_MANAGED_KEY"),
      isOnline: false,
      lastSeenAt: minutesAgo(190),
    }),
  ];
  const repo = { fullName: "acme/shop", branch: "main" };
  const plan = {
    id: id(800),
    slug: "plan-1",
    type: "IMPLEMENTATION_PLAN",
    title: "Print the version with --version",
    status: "DRAFT",
    content: PLAN,
    currentVersion: 2,
    userId: id(2),
    repo,
    createdAt: minutesAgo(50),
    updatedAt: minutesAgo(45),
  };
  const feature = {
    ...plan,
    id: id(801),
    slug: "feature-1",
    type: "FEATURE",
    title: "Add a --version flag that prints the version from package.json",
    content:
      "Add a --version flag that prints the version from package.json. Cover it with a test.",
    currentVersion: 1,
  };
  plan.source = feature;
  feature.plan = plan;
  const pullRequest = {
    prUrl: "https://github.com/acme/shop/pull/41",
    prNumber: 41,
    branchName: "orchestrator/feature-1",
  };
  const success = (fullName) => ({
    status: "success",
    fullName,
    ...pullRequest,
    baseBranch: "main",
    hasChanges: true,
    prTitle: "Print the version with --version",
    commitSha: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  });
  const link = ({ id, slug, title, type }) => ({ id, slug, title, type });
  const loop = (fields) => ({
    organizationId: id(1),
    userId: id(2),
    harness: "assistant",
    documentId: feature.id,
    document: link(feature),
    prompt: feature.content,
    promptExcerpt: feature.content.slice(0, 200),
    repo,
    additionalRepos: null,
    prUrl: null,
    prNumber: null,
    branchName: null,
    sessionId: null,
    tokensInput: 0,
    tokensOutput: 0,
    tokensByModel: null,
    estimatedCost: null,
    reportedCost: null,
    apiKeySource: null,
    startedAt: null,
    completedAt: null,
    error: null,
    results: null,
    metadata: {},
    user: {
      id: id(2),
      firstName: "Ada",
      lastName: "Okafor",
      avatarUrl: null,
      email: "ada@acme.dev",
    },
    computeTargetId: targets[0].id,
    computeTarget: { id: targets[0].id, machineName: "studio-7", isOnline: true },
    ...fields,
  });
  const events = (count, last) => repeated(count, last, (n) => minutesAgo(40 - n / 60));
  const titled = (title) => ({ document: { ...link(feature), slug: "feature-2", title } });
  const loops = [
    {
      record: loop({
        id: id(10),
        status: "RUNNING",
        command: "EXECUTE",
        ...titled("Retry webhooks with a growing delay and give up after a day"),
        createdAt: minutesAgo(4),
        updatedAt: minutesAgo(0),
        startedAt: minutesAgo(4),
        tokensInput: 48_210,
        tokensOutput: 9_120,
        branchName: "orchestrator/plan-7",
      }),
      events: events(120),
    },
    {
      record: loop({
        id: id(11),
        status: "COMPLETED",
        command: "EXECUTE",
        document: link(plan),
        documentId: plan.id,
        ...pullRequest,
        results: [
          success("acme/shop"),
          { status: "skipped", fullName: "acme/shop-docs", reason: "no_changes" },
          {
            status: "failed",
            fullName: "acme/infra",
            error: "remote: Permission to acme/infra.git denied",
          },
        ],
        createdAt: minutesAgo(31),
        updatedAt: minutesAgo(25),
        startedAt: minutesAgo(31),
        completedAt: minutesAgo(25),
        tokensInput: 184_212,
        tokensOutput: 21_310,
        estimatedCost: 0.87,
        metadata: { warnings: ["SUPPORT_UPLOAD_FAILED"] },
      }),
      events: events(Number(process.env.LOG_EVENTS ?? 7_500), { type: "completed" }),
    },
    {
      record: loop({
        id: id(12),
        status: "COMPLETED",
        command: "PLAN",
        producedDocument: link(plan),
        createdAt: minutesAgo(48),
        updatedAt: minutesAgo(45),
        startedAt: minutesAgo(48),
        completedAt: minutesAgo(45),
        tokensInput: 61_480,
        tokensOutput: 5_210,
        estimatedCost: 0.21,
        tokensByModel: {
          "m-large": {
            input: 61480,
            output: 5210,
            cacheCreation: 22000,
            cacheRead: 310000,
          },
        },
      }),
      events: events(60, { type: "completed" }),
    },
    {
      record: loop({
        id: id(13),
        status: "FAILED",
        command: "EXECUTE",
        ...titled("Move the price rules out of the checkout controller"),
        documentId: plan.id,
        repo: {
          fullName: "acme/checkout-service-with-a-long-name",
          branch: "release/2031-04",
        },
        createdAt: minutesAgo(200),
        updatedAt: minutesAgo(180),
        startedAt: minutesAgo(200),
        completedAt: minutesAgo(180),
        tokensInput: 12_000,
        tokensOutput: 800,
        error: {
          code: "RUNNER_ERROR",
          message: "API Error: 429 rate limit reached",
          result: { subcode: "ASSISTANT_RATE_LIMIT" },
        },
      }),
      events: events(40, {
        type: "error",
        code: "RUNNER_ERROR",
        message: "API Error: 429 rate limit reached",
      }),
    },
    {
      record: loop({
        id: id(14),
        status: "CLAIMED",
        command: "PLAN",
        ...titled("Show stock per warehouse in the product page"),
        createdAt: minutesAgo(0.3),
        updatedAt: minutesAgo(0),
      }),
      events: [
        {
          type: "approval",
          timestamp: minutesAgo(0.2),
          chunk: "Waiting for approval on the machine: loopgate approvals approve 00000073",
          approval: {
            id: id(73),
            command: "loopgate approvals approve 00000073",
            waitsUntil: minutesAgo(-1440),
          },
        },
      ],
    },
    {
      record: loop({
        id: id(15),
        status: "CANCELLED",
        command: "PLAN",
        ...titled("Translate the invoices"),
        createdAt: minutesAgo(1500),
        updatedAt: minutesAgo(1490),
        startedAt: minutesAgo(1500),
        completedAt: minutesAgo(1490),
        tokensInput: 3_000,
        tokensOutput: 90,
      }),
      events: events(8, { type: "cancelled", reason: "Cancelled by user" }),
    },
    {
      record: loop({
        id: id(17),
        status: "AWAITING_USER",
        command: "EXECUTE",
        ...titled("Round prices per country"),
        documentId: plan.id,
        createdAt: minutesAgo(50),
        updatedAt: minutesAgo(40),
        startedAt: minutesAgo(50),
        completedAt: minutesAgo(40),
        error: {
          code: "AWAITING_USER",
          message:
            "Switzerland rounds to five centimes. Should the total be rounded, or each item?",
        },
      }),
      events: [],
    },
    {
      record: loop({
        id: id(16),
        status: "TIMED_OUT",
        command: "CODE_REVIEW",
        ...titled("Review of the new cache"),
        createdAt: minutesAgo(3000),
        updatedAt: minutesAgo(2900),
        startedAt: minutesAgo(3000),
        completedAt: minutesAgo(2880),
        error: {
          code: "TIMED_OUT",
          message: "Loop timed out in RUNNING status (cron safety net)",
        },
      }),
      events: [],
    },
  ];
  for (let n = 0; n < finished; n += 1) {
    const at = minutesAgo(4000 + n);
    loops.push({
      record: loop({
        id: id(10_000 + n),
        status: n % 2 === 0 ? "COMPLETED" : "FAILED",
        command: "EXECUTE",
        ...titled(`Earlier change ${n + 1}`),
        createdAt: at,
        updatedAt: at,
        startedAt: at,
        completedAt: at,
      }),
      events: [],
    });
  }
  return {
    me: {
      id: id(2),
      email: "ada@acme.dev",
      firstName: "Ada",
      lastName: "Okafor",
      avatarUrl: null,
      role: "org:admin",
      organization: { id: id(1), name: "Acme", slug: "acme" },
    },
    targets,
    // Created for each response, so that the requests never expire while a page is open.
    waiting: () => [
      {
        id: id(71),
        createdAt: new Date().toISOString(),
        waitsUntil: new Date(Date.now() + 94_000).toISOString(),
        operationId: "git_action",
        riskTier: "medium",
        method: "POST",
        path: "/api/gateway/git",
        directories: ["/home/dev/src/checkout-service", "/home/dev/src/webhooks"],
        location: "https://loopgate.example.com",
        reason: "git_action has risk tier medium; requests above low require approval",
      },
      {
        id: id(70),
        createdAt: new Date().toISOString(),
        waitsUntil: new Date(Date.now() + 31_000).toISOString(),
        operationId: "deploy",
        riskTier: "high",
        method: "POST",
        path: "/api/gateway/deploy",
        query: "ticket=SHOP-7&token=[REDACTED]",
        directories: [],
        location: "cloud-socket",
        reason: "deploy has risk tier high; requests above medium require approval",
      },
    ],
    checks: [
      check("git", "Git", { version: "2.47.3" }),
      check("assistant-cli", "Assistant CLI", { version: "2.1.197" }),
      check("code-host-cli", "Code host CLI", { version: "2.63.2" }),
      check("code-host-auth", "Code host auth"),
      check("plugin-code", "code", { version: "1.8.0" }),
      check("worktree-dir", "Worktree Directory", { version: "/home/dev/src/.worktrees" }),
      check("reviewer", "Reviewer CLI", {
        required: false,
        passed: false,
        error: "Not found",
        remediation:
          "Optional: install the reviewer with `npm install -g @openai/codex`, then run `codex` once to sign in.",
        debug: {
          errorCode: "ENOENT",
          stderr: "",
          resolvedPath: "/usr/local/bin:/usr/bin:/bin",
          foundAt: [],
          platform: "linux",
        },
      }),
      check("python3", "python3", { version: "3.13.5" }),
    ],
    capabilities: {
      tools: { assistant: false, reviewer: false, git: false, codeHost: false, python3: false },
      versions: {},
      commandSigning: true,
    },
    mcpServers: { assistant: mcpServer(), reviewer: mcpServer() },
    branches: [
      { name: "main", isRemote: false },
      { name: "release/2031-04", isRemote: true },
    ],
    repos: [
      {
        path: "~/src/shop",
        name: "shop",
        fullName: "acme/shop",
        defaultBranch: "main",
        addedAt: minutesAgo(9999),
      },
      {
        path: "~/src/checkout-service",
        name: "checkout-service",
        fullName: "acme/checkout-service",
        defaultBranch: "develop",
        addedAt: minutesAgo(9999),
      },
      { path: "~/src/scratch", name: "scratch", addedAt: minutesAgo(9999) },
    ],
    documents: [plan, feature],
    // A ticket is a document with a state: both have the same id.
    tickets: [
      {
        id: feature.id,
        slug: "ticket-1",
        title: feature.title,
        state: "open",
        repo,
        additionalRepos: [{ fullName: "acme/checkout-service", branch: "" }],
        userId: id(2),
        createdAt: feature.createdAt,
        updatedAt: feature.updatedAt,
      },
    ],
    loops,
    plan,
    script: SCRIPT,
    pullRequest,
    success,
    loop,
  };
}
