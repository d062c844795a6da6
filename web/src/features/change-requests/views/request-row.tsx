import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { ChangeRequest } from "@/api/types";
import { ago, moment, money } from "@/model/format";
import { cx } from "@/ui/cx";

import { tasksText } from "../model/states";
import { StageTrack } from "./stage-track";
import { StateBadge } from "./state-badge";

/** A change request in a list: title, repository, state, stage, progress, cost, age and person. */
export function RequestRow({
  request,
  orgSlug,
  now,
  note,
  actions,
}: {
  request: ChangeRequest;
  orgSlug: string;
  now: number;
  /** What a person has to do. */
  note?: ReactNode;
  actions: ReactNode;
}) {
  const { document, changedAt, cost, isUnread, attention, tasks } = request;
  const name = [request.user?.firstName, request.user?.lastName].filter(Boolean).join(" ");
  return (
    <div
      role="listitem"
      className="relative flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 hover:bg-sunken has-[a:focus-visible]:bg-sunken"
    >
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
