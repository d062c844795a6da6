import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { changedLists, refreshLists } from "./list-changes";
import { scopeOf } from "./scope";

test("unknown lists and malformed events are ignored", () => {
  expect(changedLists('{"lists":["loops","later-kind"]}')).toEqual(["loops"]);
  for (const data of ["", "5", "null", '{"lists":5}', "{"]) expect(changedLists(data)).toEqual([]);
});

test("change refreshes the first page and the details, not the later pages", async () => {
  const client = new QueryClient();
  const scope = scopeOf("acme");
  const fetched = vi.fn((key: string) => key);
  for (const members of [
    ["change-requests", "first-page", {}],
    ["change-requests", "one", "feature-1"],
    ["change-requests", "pages", {}],
    ["gateway", "approvals"],
    ["loops", "first-page", {}],
  ]) {
    const queryKey = scope.key(...members);
    await client.query({ queryKey, queryFn: () => fetched(JSON.stringify(members)) });
  }
  refreshLists(client, scope, ["change-requests"]);
  const isStale = (...members: unknown[]) =>
    client.getQueryState(scope.key(...members))?.isInvalidated;
  expect(isStale("change-requests", "first-page", {})).toBe(true);
  expect(isStale("change-requests", "one", "feature-1")).toBe(true);
  expect(isStale("gateway", "approvals")).toBe(true);
  expect(isStale("change-requests", "pages", {})).toBe(false);
  expect(isStale("loops", "first-page", {})).toBe(false);
});
