/** A tool call in one line, which opens to its arguments and its result. */
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { useId } from "react";

import { useScope } from "@/api/scope";
import { duration, exact } from "@/model/format";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";

import { outputText, type ToolItem } from "../model/log-items";
import { eventQuery } from "../queries";
import { type RowContext, wrapClass } from "./log-row";

export function ToolRow({ item, context }: { item: ToolItem; context: RowContext }) {
  const { key, start } = item;
  const isOpen = context.open.has(key);
  const id = useId();
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => context.onToggle(key)}
        className="flex min-h-6 w-full items-center gap-2 rounded-sm text-left hover:bg-idle-soft"
      >
        <ChevronRight
          aria-hidden
          className={cx("size-3.5 shrink-0 text-ink-3", isOpen && "rotate-90")}
        />
        <span className="shrink-0 font-medium text-accent">{toolName(item)}</span>
        <span dir="auto" className="min-w-0 flex-1 truncate text-ink">
          {start?.summary}
        </span>
        <ToolEndNote item={item} />
      </button>
      {isOpen && <ToolDetails id={id} item={item} context={context} />}
    </div>
  );
}

/** The end of a call does not name the tool if its start is unknown. */
function toolName({ start, end }: ToolItem): string {
  const name = start?.tool ?? end?.tool ?? "";
  return name === "" ? "Tool" : name;
}

function ToolEndNote({ item: { end } }: { item: ToolItem }) {
  if (!end) return <span className="shrink-0 text-ink-3">…</span>;
  const failed = end.isError ?? false;
  const time = end.durationMs == null ? undefined : shortDuration(end.durationMs);
  const code = end.exitCode == null ? (failed ? "failed" : undefined) : `exit ${end.exitCode}`;
  return (
    <span className={cx("shrink-0 tabular-nums", failed ? "text-bad" : "text-ink-3")}>
      {[time, code].filter(Boolean).join(" · ")}
    </span>
  );
}

const shortDuration = (ms: number): string =>
  ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);

function ToolDetails({ id, item, context }: { id: string; item: ToolItem; context: RowContext }) {
  const { loopId, wrap } = context;
  const start = useComplete(loopId, item.start && item.sequence, item.start?.isShortened);
  const end = useComplete(
    loopId,
    item.end && (item.endSequence ?? item.sequence),
    item.end?.isShortened,
  );
  const startBody =
    start.event?.type === "tool_call" && start.event.status === "start" ? start.event : item.start;
  const endBody =
    end.event?.type === "tool_call" && end.event.status === "end" ? end.event : item.end;
  const output = outputText(endBody?.output);
  const error = start.error ?? end.error;
  return (
    <div id={id} className="mt-1 mb-2 ml-5.5 space-y-2">
      {Object.entries(toMembers(startBody?.input)).map(([name, value]) => (
        <Block key={name} name={name} text={outputText(value)} wrap={wrap} />
      ))}
      {endBody && <Block name="Result" text={output === "" ? "(empty)" : output} wrap={wrap} />}
      {endBody?.isShortened && end.isComplete && endBody.size != null && (
        <p className="font-sans text-sm text-ink-3">
          Only the first part of the result is stored; the result had {exact(endBody.size)} bytes.
        </p>
      )}
      {(start.isPending || end.isPending) && (
        <p role="status" className="font-sans text-sm text-ink-3">
          Loading the complete texts…
        </p>
      )}
      {error && (
        <p role="alert" className="font-sans text-sm text-bad">
          The complete texts could not be loaded: {error.message}
        </p>
      )}
    </div>
  );
}

/** Reads the complete event, if the log contains an excerpt of it. */
function useComplete(loopId: string, sequence: number | undefined, isShortened?: boolean) {
  const enabled = sequence !== undefined && (isShortened ?? false);
  const query = useQuery({ ...eventQuery(useScope(), loopId, sequence ?? 0), enabled });
  return {
    event: query.data,
    error: query.error,
    isPending: enabled && query.isPending,
    isComplete: query.isSuccess,
  };
}

/** Returns the arguments by name. */
function toMembers(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null) return {};
  return typeof input === "object" && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : { Input: input };
}

function Block({ name, text, wrap }: { name: string; text: string; wrap: boolean }) {
  return (
    <section aria-label={name} className="rounded-md border border-line bg-surface">
      <div className="flex h-7 items-center justify-between border-b border-line pr-1 pl-2.5 text-ink-3">
        {name}
        <CopyButton text={text} label={`Copy ${name}`} />
      </div>
      {/* A scrollable region must be reachable by keyboard. */}
      <pre
        dir="auto"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className={cx("max-h-80 overflow-auto px-2.5 py-1.5", wrapClass(wrap))}
      >
        {text}
      </pre>
    </section>
  );
}
