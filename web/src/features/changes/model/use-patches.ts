import { useMemo, useSyncExternalStore } from "react";

import { useScope } from "@/api/scope";
import type { ChangedFile, PatchesRequest } from "@/api/types";

import { type PatchesLoop, readPatches } from "../queries";
import { contentKey } from "./content-key";
import { type PatchFile, PatchLoader, type PatchState } from "./patch-loader";

export interface FilePatches {
  /**
   * Returns the patch of a file: of an earlier content until that of this one is loaded, so that the lines of a file that
   * a loop changes stay visible. `undefined` before the first one.
   */
  patchOf: (file: ChangedFile) => PatchState | undefined;
  want: (file: ChangedFile) => void;
  retry: (file: ChangedFile) => void;
}

/** The patches of a comparison, as far as they were requested. */
export function usePatches(
  { id, computeTargetId = null }: PatchesLoop,
  comparison: Omit<PatchesRequest, "paths">,
): FilePatches {
  const scope = useScope();
  const key = JSON.stringify(comparison);
  const loader = useMemo(() => {
    const body = JSON.parse(key) as Omit<PatchesRequest, "paths">;
    return new PatchLoader((paths) =>
      readPatches(scope, { id, computeTargetId }, { ...body, paths }),
    );
  }, [scope, id, computeTargetId, key]);
  const patches = useSyncExternalStore(loader.subscribe, loader.snapshot);
  return useMemo(
    () => ({
      patchOf: (file) => patches.get(file.path),
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
