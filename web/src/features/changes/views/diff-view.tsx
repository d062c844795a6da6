/**
 * The diff of all files, in one scrollable region. A separate chunk: the viewer renders only the lines near the visible
 * part, and highlights them in workers.
 */
import type { PostRenderPhase, SelectedLineRange } from "@pierre/diffs";
import { CodeView, WorkerPoolContextProvider } from "@pierre/diffs/react";
import DiffWorker from "@pierre/diffs/worker/worker.js?worker";
import {
  type ReactNode,
  type Ref,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import { useTheme } from "@/ui/theme";

import type { LineRange } from "../model/comments";
import { type DiffFile, type LineNote, SIDES } from "../model/diff-file";
import { type DiffHandle, DiffItems } from "../model/diff-items";
import { NoteCards } from "../model/note-cards";
import type { DiffPlace } from "../model/use-diff-scroll";
import { NotePlace, NotePortals } from "./note-portals";

export interface DiffViewProps {
  files: DiffFile[];
  isSplit: boolean;
  selected: ({ path: string } & LineRange) | undefined;
  handle: Ref<DiffHandle>;
  renderHeader: (path: string) => ReactNode;
  renderNote: (note: LineNote, path: string) => ReactNode;
  /** Undefined for changes that cannot be commented. */
  onComment: ((path: string, lines: LineRange) => void) | undefined;
  /** Called when the person selects lines by their numbers. */
  onLine: (path: string, lines: LineRange) => void;
  /** Called when the viewer has rendered a file. Always the same function. */
  onRendered: (path: string) => void;
  /** Called when the height of the diff has changed. Always the same function. */
  onResized: () => void;
  /** Called when the person types in a card that is not displayed. */
  onHiddenInput: (place: DiffPlace) => void;
}

const THEMES = { light: "github-light-high-contrast", dark: "github-dark-high-contrast" };
const POOL = { workerFactory: () => new DiffWorker(), poolSize: 2 };
const HIGHLIGHTER = { theme: THEMES, langs: [] };

export function DiffView({
  files,
  isSplit,
  selected,
  handle,
  renderHeader,
  renderNote,
  onComment,
  onLine,
  onRendered,
  onResized,
  onHiddenInput,
}: DiffViewProps) {
  const themeType = useTheme();
  const [known] = useState(() => new DiffItems());
  const [cards] = useState(() => new NoteCards());
  const items = useMemo(() => known.update(files), [known, files]);
  const region = useRef<HTMLDivElement>(null);
  const setRegion = useCallback(
    (element: HTMLDivElement | null) => {
      region.current = element;
      cards.region(element);
    },
    [cards],
  );
  useEffect(() => {
    // The viewer appends one element that is as high as all files.
    const content = region.current?.lastElementChild;
    if (!content) return;
    const observer = new ResizeObserver(onResized);
    observer.observe(content);
    return () => observer.disconnect();
  }, [onResized]);
  const hasLines = items.some(
    ({ id, fileDiff }) => id === selected?.path && fileDiff.hunks.length > 0,
  );
  // A commit later than the lines: the viewer selects before it renders, and fails without the lines.
  const isSelectable = useDeferredValue(hasLines, false) && hasLines;
  // Not among the options: the viewer renders all items again when its options change.
  const comment = useRef(onComment);
  useEffect(() => {
    comment.current = onComment;
  });
  const canComment = onComment !== undefined;
  const options = useMemo(
    () => ({
      theme: THEMES,
      themeType,
      // Signs, which are also visible in forced colours.
      diffIndicators: "classic" as const,
      diffStyle: isSplit ? ("split" as const) : ("unified" as const),
      stickyHeaders: true,
      // The viewer scrolls when lines arrive, and a press is lost if its button ignores the pointer at that time.
      pointerEventsOnScroll: true,
      enableLineSelection: true,
      enableGutterUtility: canComment,
      hunkSeparators: "simple" as const,
      onGutterUtilityClick: (range: SelectedLineRange, { item }: { item: { id: string } }) =>
        comment.current?.(item.id, linesOf(range)),
      onLineEnter: ({ numberElement }: { numberElement: HTMLElement }) =>
        nameCommentButton(numberElement),
      onPostRender: (
        file: HTMLElement,
        _: unknown,
        phase: PostRenderPhase,
        { item }: { item: { id: string } },
      ) => {
        if (file.shadowRoot) nameCommentButton(file.shadowRoot);
        cards.onRendered(file, phase === "unmount");
        if (phase !== "unmount") onRendered(item.id);
      },
    }),
    [themeType, isSplit, canComment, onRendered, cards],
  );
  return (
    <WorkerPoolContextProvider poolOptions={POOL} highlighterOptions={HIGHLIGHTER}>
      <CodeView
        ref={handle}
        containerRef={setRegion}
        items={items}
        options={options}
        selectedLines={
          selected && isSelectable
            ? {
                id: selected.path,
                range: {
                  start: selected.from,
                  end: selected.to,
                  side: SIDES[selected.side],
                },
              }
            : null
        }
        onSelectedLinesChange={(selection) => {
          if (selection) onLine(selection.id, linesOf(selection.range));
        }}
        renderCustomHeader={(item) => renderHeader(item.id)}
        renderAnnotation={(...[{ metadata }]) => <NotePlace cards={cards} id={metadata.card} />}
        className="h-full overflow-auto rounded-md border border-line bg-surface"
      />
      <NotePortals cards={cards} files={files} renderNote={renderNote} onInput={onHiddenInput} />
    </WorkerPoolContextProvider>
  );
}

/** Names the button at the line under the pointer, or at the selected lines: the viewer creates it with an icon only. */
const nameCommentButton = (parent: ParentNode) =>
  parent
    .querySelector("[data-utility-button]")
    ?.setAttribute("aria-label", "Comment on these lines");

/** Lines that the person selected, in either direction. */
const linesOf = ({ start, end, side }: SelectedLineRange): LineRange => ({
  side: side === SIDES.old ? "old" : "new",
  from: Math.min(start, end),
  to: Math.max(start, end),
});
