/** Rows of a list of change requests, with the actions on each. */
import { Link } from "@tanstack/react-router";

import { buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { VirtualRows } from "@/ui/virtual-rows";

import { isActiveState, needOf } from "../model/states";
import { tabOf } from "../model/tabs";
import type { useChangeRequests } from "../queries";
import type { ListActions } from "./list-actions";
import { EntryMenu } from "./entry-menu";
import { RequestRow } from "./request-row";

export function RequestList({
  label,
  list,
  orgSlug,
  actions,
  showNeeds,
}: {
  label: string;
  list: ReturnType<typeof useChangeRequests>;
  orgSlug: string;
  actions: ListActions;
  /** Whether the rows say what a person has to do. */
  showNeeds: boolean;
}) {
  const now = useNow(list.rows.some((row) => isActiveState(row.state)) ? 1_000 : 30_000);
  return (
    <div aria-label={label} role="group">
      <VirtualRows list={list} keyOf={({ document }) => document.id} role="list">
        {(request) => (
          <RequestRow
            request={request}
            orgSlug={orgSlug}
            now={now}
            selection={{
              isOpen: actions.selected.length > 0,
              isSelected: actions.isSelected(request),
              onToggle: () => actions.toggle(request),
            }}
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
                <EntryMenu
                  request={request}
                  mayDelete={actions.mayDelete(request)}
                  isSelected={actions.isSelected(request)}
                  onToggle={() => actions.toggle(request)}
                  onChange={(change) => actions.apply([request], change)}
                />
              </>
            }
          />
        )}
      </VirtualRows>
    </div>
  );
}
