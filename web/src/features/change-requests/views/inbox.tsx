/** What needs the person: one row for each change request that waits. The start page. */
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Inbox as InboxIcon } from "lucide-react";
import type { ReactNode } from "react";

import { useScope } from "@/api/scope";
import { exact } from "@/model/format";
import { buttonClass } from "@/ui/button";
import { useListShortcuts } from "@/ui/list-shortcuts";
import { usePageTitle } from "@/ui/page-title";
import { EmptyState, Panel } from "@/ui/panel";

import { parseSearch, VIEWS } from "../model/search";
import { firstPageQuery, NEEDS_ME, useChangeRequests } from "../queries";
import { ListBars, useListActions } from "./list-actions";
import { RequestList } from "./request-list";

const RUNNING = parseSearch(VIEWS.find(({ name }) => name === "Running")?.search ?? "");

interface InboxProps {
  /** What the machine needs for loops, shown until there is a change request. */
  setUp: ReactNode;
  approvals: ReactNode;
  /** The end of a sentence about the running loops: when the next of them ends. */
  nextEnd: ReactNode;
}

export function Inbox({ setUp, approvals, nextEnd }: InboxProps) {
  usePageTitle("Needs you");
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  useListShortcuts("change requests");
  const list = useChangeRequests(NEEDS_ME);
  const actions = useListActions("inbox");
  return (
    <>
      <div className="flex items-baseline gap-3">
        <h1 className="text-xl font-semibold tracking-tight">Needs you</h1>
        {list.total > 0 && (
          <p role="status" className="text-ink-3 tabular-nums">
            {exact(list.total)} {list.total === 1 ? "change request" : "change requests"}
          </p>
        )}
      </div>
      {approvals}
      {list.total === 0 ? (
        <NothingWaits orgSlug={orgSlug} setUp={setUp} nextEnd={nextEnd} />
      ) : (
        <Panel className="mt-4 overflow-hidden">
          <RequestList
            label="Change requests that need you"
            list={list}
            orgSlug={orgSlug}
            actions={actions}
            showNeeds
          />
        </Panel>
      )}
      <ListBars actions={actions} />
    </>
  );
}

function NothingWaits({
  orgSlug,
  setUp,
  nextEnd,
}: {
  orgSlug: string;
  setUp: ReactNode;
  nextEnd: ReactNode;
}) {
  const scope = useScope();
  const { data: listed } = useQuery(firstPageQuery(scope, {}));
  const isEmpty = listed?.total === 0;
  const { data: archived } = useQuery({
    ...firstPageQuery(scope, { archived: true }),
    enabled: isEmpty,
  });
  const { data: running } = useQuery(firstPageQuery(scope, RUNNING));
  const active = running?.total ?? 0;
  const isNew = isEmpty && archived?.total === 0;
  return (
    <>
      {isNew && <div className="mt-4">{setUp}</div>}
      <Panel className="mt-4">
        <EmptyState
          icon={<InboxIcon />}
          title={isNew ? "Describe the first change" : "Nothing needs you"}
          action={
            <Link
              to="/$orgSlug/new"
              params={{ orgSlug }}
              className={buttonClass(isNew ? "primary" : "plain")}
            >
              {isNew ? "Start the first loop" : "New change request"}
            </Link>
          }
        >
          {isNew
            ? "Describe a change and select a repository. Review the plan, then select Execute to implement it and open a pull request."
            : active === 0
              ? "No loop is running."
              : `${exact(active)} ${active === 1 ? "loop is" : "loops are"} running`}
          {!isNew && active > 0 && nextEnd}
        </EmptyState>
      </Panel>
    </>
  );
}
