/** A rendered plan, with actions that comment on its passages. */
import { MessageSquarePlus } from "lucide-react";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

import { Markdown } from "@/markdown/markdown";
import { Button } from "@/ui/button";

import type { PlanComment } from "../model/change-request";
import { highlight } from "../model/highlights";
import { anchorOf, type PassageAnchor, rangesOf } from "../model/text-anchor";
import { PassageActions } from "./passage-actions";

export function PlanText({
  article,
  text,
  changedLines,
  comments,
  onComment,
  onMissing,
}: {
  article: RefObject<HTMLElement | null>;
  text: string;
  changedLines: ReadonlySet<number>;
  comments: PlanComment[];
  /** Absent for a text that takes no comments. */
  onComment?: ((anchor: PassageAnchor) => void) | undefined;
  /** Called with the ids of comments on passages that the text does not contain. */
  onMissing: (ids: string[]) => void;
}) {
  useCommentHighlights(article, comments, onMissing);
  const latest = useRef(onComment);
  useEffect(() => {
    latest.current = onComment;
  });
  // Always the same function: the many buttons are not rendered again for each character of a comment.
  const commentOn = useCallback(
    (range: Range) => {
      const anchor = article.current && anchorOf(article.current, range);
      if (anchor) latest.current?.(anchor);
    },
    [article],
  );
  return (
    <div className="relative">
      <article
        ref={article}
        aria-label="Plan"
        dir="auto"
        className="px-9 py-6 max-sm:pr-4 max-sm:pl-7"
      >
        {text.trim() === "" ? (
          <p className="text-ink-3">This plan is empty.</p>
        ) : (
          <Markdown text={text} changedLines={changedLines} />
        )}
      </article>
      {onComment && (
        <>
          <SelectionToolbar article={article} onComment={commentOn} />
          <PassageActions article={article} onComment={commentOn} />
        </>
      )}
    </div>
  );
}

/** Highlights the passages with comments, also after parts of the text were rendered again. */
function useCommentHighlights(
  article: RefObject<HTMLElement | null>,
  comments: PlanComment[],
  onMissing: (ids: string[]) => void,
) {
  // A text, so that the passages are not searched for again while a comment is typed.
  const anchors = JSON.stringify(
    comments.flatMap(({ id, anchor }) => (anchor ? { id, anchor } : [])),
  );
  useEffect(() => {
    const root = article.current;
    if (!root) return;
    const anchored = JSON.parse(anchors) as { id: string; anchor: PassageAnchor }[];
    const update = () => {
      const ranges = rangesOf(
        root,
        anchored.map(({ anchor }) => anchor),
      );
      highlight(
        "plan-comments",
        ranges.filter((range) => range !== undefined),
      );
      onMissing(anchored.flatMap(({ id }, at) => (ranges[at] ? [] : id)));
    };
    const frame = requestAnimationFrame(update);
    const observer = new MutationObserver(update);
    observer.observe(root, { childList: true, characterData: true, subtree: true });
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      highlight("plan-comments", []);
    };
  }, [article, anchors, onMissing]);
}

/** A button below the selected passage. */
function SelectionToolbar({
  article,
  onComment,
}: {
  article: RefObject<HTMLElement | null>;
  onComment: (range: Range) => void;
}) {
  const selected = useSelectedPassage(article);
  if (!selected) return null;
  const { range, left, top } = selected;
  return (
    <div
      role="toolbar"
      aria-label="Selected passage"
      style={{ left, top }}
      className="absolute z-10 animate-rise rounded-md bg-raised shadow-raised"
    >
      <Button
        size="sm"
        // Keeps the selection, which a press on the button would clear.
        onPointerDown={(event) => event.preventDefault()}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          onComment(range);
          document.getSelection()?.removeAllRanges();
        }}
      >
        <MessageSquarePlus aria-hidden />
        Comment
      </Button>
    </div>
  );
}

interface SelectedPassage {
  range: Range;
  /** Place for a toolbar, relative to the parent of the article. */
  left: number;
  top: number;
}

// Width of the toolbar and its distance from the passage.
const TOOLBAR_WIDTH_PX = 130;
const TOOLBAR_GAP_PX = 8;

/** Returns what is selected in the article, once no pointer is pressed. */
function useSelectedPassage(article: RefObject<HTMLElement | null>): SelectedPassage | undefined {
  const [selected, setSelected] = useState<SelectedPassage>();
  useEffect(() => {
    let isPressed = false;
    const update = () => {
      if (!isPressed) setSelected(article.current ? passageIn(article.current) : undefined);
    };
    const press = () => {
      isPressed = true;
    };
    const release = () => {
      isPressed = false;
      update();
    };
    const abort = new AbortController();
    const { signal } = abort;
    document.addEventListener("selectionchange", update, { signal });
    document.addEventListener("pointerdown", press, { signal });
    // A long press that selects a word ends with `pointercancel`.
    document.addEventListener("pointerup", release, { signal });
    document.addEventListener("pointercancel", release, { signal });
    return () => abort.abort();
  }, [article]);
  return selected;
}

function passageIn(article: HTMLElement): SelectedPassage | undefined {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  if (!article.contains(range.commonAncestorContainer) || !anchorOf(article, range))
    return undefined;
  const box = range.getBoundingClientRect();
  const frame = article.getBoundingClientRect();
  const left = Math.min(Math.max(0, box.left - frame.left), frame.width - TOOLBAR_WIDTH_PX);
  return { range, left, top: box.bottom - frame.top + TOOLBAR_GAP_PX };
}
