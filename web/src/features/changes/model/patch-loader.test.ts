import { expect, test, vi } from "vitest";

import type { LoopPatches } from "@/api/types";

import { PatchLoader } from "./patch-loader";

const file = (path: string, lines = 1) => ({ key: `key of ${path}`, path, lines });

const answer = (paths: string[], remaining: string[] = []): LoopPatches => ({
  patches: paths.map((path) => ({ path, patch: `patch of ${path}` })),
  remaining,
});

/** Loader whose requests are recorded and answered one by one. */
function stubbed() {
  const requests: string[][] = [];
  const answers: ((result: LoopPatches | Error) => void)[] = [];
  const loader = new PatchLoader((paths) => {
    requests.push(paths);
    return new Promise((resolve, reject) =>
      answers.push((result) => (result instanceof Error ? reject(result) : resolve(result))),
    );
  });
  return { loader, requests, answers };
}

test("files of one render share a request, and later ones wait for it", async () => {
  const { loader, requests, answers } = stubbed();
  loader.want(file("a"));
  loader.want({ ...file("b"), oldPath: "old-b" });
  loader.want(file("a"));
  await vi.waitFor(() => expect(requests).toEqual([["a", "b", "old-b"]]));
  loader.want(file("c"));
  expect(requests).toHaveLength(1);
  answers[0]?.(answer(["a", "b"]));
  await vi.waitFor(() => expect(requests).toEqual([["a", "b", "old-b"], ["c"]]));
  expect(loader.snapshot().get("key of b")).toEqual({ patch: "patch of b" });
});

test("large patches are requested separately", async () => {
  const { loader, requests, answers } = stubbed();
  for (const path of ["a", "b", "c"]) loader.want(file(path, 1_500));
  await vi.waitFor(() => expect(requests).toEqual([["a"]]));
  answers[0]?.(answer(["a"]));
  await vi.waitFor(() => expect(requests).toEqual([["a"], ["b"]]));
});

test("remaining files are requested again", async () => {
  const { loader, requests, answers } = stubbed();
  loader.want(file("a"));
  loader.want(file("b"));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(answer(["a"], ["b"]));
  await vi.waitFor(() => expect(requests).toEqual([["a", "b"], ["b"]]));
});

test("failed request can be repeated", async () => {
  const { loader, requests, answers } = stubbed();
  const listener = vi.fn();
  loader.subscribe(listener);
  loader.want(file("a"));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(new Error("offline"));
  await vi.waitFor(() =>
    expect(loader.snapshot().get("key of a")).toEqual({ error: new Error("offline") }),
  );
  expect(listener).toHaveBeenCalled();
  loader.retry(file("a"));
  await vi.waitFor(() => expect(requests).toEqual([["a"], ["a"]]));
});

test("file that no longer differs has an empty patch", async () => {
  const { loader, requests, answers } = stubbed();
  loader.want(file("a"));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(answer([]));
  await vi.waitFor(() => expect(loader.snapshot().get("key of a")).toEqual({ patch: "" }));
});

test("patch of another content is requested again", async () => {
  const { loader, requests, answers } = stubbed();
  loader.want(file("a"));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(answer(["a"]));
  await vi.waitFor(() => expect(loader.snapshot().size).toBe(1));
  loader.want({ ...file("a"), key: "other" });
  await vi.waitFor(() => expect(requests).toEqual([["a"], ["a"]]));
});
