/** Rows of a list of change requests, with the actions on each and the undo of the last one. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import type { ChangeRequest } from "@/api/types";
import { ActionError } from "@/ui/action-error";
import { Button, buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { useListShortcuts } from "@/ui/list-shortcuts";
import { VirtualRows } from "@/ui/virtual-rows";

import { isActiveState, needOf } from "../model/states";
import { tabOf } from "../model/tabs";
import { type EntryChange, type useChangeRequests, useChangeEntry } from "../queries";
import { EntryMenu } from "./entry-menu";
import { RequestRow } from "./request-row";

/** A change that the user can undo: what to say, and the change that reverts it. */
interface Undo {
  text: string;
  slug: string;
  change: EntryChange;
}

function undoOf({ document }: ChangeRequest, change: EntryChange): Undo | undefined {
  const { slug, title } = document;
  if (change.kind === "archive") {
    const text = change.archived ? `Archived “${title}”.` : `“${title}” is back in the list.`;
    return { text, slug, change: { kind: "archive", archived: !change.archived } };
  }
  return change.snoozedUntil === undefined
    ? undefined
    : { text: `Snoozed “${title}”.`, slug, change: { kind: "mark", seen: false } };
}

export function RequestList({
  label,
  list,
  orgSlug,
  showNeeds,
}: {
  label: string;
  list: ReturnType<typeof useChangeRequests>;
  orgSlug: string;
  /** Whether the rows say what a person has to do. */
  showNeeds: boolean;
}) {
  const now = useNow(list.rows.some((row) => isActiveState(row.state)) ? 1_000 : 30_000);
  const entry = useChangeEntry();
  useListShortcuts("change requests");
  const [undo, setUndo] = useState<Undo>();
  const apply = (request: ChangeRequest, change: EntryChange) =>
    entry.mutate(
      { slug: request.document.slug, change },
      { onSuccess: () => setUndo(undoOf(request, change)) },
    );
  return (
    <>
      <div role="status">
        {undo && (
          <div className="flex flex-wrap items-center gap-3 border-b border-line bg-sunken px-4 py-2 text-sm">
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {undo.text}
            </span>
            <Button
              size="sm"
              busy={entry.isPending}
              onClick={() => entry.mutate(undo, { onSuccess: () => setUndo(undefined) })}
            >
              Undo
            </Button>
          </div>
        )}
      </div>
      {entry.error && <ActionError title="The change could not be saved" error={entry.error} />}
      <div aria-label={label} role="group">
        <VirtualRows list={list} keyOf={({ document }) => document.id} role="list">
          {(request) => (
            <RequestRow
              request={request}
              orgSlug={orgSlug}
              now={now}
              note={showNeeds && request.attention ? needOf(request.attention).text : undefined}
              actions={
                <>
                  {showNeeds && request.attention && (
                    <Link
                      to="/$orgSlug/work/$slug"
                      params={{ orgSlug, slug: request.document.slug }}
                      search={{ tab: tabOf(request) }}
                      className={buttonClass("plain", "sm")}
                    >
                      {needOf(request.attention).action}
                      <span className="sr-only">: {request.document.title}</span>
                    </Link>
                  )}
                  <EntryMenu request={request} onChange={(change) => apply(request, change)} />
                </>
              }
            />
          )}
        </VirtualRows>
      </div>
    </>
  );
}
