// Mock of a control plane and a gateway with fixed data, for development and tests of the pages.
// Not part of a build. Serves dist/ with the content security policy of the real server, so that
// tests detect violations; `npm run dev` proxies to it.
import { createHash } from "node:crypto";
import http from "node:http";
import { gzipSync } from "node:zlib";

import { changeRequests } from "./change-requests.mjs";
import { amended, judgesOf } from "./amended-plan.mjs";
import { changes, versionsOf } from "./changes.mjs";
import { deployments } from "./deploy.mjs";
import { listed, readEvents, store } from "./events.mjs";
import { fixtures } from "./fixtures.mjs";
import { learnings } from "./learnings.mjs";
import { pulls } from "./pulls.mjs";
import { reviewer, stream as streamEvents } from "./reviewer.mjs";
import { reviewStore } from "./reviews.mjs";
import { shapeCheck } from "./shapes.mjs";
import { sendFile } from "./static-files.mjs";
import { variant } from "./variants.mjs";

const PORT = Number(process.env.PORT ?? 19440);
const KEEPALIVE_MS = 10_000;
// Between two events of a provider.
const EVENT_PAUSE_MS = Number(process.env.EVENT_PAUSE_MS ?? 250);
// Between two events of a loop.
const LOOP_EVENT_MS = Number(process.env.LOOP_EVENT_MS ?? 120);
// The control plane compresses larger responses.
const UNCOMPRESSED_BYTES = 1_024;
const present = variant(process.env.VARIANT);
const state = fixtures(Number(process.env.FINISHED_LOOPS ?? 0));
const opened = pulls();
const work = changeRequests(state, opened, Number(process.env.FINISHED_LOOPS ?? 0));
const changed = changes(Number(process.env.CHANGED_FILES ?? 0));
const reviews = reviewStore({ me: state.me, statusOf: (id) => byId(id)?.record.status ?? null });
const review = reviewer();
const deployment = deployments(process.env.DEPLOYMENT);
const learned = learnings();
const flags = { "mermaid-enhancements": false };
const streams = new Map();

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const now = () => new Date().toISOString();

for (const loop of state.loops) {
  const events = loop.events.splice(0);
  for (const event of events) store(loop.events, event);
}

const listStreams = new Set();

/** Announces that lists may have changed, also those that have not. */
function announceChanges() {
  const lists = ["change-requests", "loops", "compute-targets"];
  for (const response of listStreams) response.write(`data: ${JSON.stringify({ lists })}\n\n`);
}

function listChanges(request, response) {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.write(": keepalive\n\n");
  listStreams.add(response);
  const keepalive = setInterval(() => response.write(": keepalive\n\n"), KEEPALIVE_MS);
  request.on("close", () => {
    clearInterval(keepalive);
    listStreams.delete(response);
  });
}

function emit(loop, event) {
  const stored = store(loop.events, event);
  for (const send of streams.get(loop.record.id) ?? []) send(stored);
  if (["started", "completed", "error", "cancelled"].includes(event.type)) announceChanges();
}

// Simulates a loop: starts it, emits output and completes it, unless it is cancelled.
async function simulate(loop) {
  const { record } = loop;
  await sleep(600);
  Object.assign(record, { status: "RUNNING", startedAt: now() });
  emit(loop, { type: "started" });
  for (const event of state.script) {
    await sleep(LOOP_EVENT_MS);
    if (record.status !== "RUNNING") return;
    record.tokensInput += 900;
    record.tokensOutput += 130;
    emit(loop, event);
  }
  Object.assign(record, { status: "COMPLETED", completedAt: now() });
  if (record.command === "PLAN") {
    const plan = {
      ...state.plan,
      id: crypto.randomUUID(),
      slug: `plan-${state.documents.length + 1}`,
      repo: record.repo,
      source: findDocument(record.documentId),
    };
    state.documents.push(plan);
    record.producedDocument = {
      id: plan.id,
      slug: plan.slug,
      title: plan.title,
      type: plan.type,
    };
  } else if (record.command === "REQUEST_CHANGES") {
    const document = findDocument(record.documentId);
    addVersion(document, amended(document.content, record.prompt), record.id);
    record.uploadedArtifacts = { judges: judgesOf(document.currentVersion) };
  } else {
    Object.assign(record, {
      ...state.pullRequest,
      results: [state.success(record.repo.fullName)],
    });
  }
  emit(loop, { type: "completed", result: {} });
}

function addVersion(document, content, loopId = null) {
  const { currentVersion, createdAt, content: earlier } = document;
  document.history ??= [{ version: currentVersion, content: earlier, loopId: null, createdAt }];
  const version = currentVersion + 1;
  document.history.push({ version, content, loopId, createdAt: now() });
  return Object.assign(document, { content, currentVersion: version });
}

/** Fails with 409 unless the request is about the current version. */
function ifCurrent({ slug, currentVersion }, displayedVersion, carryOut) {
  if (displayedVersion === currentVersion) return carryOut();
  return fail(
    409,
    `Ben Lindqvist changed ${slug}: version ${currentVersion} is current. Read it and repeat the request with this version.`,
    { data: { error: "document_changed", displayedVersion, currentVersion } },
  );
}

function startLoop(document, command, repo, prompt = document.content) {
  const record = state.loop({
    id: crypto.randomUUID(),
    status: "PENDING",
    command: command.toUpperCase(),
    documentId: document.id,
    document: {
      id: document.id,
      slug: document.slug,
      title: document.title,
      type: document.type,
    },
    prompt,
    documentVersion: document.currentVersion,
    computeTarget: { id: state.targets[0].id, machineName: "studio-7", isOnline: true },
    repo: repo ?? document.repo,
    createdAt: now(),
    updatedAt: now(),
  });
  const loop = { record, events: [] };
  state.loops.unshift(loop);
  void simulate(loop);
  return { loopId: record.id, status: record.status };
}

function resume(loop, prompt) {
  const { record } = loop;
  const document = findDocument(record.documentId);
  const content = prompt ?? document.content;
  const started = startLoop(
    { ...document, content, title: record.document.title },
    record.command,
    record.repo,
  );
  byId(started.loopId).record.parentLoopId = record.id;
  return started;
}

const link = ({ id, slug, title, type }) => ({ id, slug, title, type });

function detail({ source, plan, history = [], ...document }) {
  const { createdAt, currentVersion } = document;
  const versions = Array.from({ length: currentVersion }, (_, n) => {
    const version = currentVersion - n;
    const stored = history.find((own) => own.version === version);
    return { version, loopId: stored?.loopId ?? null, createdAt: stored?.createdAt ?? createdAt };
  });
  return {
    ...document,
    versions,
    attachments: document.attachments ?? [],
    source: source ? link(source) : null,
    plan: plan ? link(plan) : null,
    loops: state.loops
      .map(({ record }) => record)
      .filter((record) => record.documentId === document.id),
    pullRequests: [],
  };
}

// Responses of requests with an idempotency key. A refused request does not use its key up.
const keyedResponses = new Map();

function once(key, request, carryOut) {
  const earlier = keyedResponses.get(key);
  if (!earlier) {
    const response = carryOut();
    if (key && response.status === 200) keyedResponses.set(key, { request, response });
    return response;
  }
  return earlier.request === request
    ? earlier.response
    : fail(409, "Idempotency key collision with different payload", {
        code: "idempotency_key_collision",
      });
}

function createDocument({ attachments = [], ...body }) {
  const document = {
    attachments: attachments.map(({ filename, mimeType, content }) => ({
      id: crypto.randomUUID(),
      filename,
      mimeType,
      sizeBytes: Buffer.from(content, "base64").length,
      sha256: "",
    })),
    ...state.plan,
    source: undefined,
    id: crypto.randomUUID(),
    slug: `feature-${state.documents.length + 1}`,
    currentVersion: 1,
    ...body,
  };
  state.documents.push(document);
  work.add(document);
  return document;
}

/** Returns a page of the list: filters, text search, keyset pagination and total. */
function listLoops(query) {
  const limit = Number(query.get("limit") ?? 50);
  if (!(limit >= 1 && limit <= 200)) {
    return fail(400, "Invalid query parameters: limit must be from 1 to 200");
  }
  const [status, command] = ["status", "command"].map((name) =>
    (query.get(name) ?? "").split(",").filter(Boolean),
  );
  const documentId = query.get("documentId");
  const text = (query.get("text") ?? "").trim().toLowerCase();
  const mentions = ({ document, promptExcerpt, repo, branchName }) =>
    [document?.title, promptExcerpt, repo?.fullName, repo?.branch, branchName].some((value) =>
      value?.toLowerCase().includes(text),
    );
  const matching = state.loops
    .map(({ record }) => record)
    .filter(
      (record) =>
        (status.length === 0 || status.includes(record.status)) &&
        (command.length === 0 || command.includes(record.command)) &&
        (!documentId || record.documentId === documentId) &&
        mentions(record),
    )
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id));
  const after = query.get("after");
  const start = after ? matching.findIndex(({ id }) => id === after) + 1 : 0;
  // Records of a list contain no large values.
  const data = matching
    .slice(start, start + limit)
    .map((record) => ({ ...record, prompt: undefined, results: undefined, metadata: undefined }));
  const total = query.get("count") === "true" ? { total: matching.length } : {};
  return { status: 200, body: { success: true, data, ...total } };
}

const byId = (id) => state.loops.find(({ record }) => record.id === id);
const findDocument = (id) =>
  state.documents.find((document) => document.id === id || document.slug === id);
const ok = (data) => ({ status: 200, body: { success: true, data } });
const CODES = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  410: "gone",
};
const fail = (status, error, extra = {}) => ({
  status,
  body: { success: false, error, code: CODES[status] ?? "invalid_request", ...extra },
});

const shapes = { controlPlane: shapeCheck("control-plane"), gateway: shapeCheck("gateway") };

/** Replaces a response that the real program does not send by an error, so that the test which requests it fails. */
function checked(check, { method }, pathname, response) {
  const problem = check(method, pathname, response.status, response.body);
  if (problem === undefined) return response;
  console.error(problem);
  return fail(500, `The mock server has another shape than the interface description: ${problem}`);
}

const publicKeys = [];

const settings = {
  members: [
    { ...user(1, "Ada", "Okafor"), role: "org:admin", active: true },
    { ...user(2, "Ben", "Lindqvist"), role: "org:member", active: true },
    { ...user(3, "Cy", "Moreau"), role: "org:member", active: false },
  ],
  invitations: [],
  sessions: [
    session("a", true, "Mozilla/5.0 (X11; Linux x86_64) Chrome/142"),
    session("b", false, "Mozilla/5.0 (iPhone) Safari/18"),
  ],
  keys: [],
  repositories: [{ fullName: "acme/shop", branches: null, source: "machine" }],
  organization: {
    maxConcurrentLoops: 4,
    holdPullRequests: false,
    spendingLimits: { perDayUsd: 50 },
  },
};

function user(n, firstName, lastName) {
  const email = `${firstName.toLowerCase()}@example.org`;
  return {
    id: `01980000-0000-7000-9000-00000000000${n}`,
    firstName,
    lastName,
    email,
    createdAt: now(),
  };
}

function session(id, current, userAgent) {
  const at = now();
  return {
    id,
    current,
    userAgent,
    address: "127.0.0.1",
    createdAt: at,
    lastUsedAt: at,
    expiresAt: at,
  };
}

/** Removes the first matching item from a list. */
function removeFrom(list, matches) {
  const at = list.findIndex(matches);
  if (at >= 0) list.splice(at, 1);
  return ok({ deleted: at >= 0 });
}

function add(list, item) {
  const added = { id: crypto.randomUUID(), createdAt: now(), ...item };
  list.push(added);
  return added;
}

const agent = {
  id: "01980000-0000-7000-a000-000000000001",
  slug: "payments",
  name: "Payments",
  role: "payments-domain",
  description: "Knows how money moves through the shop",
  sourceRepo: "acme/shop",
  enabled: true,
  currentVersion: 2,
  prompt: "You know the payments of this shop.\n\nEvery amount is in cents.",
  createdBy: { id: user(1, "Ada", "Okafor").id, firstName: "Ada", lastName: "Okafor" },
  createdAt: now(),
  updatedAt: now(),
};
const agentVersions = [
  { id: "2", version: 2, name: "Payments", changeNote: "Cents", createdAt: now() },
  { id: "1", version: 1, name: "Payments", changeNote: "Initial version", createdAt: now() },
].map((version) => ({ ...version, changedBy: { id: "1", firstName: "Ada", lastName: "Okafor" } }));

const AUDIT = [
  ["repository_allowed", "acme/shop", { branches: null }],
  ["member_role_changed", "ben@example.org", { from: "org:admin", to: "org:member" }],
  ["sign_in", "ada@example.org", { method: "password" }],
].map(([action, subject, details], n) => ({
  id: String(n),
  at: now(),
  action,
  subject,
  details,
  userId: settings.members[0].id,
  address: "127.0.0.1",
}));

/** Returns the details of a change request, or 404. */
const changeRequest = (row) => (row ? ok(work.detail(row)) : fail(404, "Change request not found"));

let savedViews = [];

const routes = [
  ["GET", /^\/change-requests$/, (_, __, query) => ({ status: 200, body: work.list(query) })],
  ["GET", /^\/change-requests\/groups$/, (_, __, query) => ok(work.groups(query))],
  ["GET", /^\/change-requests\/views$/, () => ok(savedViews)],
  ["PUT", /^\/change-requests\/views$/, (_, { views }) => ok((savedViews = views))],
  ["GET", /^\/change-requests\/([^/]+)$/, ([slug]) => changeRequest(work.find(slug))],
  [
    "GET",
    /^\/change-requests\/([^/]+)\/history$/,
    ([slug]) => {
      const row = work.find(slug);
      return row ? ok(work.history(row)) : fail(404, "Change request not found");
    },
  ],
  [
    "DELETE",
    /^\/change-requests\/([^/]+)$/,
    ([slug]) =>
      work.remove(slug).state === "running"
        ? fail(
            409,
            "A loop of this change request (EXECUTE) is running. Stop it, then delete the change request.",
          )
        : ok({ slug, restorableUntil: new Date(Date.now() + 3_600_000).toISOString() }),
  ],
  ["POST", /^\/change-requests\/([^/]+)\/restore$/, ([slug]) => changeRequest(work.restore(slug))],
  [
    "PATCH",
    /^\/change-requests\/([^/]+)$/,
    ([slug], { archived }) =>
      changeRequest(work.update(slug, { archivedAt: archived ? now() : null })),
  ],
  [
    "PUT",
    /^\/change-requests\/([^/]+)\/mark$/,
    ([slug], { seen = false, snoozedUntil = null }) =>
      changeRequest(work.update(slug, { isUnread: !seen, snoozedUntil })),
  ],
  ["GET", /^\/change-requests\/[^/]+\/reviews$/, () => ok(reviews.view())],
  ["POST", /^\/change-requests\/[^/]+\/reviews$/, (_, body) => ok(reviews.finish(body))],
  [
    "PUT",
    /^\/change-requests\/[^/]+\/comments\/([^/]+)$/,
    ([id], body) => {
      const draft = reviews.store(id, body);
      const error = "This comment was already sent. Write another one.";
      return draft ? ok(draft) : fail(409, error, { code: "comment_sent" });
    },
  ],
  ["DELETE", /^\/change-requests\/[^/]+\/comments\/([^/]+)$/, ([id]) => ok(reviews.remove(id))],
  ["PUT", /^\/loops\/[^/]+\/findings$/, (_, body) => ok(body)],
  ["POST", /^\/loops\/([^/]+)\/resume$/, ([id], body) => ok(resume(byId(id), body?.prompt))],
  [
    "POST",
    /^\/auth\/sign-in-link$/,
    (_, body) =>
      body.token === "spent"
        ? fail(401, "Unauthorized")
        : {
            ...ok({ ...state.me, sessionKey: "mock" }),
            cookie: "session=mock; Path=/; HttpOnly; SameSite=Strict",
          },
  ],
  [
    "GET",
    /^\/agents$/,
    (_, __, query) => {
      const matches = agent.name.toLowerCase().includes((query.get("search") ?? "").toLowerCase());
      return ok({ agents: matches ? [agent] : [], total: matches ? 1 : 0 });
    },
  ],
  ["GET", /^\/agent-proposals$/, () => ok({ proposals: [] })],
  ["GET", /^\/agents\/payments$/, () => ok(agent)],
  ["GET", /^\/agents\/payments\/versions$/, () => ok({ versions: agentVersions })],
  [
    "GET",
    /^\/agents\/payments\/versions\/(\d+)$/,
    ([version]) =>
      ok({
        ...agentVersions.find((own) => own.version === Number(version)),
        prompt: "You know payments.",
      }),
  ],
  [
    "PATCH",
    /^\/agents\/payments$/,
    (_, { changeNote, ...body }) => {
      if (changeNote) {
        agent.currentVersion += 1;
        const { currentVersion: version } = agent;
        agentVersions.unshift({ ...agentVersions[0], id: String(version), version, changeNote });
      }
      return ok(Object.assign(agent, body));
    },
  ],
  [
    "GET",
    /^\/loops\/usage$/,
    () => {
      const use = {
        loopCount: 12,
        tokensInput: 4_200_000,
        tokensOutput: 310_000,
        estimatedCost: 18.4,
      };
      return ok({
        totalLoops: 12,
        totalTokensInput: 4_200_000,
        totalTokensOutput: 310_000,
        totalEstimatedCost: 18.4,
        totalCacheCreationTokens: 900_000,
        totalCacheReadTokens: 12_000_000,
        byCommand: [{ ...use, command: "EXECUTE" }],
        byUser: [{ ...use, userId: "1", userName: "Ada Okafor", userEmail: "ada@example.org" }],
        byDay: [{ ...use, day: "2026-11-27" }],
      });
    },
  ],
  ["GET", /^\/members$/, () => ok(settings.members)],
  [
    "PATCH",
    /^\/members\/([^/]+)$/,
    ([id], body) =>
      ok(
        Object.assign(
          settings.members.find((member) => member.id === id),
          body,
        ),
      ),
  ],
  [
    "POST",
    /^\/members\/([^/]+)\/password-reset$/,
    () => ok({ url: "http://127.0.0.1/reset-password?token=mock", expiresAt: now() }),
  ],
  [
    "POST",
    /^\/auth\/password-reset$/,
    (_, { token }) =>
      token === "mock"
        ? {
            ...ok({ ...state.me, sessionKey: "mock" }),
            cookie: "session=mock; Path=/; HttpOnly; SameSite=Strict",
          }
        : fail(
            410,
            "This link has expired, was replaced or has already been used. Request a new one from your administrator.",
          ),
  ],
  ["GET", /^\/invitations$/, () => ok(settings.invitations)],
  [
    "POST",
    /^\/invitations$/,
    (_, body) => {
      const url = "http://127.0.0.1/join?token=mock";
      return ok({
        ...add(settings.invitations, {
          ...body,
          createdBy: settings.members[0].id,
          expiresAt: now(),
        }),
        token: "mock",
        url,
      });
    },
  ],
  [
    "DELETE",
    /^\/invitations\/([^/]+)$/,
    ([id]) => removeFrom(settings.invitations, (own) => own.id === id),
  ],
  [
    "POST",
    /^\/invitations\/preview$/,
    (_, { token }) =>
      token === "mock"
        ? ok({
            organizationName: "Acme",
            email: "new@example.org",
            role: "org:member",
            expiresAt: now(),
          })
        : fail(
            410,
            "This invitation has expired, was revoked or has already been used. Request a new one from your administrator.",
          ),
  ],
  [
    "POST",
    /^\/invitations\/accept$/,
    () => ({
      ...ok({ ...state.me, sessionKey: "mock" }),
      cookie: "session=mock; Path=/; HttpOnly; SameSite=Strict",
    }),
  ],
  ["GET", /^\/sessions$/, () => ok(settings.sessions)],
  [
    "DELETE",
    /^\/sessions\/([^/]+)$/,
    ([id]) => removeFrom(settings.sessions, (own) => own.id === id),
  ],
  ["GET", /^\/api-keys$/, () => ok(settings.keys)],
  [
    "POST",
    /^\/api-keys$/,
    (_, body) =>
      ok({
        ...add(settings.keys, {
          ...body,
          organizationId: state.me.organization.id,
          userId: state.me.id,
          keyPrefix: "lgk_live_",
        }),
        plaintext: `lgk_live_${"0".repeat(64)}`,
      }),
  ],
  ["DELETE", /^\/api-keys\/([^/]+)$/, ([id]) => removeFrom(settings.keys, (own) => own.id === id)],
  ["GET", /^\/repositories$/, () => ok({ repositories: settings.repositories })],
  [
    "POST",
    /^\/repositories$/,
    (_, body) => ok(add(settings.repositories, { ...body, source: "list" })),
  ],
  [
    "DELETE",
    /^\/repositories\/([^/]+)\/([^/]+)$/,
    ([owner, name]) =>
      removeFrom(settings.repositories, (own) => own.fullName === `${owner}/${name}`),
  ],
  ["GET", /^\/organization\/settings$/, () => ok(settings.organization)],
  [
    "PUT",
    /^\/organization\/settings$/,
    (_, body) => ok(Object.assign(settings.organization, body)),
  ],
  ["GET", /^\/organizations$/, () => ok([{ ...state.me.organization, role: "org:admin" }])],
  [
    "GET",
    /^\/audit-log$/,
    (_, __, query) => {
      const action = query.get("action");
      return ok({ entries: AUDIT.filter((entry) => !action || entry.action === action) });
    },
  ],
  ["GET", /^\/auth\/methods$/, () => ok({ password: false })],
  [
    "POST",
    /^\/auth\/sign-in$/,
    (_, body) =>
      body.password === "wrong"
        ? fail(
            401,
            "Wrong e-mail address or password. After ten failed attempts, sign-in is blocked for 15 minutes.",
          )
        : {
            ...ok({ ...state.me, sessionKey: "mock" }),
            cookie: "session=mock; Path=/; HttpOnly; SameSite=Strict",
          },
  ],
  ["GET", /^\/public-keys$/, () => ok(publicKeys)],
  [
    "POST",
    /^\/public-keys$/,
    (_, body) => {
      const { id: userId, firstName, lastName, email, organization } = state.me;
      const key = {
        id: crypto.randomUUID(),
        createdAt: now(),
        userId,
        organizationId: organization.id,
        ownerName: `${firstName} ${lastName}`,
        ownerEmail: email,
        ...body,
      };
      publicKeys.push(key);
      return ok(key);
    },
  ],
  [
    "DELETE",
    /^\/public-keys$/,
    (_, __, query) => {
      const at = publicKeys.findIndex((key) => key.fingerprint === query.get("fingerprint"));
      if (at >= 0) publicKeys.splice(at, 1);
      return ok({ deleted: at >= 0 });
    },
  ],
  [
    "POST",
    /^\/auth\/sign-out$/,
    () => ({
      ...ok({ signedOut: true }),
      cookie: "session=; Path=/; Max-Age=0",
    }),
  ],
  ["GET", /^\/me$/, () => ok(state.me)],
  ["GET", /^\/feature-flags$/, () => ok({ flags })],
  [
    "PUT",
    /^\/feature-flags\/([^/]+)$/,
    ([key], body) => {
      flags[key] = body.enabled;
      return ok({ flags });
    },
  ],
  ["GET", /^\/compute-targets$/, () => ok(state.targets)],
  ["GET", /^\/compute-targets\/[^/]+\/health-check$/, () => ok(null)],
  [
    "POST",
    /^\/compute-targets\/[^/]+\/commands$/,
    () => fail(403, "The owner of the machine does not allow commands."),
  ],
  [
    "POST",
    /^\/desktop\/onboarding-attempt$/,
    () => ({
      status: 200,
      body: { onboardingAttemptId: "mock-attempt", expiresAt: new Date(Date.now() + 3_600_000) },
    }),
  ],
  [
    "POST",
    /^\/compute-targets\/local-auth\/challenge$/,
    () => ok({ challengeToken: "mock", expiresAt: now() }),
  ],
  ["GET", /^\/loops$/, (_, __, query) => listLoops(query)],
  // The runner of a loop sends its events here.
  [
    "POST",
    /^\/loops\/([^/]+)\/events$/,
    ([id], event) => {
      emit(byId(id), event);
      return ok({ received: true });
    },
  ],
  ["GET", /^\/loops\/([^/]+)\/events$/, ([id], _, query) => ok(readEvents(byId(id).events, query))],
  [
    "GET",
    /^\/loops\/([^/]+)\/events\/(\d+)$/,
    ([id, sequence]) => {
      const event = byId(id)?.events[sequence - 1];
      return event ? ok(event) : fail(404, "Event not found");
    },
  ],
  [
    "GET",
    /^\/loops\/([^/]+)$/,
    ([id]) => (byId(id) ? ok(byId(id).record) : fail(404, "Loop not found")),
  ],
  [
    "POST",
    /^\/loops\/([^/]+)\/cancel$/,
    ([id]) => {
      const loop = byId(id);
      Object.assign(loop.record, { status: "CANCELLED", completedAt: now() });
      emit(loop, { type: "cancelled", reason: "Cancelled by user" });
      return ok(loop.record);
    },
  ],
  [
    "POST",
    /^\/loops\/([^/]+)\/messages$/,
    ([id], { text }) => {
      const loop = byId(id);
      if (loop.record.status !== "RUNNING") return fail(409, "The loop has ended.");
      const messageId = crypto.randomUUID();
      const { userId, user } = loop.record;
      const userName = [user.firstName, user.lastName].filter(Boolean).join(" ");
      emit(loop, { type: "message", messageId, text, userId, userName });
      return ok({ messageId, sentAt: now() });
    },
  ],
  ["GET", /^\/tickets$/, () => ok(state.tickets)],
  ["POST", /^\/documents$/, (_, body) => ok(detail(createDocument(body)))],
  [
    "POST",
    /^\/documents\/run-loop$/,
    (_, { document, run }) => ok(startLoop(createDocument(document), run.command, run.repo)),
  ],
  [
    "GET",
    /^\/documents\/([^/]+)$/,
    ([id]) => (findDocument(id) ? ok(detail(findDocument(id))) : fail(404, "Document not found")),
  ],
  [
    "GET",
    /^\/documents\/([^/]+)\/versions\/(\d+)$/,
    ([id, version]) => {
      const { content, currentVersion, history = [] } = findDocument(id);
      const stored = history.find((own) => own.version === Number(version));
      if (stored) return ok({ ...stored, raw: null });
      const isCurrent = Number(version) === currentVersion;
      return ok({
        version: Number(version),
        content: isCurrent ? content : "# An earlier draft\n\nShort.",
        raw: null,
        loopId: null,
        createdAt: now(),
      });
    },
  ],
  [
    "POST",
    /^\/documents\/([^/]+)\/versions$/,
    ([id], { content, version }) =>
      ifCurrent(findDocument(id), version, () => ok(detail(addVersion(findDocument(id), content)))),
  ],
  [
    "POST",
    /^\/documents\/([^/]+)\/run-loop$/,
    ([id], { command, version, repo, prompt, review }) =>
      ifCurrent(findDocument(id), version, () => {
        const started = startLoop(findDocument(id), command, repo, prompt);
        if (review) reviews.finish(review, started.loopId);
        return ok(started);
      }),
  ],
];

function stream(id, request, response) {
  const loop = byId(id);
  if (!loop) return void response.writeHead(404).end("Loop not found");
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  // Also without an event to replay.
  response.flushHeaders();
  const send = (event) =>
    response.write(`id: ${event.id}\ndata: ${JSON.stringify(present(listed(event)))}\n\n`);
  const last = request.headers["last-event-id"];
  const from = last ? loop.events.findIndex((event) => event.id === last) + 1 : 0;
  loop.events.slice(from).forEach(send);
  if (!["PENDING", "CLAIMED", "RUNNING"].includes(loop.record.status)) return void response.end();
  const set = streams.get(id) ?? new Set();
  streams.set(id, set.add(send));
  const keepalive = setInterval(() => response.write(": keepalive\n\n"), KEEPALIVE_MS);
  request.on("close", () => {
    clearInterval(keepalive);
    set.delete(send);
  });
}

async function readBody(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? {} : JSON.parse(text);
}

http
  .createServer(async (request, response) => {
    const url = new URL(request.url, "http://mock");
    if (url.pathname === "/health") return void response.writeHead(200).end("OK");
    const live = /^\/loops\/([^/]+)\/stream$/.exec(url.pathname);
    const open = /^\/(auth|invitations\/(preview|accept))/.test(url.pathname);
    const signedIn =
      (request.headers.cookie ?? "").includes("session=mock") &&
      request.headers["x-session-key"] === "mock";
    const changes = url.pathname === "/organization/changes";
    if ((live || changes) && !signedIn) return void response.writeHead(401).end("Unauthorized");
    if (changes) return listChanges(request, response);
    if (live) return stream(live[1], request, response);
    for (const [method, pattern, answer] of routes) {
      const match = request.method === method && pattern.exec(url.pathname);
      if (!match) continue;
      const input = await readBody(request);
      const answered =
        signedIn || open
          ? once(
              request.headers["idempotency-key"],
              // Each attempt has its own signature.
              JSON.stringify([method, url.pathname, { ...input, userIntentSignature: undefined }]),
              () => answer(match.slice(1), input, url.searchParams),
            )
          : fail(401, "Unauthorized");
      const { status, body, cookie } = checked(
        shapes.controlPlane,
        request,
        url.pathname,
        answered,
      );
      const isChange = method !== "GET" && !url.pathname.endsWith("/events");
      if (isChange && status === 200) announceChanges();
      const text = JSON.stringify(present(body));
      const tag = `W/"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`;
      const isTagged = method === "GET" && status === 200;
      const tags = isTagged && { ETag: tag, "Cache-Control": "private, no-cache" };
      if (isTagged && request.headers["if-none-match"] === tag) {
        return response.writeHead(304, tags).end();
      }
      const isCompressed = text.length > UNCOMPRESSED_BYTES;
      response.writeHead(status, {
        "Content-Type": "application/json",
        ...(isCompressed && { "Content-Encoding": "gzip" }),
        ...tags,
        ...(cookie && { "Set-Cookie": cookie }),
      });
      return response.end(isCompressed ? gzipSync(text) : text);
    }
    return sendFile(url.pathname, response, gateway.address().port);
  })
  .listen(PORT, "127.0.0.1", function () {
    console.log(`pages: http://127.0.0.1:${this.address().port}/sign-in?token=mock`);
  });

const headersFor = (request) => ({
  "Content-Type": "application/json",
  "Access-Control-Allow-Origin": request.headers.origin ?? "*",
  "Access-Control-Allow-Headers": "Content-Type,X-Desktop-Session-Token",
  "Access-Control-Allow-Methods": "GET,POST,PATCH",
  // Chromium requires this for requests from a page to a loopback address.
  "Access-Control-Allow-Private-Network": "true",
});

/** Knows the clones of the fixtures; `acme/docs` can be cloned, and nothing else exists. */
function previewRepository(query) {
  const name = query.get("repoFullName");
  const path = query.get("repo");
  const clone = state.repos.find((repo) => repo.fullName === name || repo.path === path);
  const branch = query.get("branch");
  const defaultBranch = clone?.defaultBranch ?? "main";
  const known = {
    defaultBranch,
    start: { approval: "none", model: "claude-opus-4-6" },
    ...(branch && { branchExists: [defaultBranch, "release/1"].includes(branch) }),
  };
  if (clone?.fullName) {
    return { availability: "found", fullName: clone.fullName, path: clone.path, ...known };
  }
  if (name === "acme/docs") {
    return { availability: "cloneable", fullName: name, path: "/home/ada/src/docs", ...known };
  }
  return {
    availability: "unavailable",
    ...(name && { fullName: name }),
    reason: `There is no clone of ${name ?? path}. \`gh auth status\` names the account.`,
  };
}

const gateway = http.createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://mock");
  if (request.method === "OPTIONS") {
    return void response.writeHead(204, headersFor(request)).end();
  }
  const isChanges = pathname.startsWith("/api/gateway/git/loop-changes/");
  const input = await readBody(request);
  const { searchParams: query } = new URL(request.url, "http://mock");
  const git = pathname.replace("/api/gateway/git/", "");
  const answered =
    git === "diff"
      ? versionsOf(input)
      : git === pathname
        ? deployment(pathname, query, input)
        : opened.answer(git, query, input);
  const reviewed = await review(request.method, pathname, query, input);
  if (reviewed?.events) {
    const lines = reviewed.events.map((body) => ({ status: 200, body }));
    const wrong = lines
      .map((line) => checked(shapes.gateway, request, pathname, line))
      .find(({ status }) => status !== 200);
    if (wrong) {
      response.writeHead(wrong.status, headersFor(request)).end(JSON.stringify(wrong.body));
      return;
    }
    const headers = { ...headersFor(request), "Content-Type": "application/x-ndjson" };
    return void streamEvents(response.writeHead(200, headers), reviewed.events, EVENT_PAUSE_MS);
  }
  if (reviewed) {
    const { status, body } = checked(shapes.gateway, request, pathname, reviewed);
    response.writeHead(status, headersFor(request)).end(JSON.stringify(present(body)));
    return;
  }
  if (answered) {
    const { status, body } = checked(shapes.gateway, request, pathname, answered);
    response.writeHead(status, headersFor(request)).end(JSON.stringify(present(body)));
    return;
  }
  const answers = {
    "/api/gateway/git/repository": previewRepository(query),
    "/api/gateway/files/search": {
      files: ["package.json", "src/cli.js", "src/théme.css", "test/cli.test.js"].filter((path) =>
        path.includes(query.get("query") ?? ""),
      ),
      truncated: false,
    },
    "/health": {
      status: "ok",
      machineName: "studio-7",
      gatewayId: state.targets[0].gatewayId,
      capabilities: state.capabilities,
      onboardingCompleted: true,
      version: "0.0.0",
      port: gateway.address().port,
    },
    "/gateway-auth/exchange": {
      sessionToken: "mock",
      expiresAt: new Date(Date.now() + 600_000).toISOString(),
    },
    "/api/gateway/repos": { repos: state.repos, settings: {} },
    "/api/gateway/learnings": learned.list(),
    ...(pathname === "/api/gateway/learnings/decision" && { [pathname]: learned.decide(input) }),
    "/api/gateway/health-check": {
      checks: state.checks,
      allRequiredPassed: true,
      mcpServers: state.mcpServers,
    },
    "/api/gateway/approvals": {
      waiting: process.env.APPROVALS === "0" ? [] : state.waiting(),
      command: "loopgate approvals",
    },
    "/api/gateway/git/branches": { defaultBranch: "main", worktrees: [], branches: state.branches },
    "/api/gateway/orchestrator/kill": { success: true, message: "Process terminated" },
    "/api/gateway/git/pr/review": { success: true, onLines: true },
    "/api/gateway/git/pr/inline-comment": { success: true, output: "", placement: "line" },
    ...(isChanges && {
      [pathname]: request.method === "GET" ? changed.list : changed.patches(input),
    }),
  };
  const { status, body } = checked(shapes.gateway, request, pathname, {
    status: 200,
    body: answers[pathname] ?? {},
  });
  response.writeHead(status, headersFor(request)).end(JSON.stringify(present(body)));
});

// On a free port, which the mock desktop reports: parallel mocks must not share the default ports.
gateway.listen(0, "127.0.0.1", () => {
  state.targets[0].capabilities = { gatewayPort: gateway.address().port };
});
