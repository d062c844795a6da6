import type { Side } from "./comments";

/** The lines of a patch with their numbers, on each side. */
export type SideLines = Record<Side, Map<number, string>>;

/** Returns the lines of a unified patch. */
export function sideLines(patch: string): SideLines {
  const lines: SideLines = { old: new Map(), new: new Map() };
  const next = { old: 0, new: 0 };
  // Lines before the first hunk belong to the header.
  let inHunk = false;
  const add = (side: Side, text: string) => lines[side].set(next[side]++, text);
  for (const line of patch.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    const text = line.slice(1);
    if (hunk) {
      inHunk = true;
      next.old = Number(hunk[1]);
      next.new = Number(hunk[2]);
    } else if (line.startsWith("diff --git ")) inHunk = false;
    else if (!inHunk) continue;
    else if (line.startsWith("-")) add("old", text);
    else if (line.startsWith("+")) add("new", text);
    else if (line.startsWith(" ")) {
      add("old", text);
      add("new", text);
    }
  }
  return lines;
}

/** Returns the first line of a patch that was added or removed. */
export function firstChange(lines: SideLines): { side: Side; line: number } | undefined {
  for (const side of ["new", "old"] as const) {
    const other = lines[side === "new" ? "old" : "new"];
    const texts = new Set(other.values());
    for (const [line, text] of lines[side]) if (!texts.has(text)) return { side, line };
  }
  return undefined;
}
