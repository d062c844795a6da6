import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

import type { ChangeRequest } from "@/api/types";
import { ago, moment, money } from "@/model/format";
import { cx } from "@/ui/cx";

import { DEPLOYMENT_TEXTS, tasksText } from "../model/states";
import { StageTrack } from "./stage-track";
import { StateBadge } from "./state-badge";

/** A change request in a list: title, repository, state, stage, progress, cost, age and person. */
export function RequestRow({
  request,
  orgSlug,
  now,
  selection,
  note,
  actions,
}: {
  request: ChangeRequest;
  orgSlug: string;
  now: number;
  selection: {
    /** Whether an entry of the list is selected. */
    isOpen: boolean;
    isSelected: boolean;
    onToggle: () => void;
  };
  /** What a person has to do. */
  note?: ReactNode;
  actions: ReactNode;
}) {
  const { document, changedAt, cost, isUnread, attention, tasks, deployment } = request;
  const name = [request.user?.firstName, request.user?.lastName].filter(Boolean).join(" ");
  return (
    <div
      role="listitem"
      className={cx(
        "group relative flex flex-wrap items-center gap-x-4 gap-y-2 py-3 pr-4 hover:bg-sunken has-[a:focus-visible]:bg-sunken pointer-fine:pl-9",
        selection.isOpen ? "pl-9" : "pl-4",
        selection.isSelected && "bg-accent-soft",
      )}
    >
      {/* No `input`, in which the shortcuts of the list would not work. */}
      <button
        type="button"
        role="checkbox"
        aria-checked={selection.isSelected}
        aria-label={`Select ${document.title}`}
        onClick={selection.onToggle}
        className={cx(
          "absolute top-3 left-1.5 z-10 flex size-6 items-center justify-center",
          !selection.isOpen &&
            "opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:hidden",
        )}
      >
        <span
          className={cx(
            "flex size-4 items-center justify-center rounded-xs border [&_svg]:size-3",
            selection.isSelected
              ? "border-accent bg-accent text-accent-ink"
              : "border-line-strong bg-surface",
          )}
        >
          {selection.isSelected && <Check aria-hidden strokeWidth={3} />}
        </span>
      </button>
      <div className="min-w-0 flex-1 basis-72">
        <Link
          to="/$orgSlug/work/$slug"
          params={{ orgSlug, slug: document.slug }}
          dir="auto"
          data-list-item
          className={cx(
            "block truncate after:absolute after:inset-0",
            attention && isUnread ? "font-semibold" : "font-medium",
          )}
        >
          {attention && isUnread && (
            <span dir="ltr" className="sr-only">
              Unread:{" "}
            </span>
          )}
          {document.title}
        </Link>
        {note && <p className="mt-0.5 text-pretty text-ink-2">{note}</p>}
        <p className="mt-0.5 flex min-w-0 flex-wrap items-center gap-x-1.5 text-xs text-ink-3">
          {document.repo && <span className="truncate">{document.repo.fullName}</span>}
          {document.repo && <span aria-hidden>·</span>}
          <span title={moment(changedAt)}>{ago(changedAt, now)}</span>
          {name && (
            <>
              <span aria-hidden>·</span>
              <span dir="auto">{name}</span>
            </>
          )}
          {tasks && (
            <>
              <span aria-hidden>·</span>
              <span className="tabular-nums">{tasksText(tasks)}</span>
            </>
          )}
          {deployment && (
            <>
              <span aria-hidden>·</span>
              <span>{DEPLOYMENT_TEXTS[deployment]}</span>
            </>
          )}
          {cost != null && (
            <>
              <span aria-hidden>·</span>
              <span className="tabular-nums">{money(cost)}</span>
            </>
          )}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-3 max-md:flex-1 md:w-120">
        <StageTrack request={request} />
        <StateBadge request={request} />
        <div className="relative z-10 ml-auto flex items-center gap-1">{actions}</div>
      </div>
    </div>
  );
}
