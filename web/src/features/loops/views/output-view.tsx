/** Live output of a loop. Follows the end until the user scrolls up. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, Pause } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useConnection } from "@/api/connection";
import { exact } from "@/model/format";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { ProgressDot } from "@/ui/status-badge";

import type { StreamState } from "../model/loop-stream";
import type { LineKind, LineSnapshot, OutputLine } from "../model/output-lines";

// In pixels; `leading-5` below.
const LINE_HEIGHT = 20;
// Following continues within this distance from the end: fractional scroll positions rarely reach it exactly.
const END_SLACK_PX = 24;

const KIND_CLASS: Record<LineKind, string> = {
  text: "text-ink",
  tool: "text-accent",
  result: "text-ink-3",
  note: "text-ink-3 italic",
  error: "text-bad",
};

export function OutputView({
  output,
  state,
  active,
}: {
  output: LineSnapshot;
  state: StreamState;
  active: boolean;
}) {
  const { lines, dropped, total } = output;
  const scroller = useRef<HTMLDivElement>(null);
  // Number of lines when the reader left the end; undefined while the view follows it.
  const [leftAt, setLeftAt] = useState<number>();
  const following = leftAt === undefined;
  // The virtualizer mutates its measurements, which the React compiler's memoisation would not see.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
    getItemKey: (index) => lines[index]?.number ?? index,
    // Keeps the lines in view in place when others are dropped or measured above them.
    anchorTo: "end",
    scrollEndThreshold: END_SLACK_PX,
  });

  useEffect(() => {
    if (following && total > 0) virtualizer.scrollToEnd();
  }, [following, total, virtualizer]);

  const follow = () => setLeftAt(undefined);
  const leave = () => setLeftAt((before) => before ?? total);
  const onScroll = () => {
    const view = scroller.current;
    if (!view) return;
    if (view.scrollHeight - view.scrollTop - view.clientHeight < END_SLACK_PX) follow();
    else leave();
  };

  return (
    <div className="relative overflow-hidden rounded-lg border border-line bg-term">
      <div className="flex h-9 items-center gap-3 border-b border-line px-3.5 text-xs text-ink-3">
        <StreamNote state={state} active={active} />
        <span className="flex-1" />
        {dropped > 0 && <span>{exact(dropped)} older lines not shown</span>}
        <span className="tabular-nums">{total === 1 ? "1 line" : `${exact(total)} lines`}</span>
        {active && (
          <Button
            variant="quiet"
            size="sm"
            className="-mr-2 h-6.5"
            aria-pressed={!following}
            onClick={following ? leave : follow}
          >
            <Pause aria-hidden className="!size-3.5" />
            {following ? "Pause" : "Paused"}
          </Button>
        )}
      </div>
      <div
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-label="Output"
        aria-live="off"
        // A scrollable region must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="h-[min(60dvh,38rem)] overflow-y-auto overscroll-contain py-2 font-mono text-xs leading-5 [overflow-anchor:none]"
      >
        {lines.length === 0 && (
          <p className="px-3.5 py-1 font-sans text-sm text-ink-3">{waitingText(state, active)}</p>
        )}
        <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const line = lines[item.index];
            return (
              line && (
                <div
                  key={item.key}
                  ref={virtualizer.measureElement}
                  data-index={item.index}
                  className="absolute top-0 left-0 w-full"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <Line line={line} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!following && lines.length > 0 && (
        <Button
          variant="plain"
          size="sm"
          className="absolute right-4 bottom-4 shadow-raised"
          onClick={follow}
        >
          <ArrowDown aria-hidden />
          {active ? followLabel(total - leftAt) : "Scroll to end"}
        </Button>
      )}
    </div>
  );
}

function followLabel(newLines: number): string {
  if (newLines === 0) return "Follow";
  return `Follow · ${exact(newLines)} new ${newLines === 1 ? "line" : "lines"}`;
}

function Line({ line }: { line: OutputLine }) {
  return (
    <div className="flex gap-4 px-3.5">
      <span aria-hidden className="w-16 shrink-0 text-ink-3 tabular-nums select-none max-sm:hidden">
        {line.at ? clock(line.at) : ""}
      </span>
      <span
        dir="auto"
        className={cx("min-w-0 flex-1 break-words whitespace-pre-wrap", KIND_CLASS[line.kind])}
      >
        {line.text === "" ? "\u00a0" : line.text}
      </span>
    </div>
  );
}

const clockFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function clock(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? "" : clockFormat.format(at);
}

function StreamNote({ state, active }: { state: StreamState; active: boolean }) {
  const { isLost } = useConnection();
  // Another tab may hold the connection, and need not know yet that it is lost.
  const shown = state === "live" && isLost ? "reconnecting" : state;
  if (!active && state !== "refused") return <span>Output</span>;
  const text = {
    connecting: "Connecting…",
    live: "Live",
    reconnecting: "Connection lost, reconnecting…",
    ended: "Finished",
    refused: "Output unavailable",
  }[shown];
  return (
    <span role="status" className="flex items-center gap-2">
      {shown === "live" && <ProgressDot />}
      {text}
    </span>
  );
}

function waitingText(state: StreamState, active: boolean): string {
  if (state === "refused")
    return "The server rejected the request for the output. Reload the page or sign in again.";
  if (state === "connecting") return "Connecting…";
  return active ? "Waiting for output…" : "This loop has no output.";
}
