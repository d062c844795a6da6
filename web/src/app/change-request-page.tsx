/** Page of a change request, with the stages that other features show. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, useEffect } from "react";

import { documentQuery, meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Document, LoopDetail } from "@/api/types";
import { isStoppable } from "@/features/change-requests/model/main-action";
import {
  ChangeRequestPage,
  type StageViews,
} from "@/features/change-requests/views/change-request";
import { LoadingChanges } from "@/features/changes/views/loading-changes";
import { LoadingDeploy } from "@/features/deploy/views/loading-deploy";
import { DocumentSkeleton } from "@/features/documents/views/document-skeleton";
import { loopQuery } from "@/features/loops/queries";
import { CancelButton } from "@/features/loops/views/loop-actions";
import { LoadingStage } from "@/features/loops/views/loading-loop";
import { LoadingPull } from "@/features/pulls/views/loading-pull";
import { SetUpPanel } from "@/features/set-up/views/set-up";
import { isActive } from "@/model/status";
import { changesAddress } from "@/routing/changes-address";
import { logSearch } from "@/routing/log-search";
import { type SearchChange, withChange } from "@/routing/search-change";
import { Loaded } from "@/ui/loaded";

import { NotificationOffer } from "./notification-offer";
import {
  ChangesStage,
  DeployStage,
  DocumentText,
  EvidenceStage,
  executionsOf,
  LiveStage,
  PlanStage,
  PullsStage,
} from "./stages";

export { loadStage } from "./stages";

const route = getRouteApi("/$orgSlug/work/$slug");

export function ChangeRequestWithStages() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery(useScope()));
  const change = (next: SearchChange<typeof search>) =>
    void navigate({
      search: (current) => withChange(current, next),
      replace: true,
      resetScroll: false,
    });
  const stages: StageViews = (changeRequest) => {
    const { document, plan, loops, loopId } = changeRequest;
    const running = loops.find(({ status }) => isActive(status));
    const executions = executionsOf(changeRequest);
    const executed = executions.at(0);
    // The evidence of ended work stays visible while a later loop runs.
    const evident = executions.find(({ status }) => !isActive(status)) ?? executed;
    return {
      request: (
        <WithDocument listed={document}>{(text) => <DocumentText document={text} />}</WithDocument>
      ),
      ...(plan && {
        plan: (
          <WithDocument listed={plan}>
            {(plan) => <PlanStage plan={plan} orgSlug={orgSlug} />}
          </WithDocument>
        ),
      }),
      ...(loopId && {
        live: (
          <Suspense fallback={<LoadingStage />}>
            {running?.userId === me.id && <NotificationOffer />}
            <LiveStage
              key={loopId}
              loopId={loopId}
              orgSlug={orgSlug}
              canCancel={!isStoppable(changeRequest)}
              setUp={<SetUpPanel />}
              search={logSearch({ ...search })}
              onSearch={(next) => change({ text: undefined, about: undefined, ...next })}
            />
          </Suspense>
        ),
      }),
      ...(executed && {
        changes: (
          <WithLoop id={executed.id}>
            {(loop) => (
              <ChangesStage
                loop={loop}
                address={changesAddress({ ...search })}
                onAddress={change}
              />
            )}
          </WithLoop>
        ),
        evidence: (
          <Suspense fallback={<LoadingStage />}>
            <EvidenceStage request={changeRequest} executed={(evident ?? executed).id} />
          </Suspense>
        ),
      }),
      "pull-request": (
        <Suspense fallback={<LoadingPull />}>
          <PullsStage request={changeRequest} orgSlug={orgSlug} />
        </Suspense>
      ),
      deploy: (
        <Suspense fallback={<LoadingDeploy />}>
          <DeployStage key={executed?.id} loop={executed} />
        </Suspense>
      ),
    };
  };
  return (
    <ChangeRequestPage
      stages={stages}
      stopButton={(loopId) => <CancelButton loopId={loopId} verb="Stop" />}
    />
  );
}

/** Loads a loop with its large values, for its changes. */
function WithLoop({ id, children }: { id: string; children: (loop: LoopDetail) => ReactNode }) {
  const query = useQuery(loopQuery(useScope(), id));
  return (
    <Suspense fallback={<LoadingChanges />}>
      <Loaded query={query} pending={<LoadingChanges />}>
        {children}
      </Loaded>
    </Suspense>
  );
}

/** Loads a document with its text, again when the change request lists a later version of it. */
function WithDocument({
  listed: { slug, currentVersion },
  children,
}: {
  listed: Pick<Document, "slug" | "currentVersion">;
  children: (document: Document) => ReactNode;
}) {
  const query = useQuery(documentQuery(useScope(), slug));
  const { data, refetch } = query;
  const isOutdated = data !== undefined && data.currentVersion < currentVersion;
  useEffect(() => {
    if (isOutdated) void refetch();
  }, [isOutdated, refetch]);
  return (
    <Suspense fallback={<DocumentSkeleton />}>
      <Loaded query={query} pending={<DocumentSkeleton />}>
        {children}
      </Loaded>
    </Suspense>
  );
}
