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
  expect(loader.snapshot().get("b")).toEqual({ key: "key of b", patch: "patch of b" });
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
    expect(loader.snapshot().get("a")).toEqual({ key: "key of a", error: new Error("offline") }),
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
  await vi.waitFor(() =>
    expect(loader.snapshot().get("a")).toEqual({ key: "key of a", patch: "" }),
  );
});

test("patch of an earlier content is kept until that of the next one is loaded", async () => {
  const { loader, requests, answers } = stubbed();
  const [first, second] = [file("a"), { ...file("a"), key: "other" }];
  loader.want(first);
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(answer(["a"]));
  const earlier = { key: first.key, patch: "patch of a" };
  await vi.waitFor(() => expect(loader.snapshot().get("a")).toEqual(earlier));
  loader.want(second);
  await vi.waitFor(() => expect(requests).toEqual([["a"], ["a"]]));
  expect(loader.snapshot().get("a")).toEqual(earlier);
  answers[1]?.(answer([]));
  await vi.waitFor(() => expect(loader.snapshot().get("a")).toEqual({ key: "other", patch: "" }));
  // The file has its first content again.
  loader.want(first);
  await vi.waitFor(() => expect(requests).toHaveLength(3));
});

test("failed request for a content that has changed again does not replace its patch", async () => {
  const { loader, requests, answers } = stubbed();
  loader.want(file("a"));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  answers[0]?.(answer(["a"]));
  await vi.waitFor(() => expect(loader.snapshot().size).toBe(1));
  loader.want({ ...file("a"), key: "second" });
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  loader.want({ ...file("a"), key: "third" });
  answers[1]?.(new Error("offline"));
  await vi.waitFor(() => expect(requests).toHaveLength(3));
  expect(loader.snapshot().get("a")).toEqual({ key: "key of a", patch: "patch of a" });
});
