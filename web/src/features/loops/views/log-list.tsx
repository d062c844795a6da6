/** Virtualized list of the items of a log. Follows the end until the reader scrolls up. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";

import { exact } from "@/model/format";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";

import type { LogItem } from "../model/log-items";
import { LogRow, type RowContext } from "./log-row";

// In pixels; `min-h-6` of a row that opens, so that rows do not overlap before they are measured.
const ROW_HEIGHT = 24;
// Following continues within this distance from the end: fractional scroll positions rarely reach it exactly.
const END_SLACK_PX = 24;
// Distance from the start or end of the list at which further items are requested.
const LOAD_PX = 800;

interface LogListProps {
  items: readonly LogItem[];
  label: string;
  context: RowContext;
  /** Shown in place of an empty list. */
  empty: ReactNode;
  /** Whether new items can be appended. */
  active: boolean;
  /** Whether the list ends with the end of the log. */
  isComplete: boolean;
  /** Position of an event to scroll to. */
  focus?: number | undefined;
  paused: boolean;
  onPause: (paused: boolean) => void;
  onStart: () => void;
  onEnd: () => void;
}

export function LogList(props: LogListProps) {
  const { items, label, context, empty, active, isComplete, focus, paused, onPause } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  // Key of the last item when the reader left the end.
  const [leftAt, setLeftAt] = useState<string>();
  // The virtualizer mutates its measurements, which the React compiler's memoisation would not see.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
    getItemKey: (index) => items[index]?.key ?? index,
    // Keeps the items in view in place when others are added, dropped or measured above them.
    anchorTo: "end",
  });

  // Also when items are measured: the end is at its place only after all visible items were.
  const size = virtualizer.getTotalSize();
  useEffect(() => {
    if (!paused) virtualizer.scrollToEnd();
  }, [paused, size, virtualizer]);

  // The events around it are loaded after the list is displayed.
  const focused = indexOf(items, focus);
  const hasFocus = focused !== undefined;
  useEffect(() => {
    if (hasFocus) virtualizer.scrollToIndex(focused, { align: "center" });
    // Once: further items must not scroll the list again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [focus, hasFocus, virtualizer]);

  const pause = (next: boolean) => {
    setLeftAt(next ? items.at(-1)?.key : undefined);
    onPause(next);
  };
  const onScroll = () => {
    const view = scroller.current;
    if (!view) return;
    // The view also scrolls down by itself, to the end of the list.
    const isUp = view.scrollTop < lastTop.current;
    lastTop.current = view.scrollTop;
    const belowView = view.scrollHeight - view.scrollTop - view.clientHeight;
    const isAtEnd = belowView < END_SLACK_PX;
    if (paused ? isAtEnd && isComplete : isUp && !isAtEnd) pause(!paused);
    // Not before the view has reached the end.
    if ((paused || isUp) && view.scrollTop < LOAD_PX) props.onStart();
    if (belowView < LOAD_PX) props.onEnd();
  };

  return (
    <>
      <div
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-label={label}
        aria-live="off"
        // A scrollable region must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="h-[min(60dvh,38rem)] overflow-auto overscroll-contain py-2 font-mono text-xs leading-5 [overflow-anchor:none]"
      >
        {items.length === 0 && (
          <div className="px-3.5 py-1 font-sans text-sm text-ink-3">{empty}</div>
        )}
        <div className="relative w-full" style={{ height: size }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const item = items[index];
            return (
              item && (
                <div
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  data-focus={index === focused || undefined}
                  className={cx(
                    "absolute top-0 left-0 w-full",
                    index === focused && "bg-accent-soft",
                  )}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <LogRow item={item} context={context} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {paused && items.length > 0 && (
        <Button
          variant="plain"
          size="sm"
          className="absolute right-4 bottom-4 shadow-raised"
          onClick={() => pause(false)}
        >
          <ArrowDown aria-hidden />
          {active ? followLabel(itemsAfter(items, leftAt)) : "Scroll to end"}
        </Button>
      )}
    </>
  );
}

/** Returns the index of the item with an event; `undefined` if the event is not among the items. */
function indexOf(items: readonly LogItem[], sequence: number | undefined): number | undefined {
  const [first, last] = [items[0], items.at(-1)];
  if (sequence === undefined || !first || !last) return undefined;
  if (first.sequence > sequence || last.sequence < sequence) return undefined;
  return items.findLastIndex((item) => item.sequence <= sequence);
}

function itemsAfter(items: readonly LogItem[], key: string | undefined): number {
  const at = key === undefined ? -1 : items.findLastIndex((item) => item.key === key);
  return at === -1 ? 0 : items.length - 1 - at;
}

function followLabel(newLines: number): string {
  if (newLines === 0) return "Follow";
  return `Follow · ${exact(newLines)} new ${newLines === 1 ? "line" : "lines"}`;
}
