import { useMemo, useSyncExternalStore } from "react";

import { useScope } from "@/api/scope";
import type { ChangedFile, PatchesRequest } from "@/api/types";

import { type ChangesLoop, readPatches } from "../queries";
import { contentKey } from "./content-key";
import { type PatchFile, PatchLoader, type PatchState } from "./patch-loader";

export interface FilePatches {
  /** Returns the patch of this content of a file; `undefined` before it is loaded. */
  patchOf: (file: ChangedFile) => PatchState | undefined;
  want: (file: ChangedFile) => void;
  retry: (file: ChangedFile) => void;
}

/** The patches of a comparison, as far as they were requested. */
export function usePatches(
  loop: ChangesLoop,
  comparison: Omit<PatchesRequest, "paths">,
): FilePatches {
  const scope = useScope();
  const { id, status, computeTargetId } = loop;
  const key = JSON.stringify(comparison);
  const loader = useMemo(() => {
    const body = JSON.parse(key) as Omit<PatchesRequest, "paths">;
    return new PatchLoader((paths) =>
      readPatches(
        scope,
        { id, status, computeTargetId: computeTargetId ?? null },
        { ...body, paths },
      ),
    );
  }, [scope, id, status, computeTargetId, key]);
  const patches = useSyncExternalStore(loader.subscribe, loader.snapshot);
  return useMemo(
    () => ({
      patchOf: (file) => patches.get(contentKey(file)),
      want: (file) => loader.want(patchFile(file)),
      retry: (file) => loader.retry(patchFile(file)),
    }),
    [patches, loader],
  );
}

const patchFile = (file: ChangedFile): PatchFile => ({
  key: contentKey(file),
  path: file.path,
  ...(file.oldPath && { oldPath: file.oldPath }),
  lines: file.additions + file.deletions,
});
