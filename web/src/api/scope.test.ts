import { afterEach, expect, test, vi } from "vitest";

import { scopeOf } from "./scope";

afterEach(() => void vi.unstubAllGlobals());

test("cache keys of two organizations have no common prefix", () => {
  const [organization, machine, ...members] = scopeOf("acme").key("loops", "l1");
  expect([organization, members]).toEqual(["acme", ["loops", "l1"]]);
  expect(scopeOf("globex").key("loops", "l1")).toEqual(["globex", machine, "loops", "l1"]);
});

test("requests name the organization of their scope", async () => {
  const named: (string | null)[] = [];
  vi.stubGlobal("fetch", (request: Request) => {
    named.push(request.headers.get("X-Org-Slug"));
    return Promise.resolve(Response.json({ success: true, data: {} }));
  });
  await scopeOf("acme").api.GET("/me");
  await scopeOf("globex").api.GET("/me");
  expect(named).toEqual(["acme", "globex"]);
});

test("scope of an organization is the same object for every navigation", () => {
  expect(scopeOf("acme")).toBe(scopeOf("acme"));
});
