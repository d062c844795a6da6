import { beforeEach, describe, expect, test, vi } from "vitest";

import { type KnownGateway, LocalGateway } from "./local-gateway";
import {
  askAboutFinding,
  branchesOf,
  loopPatches,
  pullRequestMerge,
  pullRequestStanding,
  repositories,
} from "./operations";

interface Call {
  origin: string;
  path: string;
  body: unknown;
  session: string | null;
  signal: AbortSignal | undefined;
}

/** A machine with gateways on some ports, each of which accepts or rejects challenges. */
class Machine {
  calls: Call[] = [];
  now = 1_000_000;
  readonly gateways = new Map<number, { id: string; accepts: boolean; sessions: Set<string> }>();
  #issued = 0;
  challenges = 0;

  addGateway(port: number, id: string, accepts = true): this {
    this.gateways.set(port, { id, accepts, sessions: new Set() });
    return this;
  }

  open(known: KnownGateway[] = []): LocalGateway {
    return new LocalGateway({
      challenge: () => Promise.resolve(`challenge-${++this.challenges}`),
      knownGateways: () => Promise.resolve(known),
      ports: [19432, 19433, 19434, 19435, 50123],
      fetch: this.#fetch,
      now: () => this.now,
    });
  }

  count = (path: string) => this.calls.filter((call) => call.path === path).length;

  readonly #fetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input as string);
    const session = new Headers(init?.headers).get("X-Desktop-Session-Token");
    const body: unknown = init?.body ? JSON.parse(init.body as string) : undefined;
    const signal = init?.signal ?? undefined;
    this.calls.push({ origin: url.origin, path: url.pathname, body, session, signal });
    const gateway = this.gateways.get(Number(url.port));
    if (!gateway) return Promise.reject(new TypeError("connection refused"));
    const json = (body: unknown, status = 200) => Promise.resolve(Response.json(body, { status }));
    switch (url.pathname) {
      case "/health":
        return json({ status: "ok", gatewayId: gateway.id });
      case "/gateway-auth/exchange": {
        if (!gateway.accepts)
          return json({ error: "Challenge was not issued for this API key owner" }, 403);
        const token = `${gateway.id}-${++this.#issued}`;
        gateway.sessions.add(token);
        return json({ sessionToken: token, expiresAt: new Date(this.now + 600_000).toISOString() });
      }
      default:
        if (!session || !gateway.sessions.has(session)) return json({ error: "unauthorized" }, 401);
        if (url.pathname === "/api/gateway/git/pr/standing")
          return json({ error: "GitHub CLI not authenticated", reason: "auth" }, 401);
        if (url.pathname === "/api/gateway/git/branches") {
          const query = Object.fromEntries(url.searchParams);
          return json({ defaultBranch: "main", worktrees: [], branches: [], total: 0, query });
        }
        return json({
          repos: [{ path: `/src/${gateway.id}`, name: gateway.id, addedAt: "" }],
          settings: {},
        });
    }
  };
}

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});

const names = async (gateway: LocalGateway) =>
  (await gateway.request(repositories)).repos.map(({ name }) => name);

test("requests the branches that match a text", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  const answer = await gateway.request(branchesOf("/src/a & b", "fix/#1", 100));
  expect(answer).toMatchObject({ query: { repo: "/src/a & b", filter: "fix/#1", limit: "100" } });
});

test("sends the body of an operation", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  await gateway.request(loopPatches("l1", { repository: "acme/shop", paths: ["a.ts"] }));
  expect(machine.calls.at(-1)?.body).toEqual({ repository: "acme/shop", paths: ["a.ts"] });
});

test("gateway of another machine counts as absent", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  const request = gateway.request(repositories, undefined, "b");
  await expect(request).rejects.toMatchObject({ problem: "absent" });
  expect(machine.count("/api/gateway/repos")).toBe(0);
});

test("change without a response may have been made", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  await gateway.request(repositories);
  machine.gateways.delete(19432);
  const merge = pullRequestMerge({
    repoFullName: "acme/shop",
    prNumber: 1,
    headSha: "4b",
    method: "squash",
  });
  await expect(gateway.request(merge)).rejects.toMatchObject({ problem: "unknown" });
});

test("refusal of the code host does not end the session", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  const request = gateway.request(pullRequestStanding({ fullName: "acme/shop", number: 1 }));
  await expect(request).rejects.toMatchObject({ problem: "failed" });
  await gateway.request(repositories);
  expect(machine.count("/gateway-auth/exchange")).toBe(1);
});

test("session survives a request that the page cancels", async () => {
  const gateway = machine.addGateway(19432, "a").open();
  await gateway.request(repositories);
  machine.gateways.delete(19432);
  await expect(gateway.request(repositories, AbortSignal.abort())).rejects.toThrow();
  machine.addGateway(19432, "a").gateways.get(19432)?.sessions.add("a-1");
  await gateway.request(repositories);
  expect(machine.count("/gateway-auth/exchange")).toBe(1);
});

describe("gateway discovery", () => {
  test("uses the first port that responds", async () => {
    machine.addGateway(19433, "b").addGateway(19435, "d");
    expect(await names(machine.open())).toEqual(["b"]);
  });

  test("contacts no other gateway when the user's desktops are known", async () => {
    machine.addGateway(19432, "a").addGateway(19434, "mine");
    const gateway = machine.open([{ id: "mine" }]);
    expect(await names(gateway)).toEqual(["mine"]);
    machine.gateways.delete(19434);
    await expect(gateway.request(repositories)).rejects.toMatchObject({ problem: "absent" });
    await expect(gateway.request(repositories)).rejects.toMatchObject({ problem: "absent" });
    expect(machine.count("/gateway-auth/exchange")).toBe(1);
  });

  test("uses the port that the desktop reported", async () => {
    machine.addGateway(19432, "a").addGateway(50123, "mine");
    expect(await names(machine.open([{ id: "mine", port: 50123 }]))).toEqual(["mine"]);
    expect(machine.count("/health")).toBe(1);
  });

  test("probes the other ports when the reported port is stale", async () => {
    machine.addGateway(19433, "mine");
    expect(await names(machine.open([{ id: "mine", port: 50123 }]))).toEqual(["mine"]);
  });

  test("does not probe a reported port that the page may not connect to", async () => {
    machine.addGateway(50124, "mine");
    const gateway = machine.open([{ id: "mine", port: 50124 }]);
    await expect(gateway.request(repositories)).rejects.toMatchObject({ problem: "absent" });
    expect(machine.calls.map(({ origin }) => origin)).not.toContain("http://127.0.0.1:50124");
  });

  test("tries the next gateway with a new challenge when the first rejects it", async () => {
    machine.addGateway(19432, "a", false).addGateway(19433, "b");
    expect(await names(machine.open())).toEqual(["b"]);
    expect(machine.challenges).toBe(2);
  });

  test("reports whether no gateway responds or all reject", async () => {
    await expect(machine.open().request(repositories)).rejects.toMatchObject({ problem: "absent" });
    machine.addGateway(19432, "a", false);
    await expect(machine.open().request(repositories)).rejects.toMatchObject({
      problem: "refused",
      message: "Challenge was not issued for this API key owner",
    });
  });
});

describe("the session", () => {
  test("is shared by concurrent callers and reused", async () => {
    machine.addGateway(19432, "a");
    const gateway = machine.open();
    await Promise.all([
      gateway.request(repositories),
      gateway.request(repositories),
      gateway.request(repositories),
    ]);
    await gateway.request(repositories);
    expect(machine.count("/gateway-auth/exchange")).toBe(1);
  });

  test("is renewed 30 s before it expires", async () => {
    machine.addGateway(19432, "a");
    const gateway = machine.open();
    await gateway.request(repositories);
    machine.now += 569_000;
    await gateway.request(repositories);
    expect(machine.count("/gateway-auth/exchange")).toBe(1);
    machine.now += 2_000;
    await gateway.request(repositories);
    expect(machine.count("/gateway-auth/exchange")).toBe(2);
  });

  test("is renewed once after a 401", async () => {
    machine.addGateway(19432, "a");
    const gateway = machine.open();
    await gateway.request(repositories);
    machine.gateways.get(19432)?.sessions.clear();
    expect(await names(gateway)).toEqual(["a"]);
    expect(machine.count("/gateway-auth/exchange")).toBe(2);
  });

  test("is opened on another port after the gateway has moved", async () => {
    machine.addGateway(19432, "a");
    const gateway = machine.open();
    await gateway.request(repositories);
    machine.gateways.delete(19432);
    machine.addGateway(19433, "a");
    await expect(gateway.request(repositories)).rejects.toMatchObject({ problem: "absent" });
    expect(await names(gateway)).toEqual(["a"]);
  });
});

test("stream has no time limit after its first event", async () => {
  vi.useFakeTimers();
  const machine = new Machine().addGateway(19432, "a");
  const worktree = { repo: "/src/shop", ticket: "t" };
  const chat = askAboutFinding(worktree, "f", { message: "Why?", findingContext: {} });
  const body = await machine.open().open(chat);
  vi.advanceTimersByTime(3_600_000);
  expect(machine.calls.at(-1)).toMatchObject({ path: "/api/gateway/reviewer/finding-chat/f" });
  expect(machine.calls.at(-1)?.signal?.aborted).toBe(false);
  expect(await new Response(body).json()).toHaveProperty("repos");
  vi.useRealTimers();
});
