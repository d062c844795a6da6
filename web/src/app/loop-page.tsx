/** Page of a loop, with the plan, the actions on it, and the changes. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { LoadingChanges } from "@/features/changes/views/loading-changes";
import { DocumentSkeleton } from "@/features/documents/views/document-skeleton";
import { ExecuteButton } from "@/features/documents/views/execute-button";
import { loopQuery } from "@/features/loops/queries";
import { LoopDetailPage } from "@/features/loops/views/loop-detail";
import { SetUpPanel } from "@/features/set-up/views/set-up";
import { isActive, statusFacts } from "@/model/status";
import { changesAddress } from "@/routing/changes-address";
import { lazyPart } from "@/ui/lazy-view";
import { withChange } from "@/routing/search-change";
import { useStateAnnouncement } from "@/ui/announce";

import { NotificationOffer } from "./notification-offer";

const PlanView = lazyPart(() => import("@/features/documents/views/plan-view"), "PlanView");
const ChangesStage = lazyPart(
  () => import("@/features/changes/views/changes-stage"),
  "ChangesStage",
);

const route = getRouteApi("/$orgSlug/loops/$loopId");

export function LoopPage() {
  const { orgSlug, loopId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const scope = useScope();
  const { data: loop } = useSuspenseQuery(loopQuery(scope, loopId));
  const { data: me } = useSuspenseQuery(meQuery(scope));
  useStateAnnouncement(loop.id, loop.status, `Loop: ${statusFacts(loop.status).label}`);
  return (
    <>
      {loop.userId === me.id && isActive(loop.status) && <NotificationOffer />}
      <LoopDetailPage
        planView={({ slug }) => (
          <Suspense fallback={<DocumentSkeleton />}>
            <PlanView slug={slug} orgSlug={orgSlug} />
          </Suspense>
        )}
        changesView={(loop) => (
          <Suspense fallback={<LoadingChanges />}>
            <ChangesStage
              loop={loop}
              address={changesAddress({ ...search })}
              onAddress={(next) =>
                void navigate({
                  search: (current) => withChange(current, next),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </Suspense>
        )}
        setUp={<SetUpPanel />}
        executeButton={({ slug }, repo) => (
          <ExecuteButton slug={slug} repo={repo} orgSlug={orgSlug} />
        )}
      />
    </>
  );
}
