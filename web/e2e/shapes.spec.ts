/**
 * Every response of the mock server has the shape that the interface descriptions in docs/openapi state. The mock server
 * answers with status 500 otherwise, also in all other tests. These requests need no browser.
 */
import { expect, test } from "@playwright/test";

import { id, useMock } from "./mock";

const mock = useMock();
const BEN = "01980000-0000-7000-9000-000000000002";
const LOOP = `/loops/${id(10)}`;
const TARGET = `/compute-targets/${id(901)}`;
const CHANGES = `/api/gateway/git/loop-changes/${id(11)}`;

const REVIEWER = "/api/gateway/reviewer";
const SESSION = { repoPath: "~/src/shop", sessionId: "s", provider: "reviewer" };
const DEPLOY = "/api/gateway/deploy";
const DEPLOYED = {
  repoPath: "/home/sam/src/acme/shop",
  worktreePath: "/home/sam/src/worktrees/shop-loop-plan-7",
};
const DEPLOY_STATUS = `${DEPLOY}/status/loop-plan-7?repo=${DEPLOYED.repoPath}`;
const FINDING_CHAT = `${REVIEWER}/finding-chat/f?ticketId=t&repo=~/src/shop`;

type Sent = [method: string, path: string, body?: object];

const CONTROL_PLANE: Sent[] = [
  ["POST", "/auth/sign-in-link", { token: "mock" }],
  ["POST", "/auth/sign-in-link", { token: "spent" }],
  ["GET", "/auth/methods"],
  ["POST", "/auth/sign-in", { email: "ada@example.org", password: "right" }],
  ["POST", "/auth/sign-in", { email: "ada@example.org", password: "wrong" }],
  ["POST", "/auth/password-reset", { token: "mock" }],
  ["POST", "/auth/password-reset", { token: "used" }],
  ["POST", "/invitations/preview", { token: "mock" }],
  ["POST", "/invitations/preview", { token: "used" }],
  ["POST", "/invitations/accept", { token: "mock" }],
  ["GET", "/me"],
  ["GET", "/organizations"],
  ["GET", "/feature-flags"],
  ["PUT", "/feature-flags/mermaid-enhancements", { enabled: true }],
  ["GET", "/change-requests?attention=true&count=true&limit=50"],
  ["GET", "/change-requests/feature-1"],
  ["GET", "/change-requests/none"],
  ["PATCH", "/change-requests/feature-104", { archived: true }],
  ["PUT", "/change-requests/feature-104/mark", { seen: true }],
  ["GET", "/loops?count=true&limit=50"],
  ["GET", "/loops?limit=0"],
  ["GET", "/loops/usage"],
  ...[10, 11, 12, 13, 14, 15, 16, 17].map((n): Sent => ["GET", `/loops/${id(n)}`]),
  ["GET", `/loops/${id(14)}/events?tail=5`],
  ["GET", "/loops/none"],
  ["GET", `${LOOP}/events?tail=500`],
  ["GET", `${LOOP}/events?text=npm`],
  ["GET", `${LOOP}/events?after=0`],
  ["GET", `${LOOP}/events?type=tool_call&limit=20`],
  ["GET", `${LOOP}/events/3`],
  ["POST", `${LOOP}/events`, { type: "output", chunk: "a line" }],
  ["POST", `${LOOP}/cancel`, {}],
  ["POST", `/loops/${id(13)}/resume`, {}],
  ["POST", "/documents", { type: "IMPLEMENTATION_PLAN", title: "A plan", content: "# A plan" }],
  [
    "POST",
    "/documents/run-loop",
    {
      document: { type: "FEATURE", title: "A change", content: "A change" },
      run: { command: "plan", repo: { fullName: "acme/shop" } },
    },
  ],
  ["GET", "/documents/plan-1"],
  ["GET", "/documents/feature-1"],
  ["GET", "/documents/none"],
  ["GET", "/documents/plan-1/versions/1"],
  ["POST", "/documents/plan-1/versions", { content: "# Another", version: 2 }],
  ["POST", "/documents/plan-1/versions", { content: "# Another", version: 2 }],
  ["POST", "/documents/plan-1/run-loop", { command: "execute", version: 3 }],
  ["POST", "/documents/plan-1/run-loop", { command: "execute", version: 1 }],
  ["GET", "/members"],
  ["PATCH", `/members/${BEN}`, { role: "org:admin" }],
  ["POST", `/members/${BEN}/password-reset`],
  ["POST", "/invitations", { email: "new@example.org", role: "org:member" }],
  ["GET", "/invitations"],
  ["DELETE", "/invitations/none"],
  ["GET", "/sessions"],
  ["DELETE", "/sessions/b"],
  ["POST", "/api-keys", { name: "deploy", scopes: ["read"] }],
  ["GET", "/api-keys"],
  ["DELETE", "/api-keys/none"],
  ["POST", "/repositories", { fullName: "acme/docs" }],
  ["GET", "/repositories"],
  ["DELETE", "/repositories/acme/docs"],
  ["GET", "/organization/settings"],
  ["PUT", "/organization/settings", { maxConcurrentLoops: 2 }],
  ["GET", "/audit-log"],
  ["GET", "/agents"],
  ["GET", "/agent-proposals"],
  ["GET", "/agents/payments"],
  ["GET", "/agents/payments/versions"],
  ["GET", "/agents/payments/versions/1"],
  ["PATCH", "/agents/payments", { prompt: "Shorter", changeNote: "Shorter" }],
  ["POST", "/public-keys", { publicKeyBase64: "a2V5", fingerprint: "lg:key" }],
  ["GET", "/public-keys"],
  ["DELETE", "/public-keys?fingerprint=lg:key"],
  ["GET", "/compute-targets"],
  ["GET", `${TARGET}/health-check`],
  ["POST", `${TARGET}/commands`, {}],
  ["POST", "/compute-targets/local-auth/challenge", {}],
  ["POST", "/desktop/onboarding-attempt", {}],
  ["POST", "/auth/sign-out", {}],
];

const GATEWAY: Sent[] = [
  ["GET", "/health"],
  ["POST", "/gateway-auth/exchange", { challengeToken: "mock" }],
  ["GET", "/api/gateway/repos"],
  ["GET", "/api/gateway/health-check"],
  ["GET", "/api/gateway/approvals"],
  ["GET", CHANGES],
  ["POST", CHANGES, { repository: "acme/shop", paths: ["src/webhooks/retry.ts"] }],
  ["GET", "/api/gateway/git/branches?repo=~/src/shop&filter=&limit=20"],
  ["POST", "/api/gateway/git/pr/inline-comment", {}],
  ["GET", "/api/gateway/git/repo-path?repoFullName=acme/shop"],
  ["GET", `${REVIEWER}/available`],
  ["GET", `${REVIEWER}/status/t?repo=~/src/shop`],
  ["GET", `${REVIEWER}/status/t`],
  ["POST", `${REVIEWER}/stop/t`, { repo: "~/src/shop" }],
  ["POST", `${REVIEWER}/review/t`, {}],
  ["POST", `${REVIEWER}/review/t`, { repoPath: "~/src/shop" }],
  ["POST", `${REVIEWER}/review/t`, { repoPath: "~/src/shop" }],
  ["GET", `${REVIEWER}/status/t?repo=~/src/shop`],
  ["POST", `${REVIEWER}/stop/t`, { repo: "~/src/shop" }],
  ["GET", `${REVIEWER}/status/t?repo=~/src/shop`],
  ["POST", `${REVIEWER}/review-findings/t?repo=~/src/shop`, { declinedIndex: 0, message: "m" }],
  ["POST", `${REVIEWER}/review-findings/t?repo=~/src/shop`, {}],
  ["GET", `${REVIEWER}/review-findings/t?repo=~/src/shop`],
  [
    "POST",
    `${REVIEWER}/review-dedup/t`,
    { ...SESSION, providerA: "a", providerB: "b", findingsA: [{ message: "m" }], findingsB: [] },
  ],
  ["POST", `${REVIEWER}/review-verdict/t`, SESSION],
  ["POST", `${REVIEWER}/review-verdict/t`, {}],
  [
    "POST",
    `${REVIEWER}/argue/t`,
    { repoPath: "~/src/shop", findingSummary: "f", assistantArgument: "a", rounds: 2 },
  ],
  ["POST", FINDING_CHAT, { message: "m" }],
  ["POST", FINDING_CHAT, {}],
  ["PATCH", FINDING_CHAT, { message: { id: "1", role: "user", content: "m" } }],
  ["GET", FINDING_CHAT],
  ["POST", "/api/gateway/orchestrator/kill", { pid: 4300 }],
  ["POST", `${DEPLOY}/detect`, { repoPath: DEPLOYED.worktreePath }],
  ["GET", DEPLOY_STATUS],
  ["POST", DEPLOY, {}],
  ["POST", DEPLOY, { ...DEPLOYED, ticketId: "loop-plan-7" }],
  ...[1, 2, 3].map((): Sent => ["GET", DEPLOY_STATUS]),
  ["POST", `${DEPLOY}/teardown`, DEPLOYED],
];

const headers = { cookie: "session=mock", "x-session-key": "mock" };

async function send(origin: string, [method, path, body]: Sent): Promise<Response> {
  return fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

async function expectShapes(origin: string, requests: Sent[]): Promise<void> {
  for (const request of requests) {
    const response = await send(origin, request);
    expect(response.status, await response.text()).toBeLessThan(500);
  }
}

test("responses of the control plane match its interface description", async () => {
  await expectShapes(mock.origin, CONTROL_PLANE);
  // Without a session.
  const response = await fetch(`${mock.origin}/me`);
  expect(response.status, await response.text()).toBe(401);
});

test("responses of the gateway match its interface description", async () => {
  const response = await send(mock.origin, ["GET", "/compute-targets"]);
  const { data } = (await response.json()) as {
    data: { capabilities: { gatewayPort?: number } }[];
  };
  await expectShapes(`http://127.0.0.1:${data[0]?.capabilities.gatewayPort ?? 0}`, GATEWAY);
});
