/** Converts files to items of the diff viewer. */
import { type FileDiffMetadata, processFile } from "@pierre/diffs";
import type { CodeViewHandle } from "@pierre/diffs/react";

import type { ChangedFile } from "@/api/types";

import { cardId, type DiffFile, SIDES } from "./diff-file";

/** The card below a line. Not its note, so that the viewer does not render the lines again when the note changes. */
export interface Annotation {
  card: string;
}

export type DiffHandle = CodeViewHandle<Annotation, undefined>;

export interface DiffItem {
  id: string;
  type: "diff";
  fileDiff: FileDiffMetadata;
  collapsed: boolean;
  annotations: {
    side: (typeof SIDES)[keyof typeof SIDES];
    lineNumber: number;
    metadata: Annotation;
  }[];
  /** The viewer renders an item again when this number changes. */
  version: number;
}

interface KnownItem {
  source: DiffFile;
  /** Text of what changes without the patch. */
  key: string;
  item: DiffItem;
}

/** The items of a viewer. An item of an unchanged file stays the same object, and a patch is parsed once. */
export class DiffItems {
  #known = new Map<string, KnownItem>();

  update(files: readonly DiffFile[]): DiffItem[] {
    const known = files.map((source) => this.#itemOf(source));
    this.#known = new Map(known.map((entry) => [entry.item.id, entry]));
    return known.map(({ item }) => item);
  }

  #itemOf(source: DiffFile): KnownItem {
    const { file, state, isOpen, notes } = source;
    const previous = this.#known.get(file.path);
    const annotations = notes.map(({ side, line, note }) => ({
      side: SIDES[side],
      lineNumber: line,
      metadata: { card: cardId(note, file.path) },
    }));
    const key = JSON.stringify([isOpen, annotations]);
    const hasSamePatch = previous?.source.state === state;
    if (previous && hasSamePatch && previous.key === key) return previous;
    const patch = state && "patch" in state ? state.patch : "";
    const item: DiffItem = {
      id: file.path,
      type: "diff",
      fileDiff: previous && hasSamePatch ? previous.item.fileDiff : parsed(file, state?.key, patch),
      // An empty item would be as high as its estimated lines.
      collapsed: !isOpen || (patch === "" && notes.length === 0),
      annotations,
      version: (previous?.item.version ?? 0) + 1,
    };
    return { source, key, item };
  }
}

const NO_LINES: Omit<FileDiffMetadata, "name"> = {
  type: "change",
  hunks: [],
  splitLineCount: 0,
  unifiedLineCount: 0,
  isPartial: true,
  deletionLines: [],
  additionLines: [],
  deletionCharacterCount: 0,
  additionCharacterCount: 0,
};

/** `key` names the content of the patch: that of the file may be a later one. */
function parsed({ path }: ChangedFile, key = path, patch: string): FileDiffMetadata {
  // Of a file whose type changed, the part with its new content.
  const section = patch.slice(patch.lastIndexOf("\ndiff --git ") + 1);
  const diff = section === "" ? undefined : processFile(section, { isGitDiff: true });
  return { ...(diff ?? NO_LINES), name: path, cacheKey: `${key} ${patch.length}` };
}
