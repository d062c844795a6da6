import { useEffect, useState } from "react";

import { loadChunk } from "@/api/load-chunk";

const NO_LINES: ReadonlySet<number> = new Set();

/** Returns the first lines of the blocks that differ from an earlier text. Empty until the comparison is loaded. */
export function useChangedLines(before: string | undefined, after: string): ReadonlySet<number> {
  const [result, setResult] = useState<{ before: string; after: string; lines: Set<number> }>();
  useEffect(() => {
    if (before === undefined) return;
    let current = true;
    loadChunk(() => import("./version-diff")).then(
      ({ changedLines }) =>
        current && setResult({ before, after, lines: changedLines(before, after) }),
      // The chunk could not be loaded: the text is shown without marks.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [before, after]);
  // Not the result for earlier texts.
  return result?.before === before && result?.after === after ? result.lines : NO_LINES;
}
