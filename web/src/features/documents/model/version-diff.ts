/** Compares two versions of a Markdown text, by blocks and by words. Loaded on demand, because of the diff library. */
import { diffArrays, diffWordsWithSpace } from "diff";
import type { RootContent } from "mdast";
import remarkParse from "remark-parse";
import { unified } from "unified";

import { gfmSyntax } from "@/markdown/gfm";

/** A paragraph, heading, list item, table or block of code. */
export interface Block {
  /** Number of its first line, from 1. */
  line: number;
  source: string;
}

export interface Word {
  text: string;
  kind: "same" | "added" | "removed";
}

export type BlockChange =
  | { kind: "same"; before: Block; after: Block }
  | { kind: "changed"; before: Block; after: Block; words: Word[] }
  | { kind: "added"; after: Block }
  | { kind: "removed"; before: Block };

// Blocks that share a smaller part of their words are different blocks.
const MIN_SHARED = 0.4;

const parser = unified().use(remarkParse).use(gfmSyntax);

export function blocksOf(text: string): Block[] {
  const blockOf = ({ position }: RootContent): Block => {
    const { start, end } = position ?? { start: { line: 1, offset: 0 }, end: {} };
    return { line: start.line, source: text.slice(start.offset, end.offset) };
  };
  const leaves = (node: RootContent) => (node.type === "list" ? node.children : [node]);
  return parser.parse(text).children.flatMap(leaves).map(blockOf);
}

/** Returns the blocks of both versions in order, each with how it changed. */
export function compareVersions(before: string, after: string): BlockChange[] {
  const changes: BlockChange[] = [];
  const [olds, news] = [blocksOf(before), blocksOf(after)];
  let removed: Block[] = [];
  const release = (added: Block[]) => {
    changes.push(...paired(removed, added));
    removed = [];
  };
  for (const { count, added: isAdded, removed: isRemoved } of diffArrays(
    olds.map(comparable),
    news.map(comparable),
  )) {
    if (isRemoved) removed = olds.splice(0, count);
    else if (isAdded) release(news.splice(0, count));
    else {
      release([]);
      const same = news.splice(0, count);
      olds.splice(0, count).forEach((old, at) => {
        changes.push({ kind: "same", before: old, after: same[at] ?? old });
      });
    }
  }
  release([]);
  return changes;
}

/** Returns the first lines of the blocks that the later version adds or changes. */
export function changedLines(before: string, after: string): Set<number> {
  return new Set(
    compareVersions(before, after).flatMap((change) =>
      change.kind === "added" || change.kind === "changed" ? [change.after.line] : [],
    ),
  );
}

/** Returns the source without differences that are not displayed: other line breaks, in all blocks but code. */
function comparable({ source }: Block): string {
  return /^(```|~~~)/.test(source) ? source : source.replace(/\s+/g, " ");
}

/** Pairs removed blocks with the added blocks which replace them, both in order. */
function paired(removed: Block[], added: Block[]): BlockChange[] {
  const rest = [...added];
  const changes: BlockChange[] = [];
  const add = (blocks: Block[]) =>
    blocks.forEach((after) => changes.push({ kind: "added", after }));
  for (const before of removed) {
    const at = rest.findIndex((after) => sharedPart(before.source, after.source) >= MIN_SHARED);
    if (at < 0) {
      changes.push({ kind: "removed", before });
      continue;
    }
    add(rest.splice(0, at));
    const [after = before] = rest.splice(0, 1);
    changes.push({ kind: "changed", before, after, words: words(before.source, after.source) });
  }
  add(rest);
  return changes;
}

/** Returns which part of the words of the longer text both texts have, from 0 to 1. */
function sharedPart(one: string, other: string): number {
  const [ones, others] = [one, other].map(
    (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  );
  if (!ones || !others || ones.length === 0) return 0;
  const known = new Set(others);
  const shared = ones.filter((word) => known.has(word)).length;
  return shared / Math.max(ones.length, others.length);
}

function words(before: string, after: string): Word[] {
  const words: Word[] = [];
  let [removed, added] = ["", ""];
  const release = () => {
    if (removed) words.push({ text: removed, kind: "removed" });
    if (added) words.push({ text: added, kind: "added" });
    [removed, added] = ["", ""];
  };
  for (const change of diffWordsWithSpace(before, after)) {
    const isBetween = (removed || added) && change.value.trim() === "";
    if (change.removed) removed += change.value;
    else if (change.added) added += change.value;
    // A space between changed words belongs to them.
    else if (isBetween) [removed, added] = [removed + change.value, added + change.value];
    else {
      release();
      words.push({ text: change.value, kind: "same" });
    }
  }
  release();
  return words;
}
