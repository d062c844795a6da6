import { ChevronDown, ChevronRight, MessageSquarePlus } from "lucide-react";
import { useEffect } from "react";

import { messageOf } from "@/api/errors";
import type { ChangedFile } from "@/api/types";
import { fileSize } from "@/model/format";
import { hasDirectionControls, visibleName } from "@/model/visible-name";
import { Button } from "@/ui/button";

import { isCurrent } from "../model/content-key";
import type { PatchState } from "../model/patch-loader";
import { StatusMark } from "./status-mark";

/** Heading of a file in the diff. The viewer renders it when the file comes near the visible part. */
export function FileHeader({
  file,
  state,
  isOpen,
  isViewed,
  onNeeded,
  onRetry,
  onToggle,
  onViewed,
  onComment,
}: {
  file: ChangedFile;
  state: PatchState | undefined;
  isOpen: boolean;
  isViewed: boolean;
  /** Called when the patch is needed. */
  onNeeded: () => void;
  onRetry: () => void;
  onToggle: () => void;
  onViewed: (viewed: boolean) => void;
  /** Undefined for changes that cannot be commented. */
  onComment: (() => void) | undefined;
}) {
  const needsPatch = isOpen && !isCurrent(file, state) && !file.binary;
  useEffect(() => {
    if (needsPatch) onNeeded();
  }, [needsPatch, onNeeded]);
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const note = noteOf(file, state, isOpen);
  return (
    <div className="flex h-11 items-center gap-2 border-y border-line bg-sunken px-2 font-sans text-sm text-ink">
      <button
        type="button"
        aria-expanded={isOpen}
        title={file.path}
        onClick={onToggle}
        className="flex h-full min-w-0 flex-1 items-center gap-1.5 text-left"
      >
        <Chevron aria-hidden className="size-4 shrink-0 text-ink-3" />
        <StatusMark status={file.status} />
        <h2 dir="auto" className="truncate font-mono text-xs">
          {file.oldPath && <span className="text-ink-3">{visibleName(file.oldPath)} → </span>}
          {visibleName(file.path)}
        </h2>
      </button>
      {note && (
        <span className="truncate text-xs text-ink-2" role="status">
          {note}
        </span>
      )}
      {isCurrent(file, state) && "error" in state && (
        <Button size="sm" onClick={onRetry}>
          Retry
        </Button>
      )}
      <span className="text-xs whitespace-nowrap tabular-nums max-sm:hidden">
        <span className="text-ok">+{file.additions}</span>{" "}
        <span className="text-bad">−{file.deletions}</span>
      </span>
      {onComment && (
        <Button
          variant="quiet"
          size="icon"
          title="Comment"
          aria-label={`Comment on ${file.path}`}
          onClick={onComment}
        >
          <MessageSquarePlus aria-hidden />
        </Button>
      )}
      <label className="flex items-center gap-1.5 text-xs">
        <input
          type="checkbox"
          checked={isViewed}
          aria-label={`Viewed: ${file.path}`}
          onChange={(event) => onViewed(event.target.checked)}
          className="accent-accent"
        />
        <span className="max-sm:sr-only">Viewed</span>
      </label>
    </div>
  );
}

const KINDS = { "lock-file": "Lock file", generated: "Generated" };

/** Returns why no lines of a file, or those of an earlier content, are displayed; or a warning about the lines. */
function noteOf(file: ChangedFile, state: PatchState | undefined, isOpen: boolean) {
  if (file.binary) return file.size ? `Binary file · ${fileSize(file.size)}` : "Binary file";
  if (isCurrent(file, state) && "error" in state) return `Not loaded: ${messageOf(state.error)}`;
  if (!isOpen) return file.generated && KINDS[file.generated];
  if (!state || "error" in state) return "Loading…";
  if (!isCurrent(file, state)) return "Updating…";
  if (hasDirectionControls(state.patch))
    return "Contains characters that change the order of the text";
  if (state.patch.includes("\n@@ ")) return undefined;
  if (file.oldMode && file.newMode && file.oldMode !== file.newMode)
    return `Mode ${file.oldMode} → ${file.newMode}`;
  if (file.additions + file.deletions > 0) return "Only white space differs";
  return file.oldPath ? "Content unchanged" : "Empty file";
}
