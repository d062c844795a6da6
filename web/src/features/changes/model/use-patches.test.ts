import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import type { ChangedFile, LoopPatches, PatchesRequest } from "@/api/types";

import { usePatches } from "./use-patches";

const { readPatches } = vi.hoisted(() => ({ readPatches: vi.fn() }));
vi.mock("../queries", () => ({ readPatches }));
vi.mock("@/api/scope", () => ({ useScope: () => "scope" }));

const FILE: ChangedFile = {
  path: "a",
  status: "modified",
  additions: 1,
  deletions: 1,
  binary: false,
  hash: "1",
};

const LOOP = { id: "loop", status: "RUNNING", computeTargetId: null };

interface Props {
  loop: typeof LOOP;
  comparison: Omit<PatchesRequest, "paths">;
}

const patch = { key: "a 1", patch: "patch of a" };

/** Renders the hook after it has loaded the patch of the file. */
async function setUp() {
  readPatches.mockResolvedValueOnce({
    patches: [{ path: "a", patch: "patch of a" }],
    remaining: [],
  } satisfies LoopPatches);
  // Later requests have no response.
  readPatches.mockReturnValue(new Promise(() => undefined));
  const initialProps: Props = { loop: LOOP, comparison: { repository: "acme/shop" } };
  const { result, rerender } = renderHook(
    ({ loop, comparison }: Props) => usePatches(loop, comparison),
    { initialProps },
  );
  act(() => result.current.want(FILE));
  await vi.waitFor(() => expect(result.current.patchOf(FILE)).toEqual(patch));
  return { result, rerender, initialProps };
}

test("patch of an earlier content is displayed until that of the next one is loaded", async () => {
  const { result } = await setUp();
  const next = { ...FILE, hash: "2" };
  act(() => result.current.want(next));
  expect(result.current.patchOf(next)).toEqual(patch);
});

test("patch is kept when the loop ends", async () => {
  const { result, rerender, initialProps } = await setUp();
  rerender({ ...initialProps, loop: { ...LOOP, status: "COMPLETED" } });
  expect(result.current.patchOf(FILE)).toEqual(patch);
});

test("patch of another comparison is not displayed", async () => {
  const { result, rerender, initialProps } = await setUp();
  rerender({ ...initialProps, comparison: { repository: "acme/shop", ignoreWhiteSpace: true } });
  expect(result.current.patchOf(FILE)).toBeUndefined();
});
