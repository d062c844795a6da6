/** Page of a change request: its state, the action that is due, and a tab for each stage. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { Tabs } from "radix-ui";
import { type ReactNode, useEffect } from "react";

import { changeRequestQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ChangeRequestDetail } from "@/api/types";
import { ago, moment, money } from "@/model/format";
import { ActionError } from "@/ui/action-error";
import { buttonClass } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { cx } from "@/ui/cx";
import { usePageTitle } from "@/ui/page-title";

import { isActiveState, needOf, tasksText } from "../model/states";
import { type ChangeRequestTab, TAB_NAMES, tabOf, TABS } from "../model/tabs";
import { useChangeEntry } from "../queries";
import { EntryMenu } from "./entry-menu";
import { History } from "./history";
import { StageTrack } from "./stage-track";
import { StateBadge } from "./state-badge";

const route = getRouteApi("/$orgSlug/work/$slug");

/** Tabs whose content other features provide. A tab without content is not shown. */
export type StageViews = (
  request: ChangeRequestDetail,
) => Partial<Record<ChangeRequestTab, ReactNode>>;

export function ChangeRequestPage({ stages }: { stages: StageViews }) {
  const { slug, orgSlug } = route.useParams();
  const { data: request } = useSuspenseQuery(changeRequestQuery(useScope(), slug));
  const { tab: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  usePageTitle(request.document.title);
  useMarkSeen(request);
  const views: Partial<Record<ChangeRequestTab, ReactNode>> = {
    ...stages(request),
    history: <History request={request} orgSlug={orgSlug} />,
  };
  const due = tabOf(request);
  const tabs = TABS.filter((name) => views[name] !== undefined);
  const tab =
    tabs.find((name) => name === chosen) ?? tabs.find((name) => name === due) ?? "history";
  return (
    <>
      <Link
        to="/$orgSlug/work"
        params={{ orgSlug }}
        className="-ml-1 inline-flex items-center gap-1.5 rounded-sm px-1 text-sm text-ink-3 hover:text-ink"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        Work
      </Link>
      <Header request={request} due={tab === due ? undefined : due} />
      <Tabs.Root
        value={tab}
        onValueChange={(value) =>
          void navigate({ search: { tab: value as ChangeRequestTab }, resetScroll: false })
        }
        className="mt-5"
      >
        <Tabs.List
          aria-label="Stages"
          className="mb-5 flex gap-5 overflow-x-auto border-b border-line"
        >
          {tabs.map((name) => (
            <Tabs.Trigger
              key={name}
              value={name}
              className={cx(
                "-mb-px border-b-2 border-transparent px-0.5 pb-2 font-medium whitespace-nowrap text-ink-2 hover:text-ink",
                "data-[state=active]:border-accent data-[state=active]:text-ink",
              )}
            >
              {TAB_NAMES[name]}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value={tab} className="outline-offset-8">
          {views[tab]}
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

/** Title, state and what is due. `due`: the tab that shows it, if it is not the open one. */
function Header({
  request,
  due,
}: {
  request: ChangeRequestDetail;
  due: ChangeRequestTab | undefined;
}) {
  const { document, attention, cost, changedAt, tasks } = request;
  const now = useNow(isActiveState(request.state) ? 1_000 : 30_000);
  const entry = useChangeEntry();
  const need = attention && needOf(attention);
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
            {cost != null && <span className="tabular-nums">{money(cost)}</span>}
          </div>
        </div>
        <div className="flex items-center gap-2">
          {need && due && (
            <Link
              from="/$orgSlug/work/$slug"
              to="."
              search={{ tab: due }}
              resetScroll={false}
              className={buttonClass("primary")}
            >
              {need.action}
            </Link>
          )}
          <EntryMenu
            request={request}
            onChange={(change) => entry.mutate({ slug: document.slug, change })}
          />
        </div>
      </div>
      {need && <p className="mt-2 text-pretty text-ink-2">{need.text}</p>}
      {entry.error && <ActionError title="The change could not be saved" error={entry.error} />}
    </header>
  );
}

/** Notes that the person has seen the state that is on the page. */
function useMarkSeen({ document, isUnread, attention }: ChangeRequestDetail): void {
  const { mutate } = useChangeEntry();
  const isNew = isUnread && attention != null;
  useEffect(() => {
    if (isNew) mutate({ slug: document.slug, change: { kind: "mark", seen: true } });
  }, [isNew, document.slug, mutate]);
}
