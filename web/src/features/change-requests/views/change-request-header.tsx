/** Title and state of a change request, its main action, and its menu. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { ChangeRequestDetail } from "@/api/types";
import { ago, moment, money } from "@/model/format";
import { Button, buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { focusDue, focusDueWhenDisplayed } from "@/ui/due";
import { usePageActions } from "@/ui/page-actions";

import { entryActions, isSnoozed, SHOW_NOW } from "../model/entry-actions";
import { type MainAction, mainAction } from "../model/main-action";
import { DEPLOYMENT_TEXTS, isActiveState, needOf, tasksText } from "../model/states";
import type { ChangeRequestTab } from "../model/tabs";
import { type EntryActions, UndoBar } from "./entry-actions";
import { EntryMenu } from "./entry-menu";
import { StageTrack } from "./stage-track";
import { StateBadge } from "./state-badge";

export function ChangeRequestHeader({
  request,
  tab,
  actions,
  onOpen,
  stopButton,
}: {
  request: ChangeRequestDetail;
  /** The open stage. */
  tab: ChangeRequestTab;
  actions: EntryActions;
  onOpen: (tab: ChangeRequestTab) => Promise<void>;
  stopButton: (loopId: string) => ReactNode;
}) {
  const { document, attention, cost, changedAt, deployment, tasks, snoozedUntil, loopId } = request;
  const now = useNow(isActiveState(request.state) ? 1_000 : 30_000);
  const mayDelete = actions.mayDelete(request);
  usePageActions([
    // On the stage Plan, its button offers this action.
    ...(attention === "plan" && tab !== "plan"
      ? [{ label: "Execute", run: () => void onOpen("plan").then(focusDueWhenDisplayed) }]
      : []),
    ...entryActions(request, mayDelete, new Date(now)).map(({ label, change }) => ({
      label,
      run: () => actions.apply([request], change),
    })),
  ]);
  return (
    <header className="sticky top-0 z-10 -mx-4 mt-2 border-b border-line bg-canvas px-4 py-3 sm:-mx-6 sm:px-6">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
        <div className="min-w-0 flex-1 basis-96">
          <h1
            dir="auto"
            className="text-2xl font-semibold tracking-tight text-balance wrap-anywhere"
          >
            {document.title}
          </h1>
          <div className="mt-2 flex flex-wrap items-center gap-2.5 text-sm text-ink-3">
            <StateBadge request={request} />
            <StageTrack request={request} />
            {document.repo && <span>{document.repo.fullName}</span>}
            <span title={moment(changedAt)}>{ago(changedAt, now)}</span>
            {tasks && <span className="tabular-nums">{tasksText(tasks)}</span>}
            {deployment && <span>{DEPLOYMENT_TEXTS[deployment]}</span>}
            {cost != null && <span className="tabular-nums">{money(cost)}</span>}
          </div>
        </div>
        <div className="flex items-center gap-2">
          <MainButton
            action={mainAction(request, tab)}
            stopButton={loopId ? stopButton(loopId) : null}
          />
          <EntryMenu
            request={request}
            mayDelete={mayDelete}
            onChange={(change) => actions.apply([request], change)}
          />
        </div>
      </div>
      {attention && <p className="mt-2 text-pretty text-ink-2">{needOf(attention).text}</p>}
      {attention && snoozedUntil != null && isSnoozed(request, now) && (
        <p className="mt-2 flex flex-wrap items-center gap-3 text-ink-2">
          Snoozed until {moment(snoozedUntil)}
          <Button
            size="sm"
            busy={actions.isPending}
            onClick={() => actions.apply([request], SHOW_NOW.change)}
          >
            {SHOW_NOW.label}
          </Button>
        </p>
      )}
      <div className="overflow-hidden rounded-md has-[button]:mt-2">
        <UndoBar actions={actions} />
      </div>
    </header>
  );
}

function MainButton({
  action,
  stopButton,
}: {
  action: MainAction | undefined;
  stopButton: ReactNode;
}) {
  switch (action?.kind) {
    case "open":
      return (
        <Link
          from="/$orgSlug/work/$slug"
          to="."
          search={{ tab: action.tab }}
          resetScroll={false}
          className={buttonClass("primary")}
        >
          {action.label}
        </Link>
      );
    case "focus":
      return (
        <Button variant="primary" onClick={focusDue}>
          {action.label}
        </Button>
      );
    case "stop":
      return stopButton;
    case undefined:
      return null;
  }
}
