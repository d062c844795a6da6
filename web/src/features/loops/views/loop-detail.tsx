/** Page of a loop: status, output, plan, results and cost. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { GitPullRequest } from "lucide-react";
import { Tabs } from "radix-ui";
import { type ReactNode, Suspense } from "react";

import { useScope } from "@/api/scope";
import type { DocumentLink as LoopDocument, LoopDetail } from "@/api/types";
import { usePullRequestHref } from "@/model/pull-request";
import { humanise, isActive } from "@/model/status";
import { loopTitle } from "@/model/title";
import { buttonClass } from "@/ui/button";
import { lazyPart } from "@/ui/lazy-view";
import { logSearch } from "@/routing/log-search";
import { ChangeRequestLink } from "@/ui/change-request-link";
import { cx } from "@/ui/cx";
import { DocumentLink } from "@/ui/document-link";
import { LoopsLink } from "@/ui/loops-link";
import { usePageTitle } from "@/ui/page-title";
import { Skeleton } from "@/ui/panel";
import { StatusBadge } from "@/ui/status-badge";

import type { LoopActivity } from "../model/activity";
import { resultEntries } from "../model/results";
import type { LoopTab } from "../model/tabs";
import { useLoopStream } from "../model/use-loop-stream";
import { loopQuery } from "../queries";
import { ActivityNotice } from "./activity-notice";
import { LoopFacts } from "./facts";
import { CancelButton, ResumeButton } from "./loop-actions";
import { LoopNotices } from "./loop-notices";
import { LoopProblem } from "./loop-problem";
import { LoopMessages } from "./messages";
import { ResultList } from "./result-list";
import { SpendView } from "./spend-view";

const LiveView = lazyPart(() => import("./live-view"), "LiveView");

const route = getRouteApi("/$orgSlug/loops/$loopId");

/** What the page shows of the documents and changes of a loop. Other features provide it. */
export interface LoopSlots {
  /** Text of a plan. */
  planView: (plan: LoopDocument) => ReactNode;
  /** Button that executes the plan which the loop produced. */
  executeButton: (plan: LoopDocument, repo: LoopDetail["repo"]) => ReactNode;
  /** Diff of what the loop changed. */
  changesView: (loop: LoopDetail) => ReactNode;
  /** The check of the machine. */
  setUp: ReactNode;
}

export function LoopDetailPage(slots: LoopSlots) {
  const { loopId, orgSlug } = route.useParams();
  const { data: loop } = useSuspenseQuery(loopQuery(useScope(), loopId));
  usePageTitle(loopTitle(loop));
  return (
    <>
      <LoopsLink />
      {/* The key resets the stream when the page switches to another loop. */}
      <LoopView key={loop.id} loop={loop} orgSlug={orgSlug} slots={slots} />
    </>
  );
}

function LoopView({
  loop,
  orgSlug,
  slots,
}: {
  loop: LoopDetail;
  orgSlug: string;
  slots: LoopSlots;
}) {
  const stream = useLoopStream(loop.id, !isActive(loop.status));
  return (
    <>
      <header className="mt-2 flex flex-wrap items-start justify-between gap-x-8 gap-y-4">
        <div className="min-w-0 flex-1 basis-96">
          <h1
            dir="auto"
            className="text-2xl font-semibold tracking-tight text-balance wrap-anywhere"
          >
            {loopTitle(loop)}
          </h1>
          <div className="mt-2 flex flex-wrap items-center gap-2.5">
            <StatusBadge status={loop.status} waitingLabel={waitingLabel(loop, stream.activity)} />
            <span className="font-medium text-ink-2">{humanise(loop.command)}</span>
            {loop.document && (
              <span className="text-ink-3">
                of{" "}
                <DocumentLink
                  document={loop.document}
                  orgSlug={orgSlug}
                  text={loop.document.slug}
                />
              </span>
            )}
            {loop.document && <ChangeRequestLink slug={loop.document.slug} orgSlug={orgSlug} />}
            {isActive(loop.status) && <CancelButton loopId={loop.id} />}
          </div>
        </div>
        <Actions loop={loop} orgSlug={orgSlug} executeButton={slots.executeButton} />
      </header>
      <LoopFacts loop={loop} />
      <LoopProblem loop={loop} orgSlug={orgSlug} setUp={slots.setUp} />
      <LoopNotices loop={loop} />
      <Sections loop={loop} stream={stream} slots={slots} />
    </>
  );
}

/** Returns the label of the status badge while the loop needs approval or is queued on its desktop. */
function waitingLabel(loop: LoopDetail, { approval, queue }: LoopActivity): string | undefined {
  if (!isActive(loop.status)) return undefined;
  return approval ? "Waiting for approval" : queue && "Queued";
}

function Actions({
  loop,
  orgSlug,
  executeButton,
}: {
  loop: LoopDetail;
  orgSlug: string;
  executeButton: LoopSlots["executeButton"];
}) {
  const href = usePullRequestHref(loop.prUrl);
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      <ResumeButton loop={loop} orgSlug={orgSlug} />
      {href && (
        <a href={href} target="_blank" rel="noreferrer" className={buttonClass("primary")}>
          <GitPullRequest aria-hidden />
          Open pull request
        </a>
      )}
      {loop.producedDocument?.type === "IMPLEMENTATION_PLAN" &&
        loop.status === "COMPLETED" &&
        executeButton(loop.producedDocument, loop.repo)}
    </div>
  );
}

const TAB_NAMES: Record<LoopTab, string> = {
  plan: "Plan",
  result: "Result",
  output: "Output",
  changes: "Changes",
  cost: "Cost",
};

function Sections({
  loop,
  stream: { log, latest, spend, activity, state },
  slots,
}: {
  loop: LoopDetail;
  stream: ReturnType<typeof useLoopStream>;
  slots: LoopSlots;
}) {
  const active = isActive(loop.status);
  const address = route.useSearch();
  const { tab } = address;
  const navigate = route.useNavigate();
  const produced = loop.producedDocument;
  const plan =
    produced ?? (loop.document?.type === "IMPLEMENTATION_PLAN" ? loop.document : undefined);
  const results = resultEntries(loop);
  const sections: LoopTab[] = [
    ...(produced ? (["plan"] as const) : []),
    ...(results.length > 0 ? (["result"] as const) : []),
    "output",
    ...(loop.command === "EXECUTE" ? (["changes"] as const) : []),
    ...(plan && !produced ? (["plan"] as const) : []),
    "cost",
  ];
  // Until the user selects a tab, the first one is shown: a produced plan, then results, then the output.
  const shown = tab && sections.includes(tab) ? tab : (sections[0] ?? "output");
  return (
    <>
      <div className="mt-4 empty:hidden">{active && <ActivityNotice activity={activity} />}</div>
      <Tabs.Root
        value={shown}
        onValueChange={(value) =>
          void navigate({ search: { tab: value as LoopTab }, resetScroll: false })
        }
        className="mt-7"
      >
        {sections.length > 1 && (
          <Tabs.List aria-label="Loop details" className="mb-5 flex gap-5 border-b border-line">
            {sections.map((section) => (
              <Tab key={section} value={section}>
                {TAB_NAMES[section]}
              </Tab>
            ))}
          </Tabs.List>
        )}
        {plan && (
          <Tabs.Content value="plan" className="outline-offset-8">
            {slots.planView(plan)}
          </Tabs.Content>
        )}
        {results.length > 0 && (
          <Tabs.Content value="result" className="outline-offset-8">
            <ResultList entries={results} />
          </Tabs.Content>
        )}
        <Tabs.Content value="output" className="outline-offset-8">
          <Suspense fallback={<Skeleton className="h-80" />}>
            <LiveView
              loopId={loop.id}
              log={log}
              latest={latest}
              state={state}
              active={active}
              search={logSearch(address)}
              onSearch={(next) =>
                void navigate({
                  search: { tab: shown, ...next },
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </Suspense>
          <LoopMessages loop={loop} latest={latest} />
        </Tabs.Content>
        {loop.command === "EXECUTE" && (
          <Tabs.Content value="changes" className="outline-offset-8">
            {slots.changesView(loop)}
          </Tabs.Content>
        )}
        <Tabs.Content value="cost" className="outline-offset-8">
          <SpendView loop={loop} spend={spend} />
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}

function Tab({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Tabs.Trigger
      value={value}
      className={cx(
        "-mb-px border-b-2 border-transparent px-0.5 pb-2 font-medium text-ink-2 hover:text-ink",
        "data-[state=active]:border-accent data-[state=active]:text-ink",
      )}
    >
      {children}
    </Tabs.Trigger>
  );
}
