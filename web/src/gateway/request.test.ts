// @vitest-environment node
import { beforeEach, expect, test, vi } from "vitest";

import { queryClient } from "@/api/query-client";
import { scopeOf } from "@/api/scope";

import { GatewayError } from "./local-gateway";
import { askAboutFinding, repositories } from "./operations";
import { follow, request } from "./request";

vi.hoisted(() => vi.stubGlobal("window", { location: { origin: "http://page" } }));

const local = vi.hoisted(() => vi.fn());
const open = vi.hoisted(() => vi.fn());
const relay = vi.hoisted(() => vi.fn());
const relayEvents = vi.hoisted(() => vi.fn());
vi.mock("./this-machine", () => ({ gatewayOf: () => ({ request: local, open }) }));
vi.mock("./relay", () => ({ relay, relayEvents }));

const here = { id: "t1", machineName: "studio", gatewayId: "g1", isOnline: true };
const remote = { id: "t2", machineName: "thinkpad", gatewayId: "g2", isOnline: true };
const scope = scopeOf("acme");

const send = (machine?: string) =>
  request(scope, machine, repositories, new AbortController().signal);

const setTargets = (...targets: object[]) =>
  queryClient.setQueryData(scope.key("compute-targets"), targets);

beforeEach(() => {
  for (const mock of [local, open, relay, relayEvents]) mock.mockReset();
  queryClient.setDefaultOptions({ queries: { staleTime: Infinity } });
  setTargets(here, remote);
});

test("this machine is reached directly, and only its gateway", async () => {
  local.mockResolvedValue("direct");
  expect(await send("t1")).toEqual({ data: "direct", relayedBy: undefined });
  expect(local).toHaveBeenCalledWith(repositories, expect.anything(), "g1");
  expect(relay).not.toHaveBeenCalled();
});

test("another machine is reached by a command, and the result names it", async () => {
  local.mockRejectedValue(new GatewayError("absent", "not here"));
  relay.mockResolvedValue("relayed");
  expect(await send("t2")).toEqual({ data: "relayed", relayedBy: remote });
  expect(relay).toHaveBeenCalledWith(scope, "t2", repositories, expect.anything());
});

test("error of the machine itself is not asked for again", async () => {
  local.mockRejectedValue(new GatewayError("failed", "git failed"));
  await expect(send("t1")).rejects.toThrow("git failed");
  expect(relay).not.toHaveBeenCalled();
});

test("change whose response was lost is not sent again as a command", async () => {
  local.mockRejectedValue(new GatewayError("unknown", "may have been made"));
  await expect(send("t1")).rejects.toThrow("may have been made");
  await expect(send()).rejects.toThrow("may have been made");
  expect(relay).not.toHaveBeenCalled();
});

test("machine that is offline is named", async () => {
  local.mockRejectedValue(new GatewayError("absent", "not here"));
  setTargets(here, { ...remote, isOnline: false });
  await expect(send("t2")).rejects.toThrow("thinkpad is offline");
  setTargets(here);
  await expect(send("t2")).rejects.toThrow("no longer part of the organization");
});

test("without a machine, the first online desktop replaces this one", async () => {
  local.mockRejectedValue(new GatewayError("absent", "No gateway responded"));
  setTargets({ ...here, isOnline: false }, remote);
  relay.mockResolvedValueOnce("relayed");
  expect(await send()).toEqual({ data: "relayed", relayedBy: remote });
  // The user can start the gateway of this machine, but not change what another one allows.
  relay.mockRejectedValueOnce(new Error("commands are not allowed"));
  await expect(send()).rejects.toThrow("No gateway responded");
});

test("events of a stream come directly, else through a command", async () => {
  const chat = askAboutFinding({ repo: "/src/shop", ticket: "t" }, "f", {
    message: "Why?",
    findingContext: {},
  });
  const events = async () => {
    const received: unknown[] = [];
    for await (const event of follow(scope, "t1", chat, new AbortController().signal))
      received.push(event);
    return received;
  };
  open.mockResolvedValueOnce(new Response('{"type":"text","content":"a"}\n{"type":"done"}\n').body);
  expect(await events()).toEqual([{ type: "text", content: "a" }, { type: "done" }]);
  open.mockRejectedValueOnce(new GatewayError("absent", "not here"));
  relayEvents.mockImplementation(async function* () {
    yield await Promise.resolve({ type: "done" });
  });
  expect(await events()).toEqual([{ type: "done" }]);
  open.mockRejectedValueOnce(new GatewayError("failed", "Work directory not found"));
  await expect(events()).rejects.toThrow("Work directory not found");
});
