/** Page of a change request: its state, the action that is due, and a tab for each stage. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { Tabs } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";

import { changeRequestQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ChangeRequestDetail } from "@/api/types";
import { useStateAnnouncement } from "@/ui/announce";
import { cx } from "@/ui/cx";
import { usePageTitle } from "@/ui/page-title";

import { stateLabel } from "../model/states";
import { type ChangeRequestTab, TAB_NAMES, tabOf, TABS } from "../model/tabs";
import { useChangeEntries } from "../queries";
import { ChangeRequestHeader } from "./change-request-header";
import { UndoBar, useEntryActions } from "./entry-actions";
import { History } from "./history";

const route = getRouteApi("/$orgSlug/work/$slug");

/** Tabs whose content other features provide. A tab without content is not shown. */
export type StageViews = (
  request: ChangeRequestDetail,
) => Partial<Record<ChangeRequestTab, ReactNode>>;

/** `stopButton`: the button that stops a loop. */
export function ChangeRequestPage({
  stages,
  stopButton,
}: {
  stages: StageViews;
  stopButton: (loopId: string) => ReactNode;
}) {
  const { slug, orgSlug } = route.useParams();
  const { data: request } = useSuspenseQuery(changeRequestQuery(useScope(), slug));
  const { tab: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  usePageTitle(request.document.title);
  useMarkSeen(request);
  useStateAnnouncement(request.document.id, request.state, stateLabel(request));
  const actions = useEntryActions();
  const views: Partial<Record<ChangeRequestTab, ReactNode>> = {
    ...stages(request),
    history: <History request={request} orgSlug={orgSlug} />,
  };
  const due = tabOf(request);
  const tabs = TABS.filter((name) => views[name] !== undefined);
  const tab =
    tabs.find((name) => name === chosen) ?? tabs.find((name) => name === due) ?? "history";
  const open = (name: ChangeRequestTab) => navigate({ search: { tab: name }, resetScroll: false });
  const isDeleted = actions.undo?.changes.some(
    ({ slug, change }) => slug === request.document.slug && change.kind === "restore",
  );
  const back = (
    <Link
      to="/$orgSlug/work"
      params={{ orgSlug }}
      className="-ml-1 inline-flex items-center gap-1.5 rounded-sm px-1 text-sm text-ink-3 hover:text-ink"
    >
      <ArrowLeft aria-hidden className="size-3.5" />
      Work
    </Link>
  );
  if (isDeleted) {
    return (
      <>
        {back}
        <h1 dir="auto" className="mt-2 mb-4 text-2xl font-semibold wrap-anywhere">
          {request.document.title}
        </h1>
        <UndoBar actions={actions} />
      </>
    );
  }
  return (
    <>
      {back}
      <ChangeRequestHeader
        request={request}
        tab={tab}
        actions={actions}
        onOpen={open}
        stopButton={stopButton}
      />
      <Tabs.Root
        value={tab}
        onValueChange={(value) => void open(value as ChangeRequestTab)}
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
        <Tabs.Content value={tab} className="scroll-mt-48 outline-offset-8">
          {views[tab]}
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

/** Notes that the person has seen each state that is on the page. */
function useMarkSeen({ document, changedAt, isUnread, attention }: ChangeRequestDetail): void {
  const { mutate } = useChangeEntries();
  const { slug } = document;
  const state = `${slug} ${changedAt} ${attention ?? ""}`;
  // A state that the person marks as unread stays unread.
  const seen = useRef<string>(undefined);
  const isNew = isUnread && attention != null;
  useEffect(() => {
    if (seen.current === state) return;
    seen.current = state;
    if (isNew) mutate([{ slug, change: { kind: "mark", seen: true } }]);
  }, [state, isNew, slug, mutate]);
}
