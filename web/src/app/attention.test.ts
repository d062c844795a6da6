import { expect, test, vi } from "vitest";

import type { Scope } from "@/api/scope";

import { type Attention, type AttentionItem, itemAfter } from "./attention";

const approval: AttentionItem = {
  id: "approval/1",
  title: "Loop start",
  request: "Waiting for your approval",
  link: { to: "/$orgSlug/approvals", params: { orgSlug: "acme" } },
};
const item = (id: string): AttentionItem => ({
  ...approval,
  id,
  position: { changedAt: `T${id}`, document: { id } },
});

/** A scope whose lists have these change requests after every position. */
function scopeWith(slugs: string[]) {
  const data = slugs.map((slug) => ({
    attention: "plan",
    changedAt: "T0",
    document: { id: slug, slug, title: slug },
  }));
  const GET = vi.fn().mockResolvedValue({ data: { data }, response: new Response() });
  return { scope: { organization: "acme", api: { GET } } as unknown as Scope, GET };
}

const attention: Attention = { items: [item("2"), item("1"), approval], count: 4, end: "T1" };

test("item after a listed one is the next", async () => {
  const { scope, GET } = scopeWith(["feature-3"]);
  expect(await itemAfter(scope, attention, 0, undefined)).toBe(attention.items[1]);
  expect(await itemAfter(scope, attention, -1, undefined)).toBe(attention.items[0]);
  expect(await itemAfter(scope, attention, 2, undefined)).toBe(attention.items[0]);
  expect(GET).not.toHaveBeenCalled();
});

test("item after the first page is requested, also from one of a later page", async () => {
  const { scope, GET } = scopeWith(["feature-3"]);
  const unlisted = { changedAt: "T0", document: { id: "0" } };
  for (const [index, displayed, beforeId] of [
    [1, undefined, "1"],
    [-1, unlisted, "0"],
  ] as const) {
    expect(await itemAfter(scope, attention, index, displayed)).toMatchObject({
      title: "feature-3",
    });
    const [, { params }] = GET.mock.lastCall as [string, { params: { query: object } }];
    expect(params.query).toMatchObject({ attention: true, mine: true, beforeId });
  }
});

test("after the last change request come the approvals, then the first again", async () => {
  const { scope } = scopeWith([]);
  expect(await itemAfter(scope, attention, 1, undefined)).toBe(approval);
  const listed = { ...attention, end: undefined };
  expect(await itemAfter(scope, listed, 1, undefined)).toBe(approval);
  expect(await itemAfter(scope, listed, 2, undefined)).toBe(listed.items[0]);
});
