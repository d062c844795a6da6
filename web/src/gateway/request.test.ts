// @vitest-environment node
import { beforeEach, expect, test, vi } from "vitest";

import { queryClient } from "@/api/query-client";
import { scopeOf } from "@/api/scope";

import { GatewayError } from "./local-gateway";
import { repositories } from "./operations";
import { request } from "./request";

vi.hoisted(() => vi.stubGlobal("window", { location: { origin: "http://page" } }));

const local = vi.hoisted(() => vi.fn());
const relay = vi.hoisted(() => vi.fn());
vi.mock("./this-machine", () => ({ gatewayOf: () => ({ request: local }) }));
vi.mock("./relay", () => ({ relay }));

const here = { id: "t1", machineName: "studio", gatewayId: "g1", isOnline: true };
const remote = { id: "t2", machineName: "thinkpad", gatewayId: "g2", isOnline: true };
const scope = scopeOf("acme");

const send = (machine?: string) =>
  request(scope, machine, repositories, new AbortController().signal);

const setTargets = (...targets: object[]) =>
  queryClient.setQueryData(scope.key("compute-targets"), targets);

beforeEach(() => {
  local.mockReset();
  relay.mockReset();
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
