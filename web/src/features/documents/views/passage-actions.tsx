/** A button for each heading, paragraph and list item, which comments on it without a selection. */
import { MessageSquarePlus } from "lucide-react";
import { type KeyboardEvent, memo, type RefObject, useEffect, useRef, useState } from "react";

import { cx } from "@/ui/cx";

import { highlight } from "../model/highlights";

const PASSAGES =
  ".prose > :is(h1, h2, h3, h4, h5, h6, p, blockquote), .prose figure:not([aria-label=Diagram]), .prose li, .prose tbody tr";
const NAME_CHARS = 60;

interface Passage {
  element: Element;
  name: string;
  top: number;
}

/** Covers the left padding of the article. One tab stop; the arrow keys move between the buttons. */
export const PassageActions = memo(function PassageActions({
  article,
  onComment,
}: {
  article: RefObject<HTMLElement | null>;
  onComment: (range: Range) => void;
}) {
  const passages = usePassages(article);
  const hovered = useHoveredPassage(article);
  const [current, setCurrent] = useState(0);
  const buttons = useRef<(HTMLButtonElement | null)[]>([]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = step && buttons.current[Math.min(current, passages.length - 1) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div
      role="toolbar"
      aria-label="Comment on a passage"
      aria-orientation="vertical"
      onKeyDown={move}
    >
      {passages.map(({ element, name, top }, at) => (
        <button
          key={at}
          ref={(button) => {
            buttons.current[at] = button;
          }}
          type="button"
          tabIndex={at === Math.min(current, passages.length - 1) ? 0 : -1}
          aria-label={`Comment on “${name}”`}
          style={{ top }}
          onFocus={() => {
            setCurrent(at);
            highlight("plan-passage", [rangeOf(element)]);
          }}
          onBlur={() => highlight("plan-passage", [])}
          onClick={() => onComment(rangeOf(element))}
          className={cx(
            "absolute left-1 grid size-6 scroll-my-24 place-items-center rounded-sm text-ink-3 hover:bg-idle-soft hover:text-ink focus:opacity-100 max-sm:left-0.5",
            element !== hovered && "opacity-0 hover:opacity-100",
          )}
        >
          <MessageSquarePlus aria-hidden className="size-3.5" />
        </button>
      ))}
    </div>
  );
});

/** Returns the passages of the article with their places, also after its layout has changed. */
function usePassages(article: RefObject<HTMLElement | null>): Passage[] {
  const [passages, setPassages] = useState<Passage[]>([]);
  useEffect(() => {
    const root = article.current;
    if (!root) return;
    const update = () => setPassages(passagesIn(root));
    const resized = new ResizeObserver(update);
    resized.observe(root);
    const changed = new MutationObserver(update);
    changed.observe(root, { childList: true, characterData: true, subtree: true });
    return () => {
      resized.disconnect();
      changed.disconnect();
    };
  }, [article]);
  return passages;
}

function passagesIn(root: HTMLElement): Passage[] {
  const { top } = root.getBoundingClientRect();
  return [...root.querySelectorAll(PASSAGES)].flatMap((element) => {
    const range = rangeOf(element);
    const text = range.toString().replace(/\s+/g, " ").trim();
    if (text === "") return [];
    const name = text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS)}…` : text;
    return { element, name, top: element.getBoundingClientRect().top - top };
  });
}

/** Returns the content of a passage: of a list item without its sub-lists. */
function rangeOf(element: Element): Range {
  const range = document.createRange();
  range.selectNodeContents(element);
  const nested = element.querySelector(":scope > ul, :scope > ol");
  if (nested) range.setEndBefore(nested);
  return range;
}

function useHoveredPassage(article: RefObject<HTMLElement | null>): Element | null {
  const [hovered, setHovered] = useState<Element | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    article.current?.addEventListener(
      "pointerover",
      ({ target }) => setHovered((target as Element).closest(PASSAGES)),
      { signal },
    );
    return () => abort.abort();
  }, [article]);
  return hovered;
}
