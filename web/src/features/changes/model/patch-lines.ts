import type { Side } from "./comments";

/** The lines of a patch with their numbers, on each side. */
export type SideLines = Record<Side, Map<number, string>>;

interface PatchLine {
  text: string;
  /** Numbers of the line; a changed line is on one side only. */
  at: Partial<Record<Side, number>>;
}

/** Returns the lines of a unified patch. */
export function sideLines(patch: string): SideLines {
  const lines: SideLines = { old: new Map(), new: new Map() };
  for (const { text, at } of patchLines(patch)) {
    if (at.old !== undefined) lines.old.set(at.old, text);
    if (at.new !== undefined) lines.new.set(at.new, text);
  }
  return lines;
}

/** Returns the first added line of a patch; if nothing is added, the first removed line. */
export function firstChange(patch: string): { side: Side; line: number } | undefined {
  const changed = patchLines(patch).filter(({ at: { old, new: added } }) => !old || !added);
  for (const side of ["new", "old"] as const) {
    const line = changed.find(({ at }) => at[side])?.at[side];
    if (line !== undefined) return { side, line };
  }
  return undefined;
}

function patchLines(patch: string): PatchLine[] {
  const lines: PatchLine[] = [];
  const next = { old: 0, new: 0 };
  // Lines before the first hunk belong to the header.
  let inHunk = false;
  for (const line of patch.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const text = line.slice(1);
    if (hunk) {
      inHunk = true;
      next.old = Number(hunk[1]);
      next.new = Number(hunk[2]);
    } else if (line.startsWith("diff --git ")) inHunk = false;
    else if (!inHunk) continue;
    else if (line.startsWith("-")) lines.push({ text, at: { old: next.old++ } });
    else if (line.startsWith("+")) lines.push({ text, at: { new: next.new++ } });
    else if (line.startsWith(" ")) lines.push({ text, at: { old: next.old++, new: next.new++ } });
  }
  return lines;
}
