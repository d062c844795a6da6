/** Search, filters and display options of a log. */
import { Braces, Download, Pause, Search, WrapText } from "lucide-react";
import { type ReactNode, useState } from "react";

import { useScope } from "@/api/scope";
import type { EventSubject } from "@/api/types";
import { type LogSearch, SUBJECTS } from "@/routing/log-search";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { cx } from "@/ui/cx";
import { INPUT_CLASS } from "@/ui/field";
import { FilterChip } from "@/ui/filter-chip";
import { Tip } from "@/ui/tip";

import { logItems, textOf } from "../model/log-items";
import { readAllEvents } from "../queries";

export interface LogOptions {
  raw: boolean;
  wrap: boolean;
}

interface LogToolbarProps {
  loopId: string;
  search: LogSearch;
  onSearch: (search: LogSearch) => void;
  options: LogOptions;
  onOptions: (options: LogOptions) => void;
  /** Text of the loaded part of the log. */
  text: () => string;
  /** Whether the reader stopped following; `undefined` if there is nothing to follow. */
  paused: boolean | undefined;
  onPause: (paused: boolean) => void;
}

export function LogToolbar(props: LogToolbarProps) {
  const { loopId, search, onSearch, options, onOptions, paused, onPause } = props;
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-3.5 py-2">
      <SearchField key={search.text} search={search} onSearch={onSearch} />
      {SUBJECTS.map((subject) => (
        <FilterChip
          key={subject}
          pressed={search.about === subject}
          onPress={() => onSearch(withSubject(search, subject))}
        >
          {LABELS[subject]}
        </FilterChip>
      ))}
      <span className="flex-1" />
      <Toggle
        label="Raw: show what serves the loop itself"
        pressed={options.raw}
        onPress={() => onOptions({ ...options, raw: !options.raw })}
      >
        <Braces aria-hidden />
      </Toggle>
      <Toggle
        label="Wrap long lines"
        pressed={options.wrap}
        onPress={() => onOptions({ ...options, wrap: !options.wrap })}
      >
        <WrapText aria-hidden />
      </Toggle>
      <CopyButton text={props.text} label="Copy the loaded part" />
      <DownloadButton loopId={loopId} raw={options.raw} />
      {paused !== undefined && (
        <Button variant="quiet" size="sm" aria-pressed={paused} onClick={() => onPause(!paused)}>
          <Pause aria-hidden className="!size-3.5" />
          {paused ? "Paused" : "Pause"}
        </Button>
      )}
    </div>
  );
}

const LABELS: Record<EventSubject, string> = {
  errors: "Errors",
  commands: "Commands",
  files: "Files",
};

function withSubject({ text, about }: LogSearch, subject: EventSubject): LogSearch {
  return { ...(text !== undefined && { text }), ...(about !== subject && { about: subject }) };
}

function SearchField({ search, onSearch }: Pick<LogToolbarProps, "search" | "onSearch">) {
  const [text, setText] = useState(search.text ?? "");
  return (
    <form
      role="search"
      className="relative w-56 max-sm:w-full"
      onSubmit={(event) => {
        event.preventDefault();
        const { about } = search;
        const trimmed = text.trim();
        onSearch({ ...(about && { about }), ...(trimmed !== "" && { text: trimmed }) });
      }}
    >
      <Search aria-hidden className="absolute top-2 left-2.5 size-3.5 text-ink-3" />
      <input
        type="search"
        dir="auto"
        aria-label="Search in the log"
        placeholder="Search, Enter"
        maxLength={200}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          // Also when the field is cleared with its own button.
          if (target.value === "" && search.text !== undefined) {
            onSearch(search.about ? { about: search.about } : {});
          }
        }}
        className={cx(INPUT_CLASS, "h-7.5 pl-8 text-sm")}
      />
    </form>
  );
}

function Toggle({
  label,
  pressed,
  onPress,
  children,
}: {
  label: string;
  pressed: boolean;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <Tip label={label}>
      <Button
        variant="quiet"
        size="icon"
        aria-label={label}
        aria-pressed={pressed}
        className={cx(pressed && "bg-accent-soft text-ink")}
        onClick={onPress}
      >
        {children}
      </Button>
    </Tip>
  );
}

function DownloadButton({ loopId, raw }: { loopId: string; raw: boolean }) {
  const scope = useScope();
  const [state, setState] = useState<"loading" | Error>();
  const download = async () => {
    setState("loading");
    try {
      const items = logItems(await readAllEvents(scope, loopId), raw);
      save(`loop-${loopId}.log`, items.map(textOf).join("\n"));
      setState(undefined);
    } catch (error) {
      setState(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return (
    <>
      <Tip label="Download the whole log">
        <Button
          variant="quiet"
          size="icon"
          aria-label="Download the whole log"
          busy={state === "loading"}
          onClick={() => void download()}
        >
          {state !== "loading" && <Download aria-hidden />}
        </Button>
      </Tip>
      {state instanceof Error && (
        <ActionError title="The log could not be downloaded" error={state} />
      )}
    </>
  );
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
