/** One item of a log. */
import { Crosshair } from "lucide-react";
import type { ReactNode } from "react";

import { Markdown } from "@/markdown/markdown";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Tip } from "@/ui/tip";

import type { LineTone, LogItem } from "../model/log-items";
import { ToolRow } from "./tool-row";

export interface RowContext {
  loopId: string;
  wrap: boolean;
  /** Keys of the tool calls that are open: rows outside of the view are removed. */
  open: ReadonlySet<string>;
  onToggle: (key: string) => void;
  /** Shows the place of an item in the log; `undefined` in the log itself. */
  onLocate?: ((sequence: number) => void) | undefined;
}

const TONE_CLASS: Record<LineTone, string> = {
  plain: "text-ink",
  note: "text-ink-3 italic",
  error: "text-bad",
  raw: "text-ink-3",
};

export function LogRow({ item, context }: { item: LogItem; context: RowContext }) {
  const { onLocate } = context;
  return (
    <div className="flex gap-4 px-3.5">
      <span aria-hidden className="w-16 shrink-0 text-ink-3 tabular-nums select-none max-sm:hidden">
        {item.at ? clock(item.at) : ""}
      </span>
      <Nested depth={item.depth}>
        <Content item={item} context={context} />
      </Nested>
      {onLocate && (
        <Tip label="Show in the log">
          <Button
            variant="quiet"
            size="icon"
            className="size-6"
            aria-label="Show in the log"
            onClick={() => onLocate(item.sequence)}
          >
            <Crosshair className="!size-3.5" />
          </Button>
        </Tip>
      )}
    </div>
  );
}

/** Indents what subagents do. */
function Nested({ depth, children }: { depth: number; children: ReactNode }) {
  if (depth === 0) return <div className="min-w-0 flex-1">{children}</div>;
  return (
    <div className="flex min-w-0 flex-1">
      <span className="sr-only">Subagent: </span>
      {Array.from({ length: Math.min(depth, 4) }, (_, level) => (
        <span key={level} aria-hidden className="ml-1 w-3 shrink-0 border-l border-line-strong" />
      ))}
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

function Content({ item, context }: { item: LogItem; context: RowContext }) {
  switch (item.kind) {
    case "prose":
      return (
        <div dir="auto" className="py-1 font-sans text-base wrap-anywhere">
          <Markdown text={item.text} />
        </div>
      );
    case "line":
      return (
        <span dir="auto" className={cx("block", wrapClass(context.wrap), TONE_CLASS[item.tone])}>
          {item.text === "" ? "\u00a0" : item.text}
        </span>
      );
    case "tool":
      return <ToolRow item={item} context={context} />;
  }
}

export const wrapClass = (wrap: boolean): string =>
  wrap ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre";

const clockFormat = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

function clock(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? "" : clockFormat.format(at);
}
