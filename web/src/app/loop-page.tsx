/** Page of a loop, with the plan, the actions on it, and the changes. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { LoopDetail } from "@/api/types";
import { ChangesStage } from "@/features/changes/views/changes-stage";
import { ExecuteButton } from "@/features/documents/views/execute-button";
import { PlanView } from "@/features/documents/views/plan-view";
import { loopQuery } from "@/features/loops/queries";
import { LoopDetailPage } from "@/features/loops/views/loop-detail";
import { isActive, statusFacts } from "@/model/status";
import { announce } from "@/ui/announce";

import { NotificationOffer } from "./notification-offer";

export function LoopPage() {
  const { orgSlug, loopId } = useParams({ from: "/$orgSlug/loops/$loopId" });
  const scope = useScope();
  const { data: loop } = useSuspenseQuery(loopQuery(scope, loopId));
  const { data: me } = useSuspenseQuery(meQuery(scope));
  useStatusAnnouncement(loop);
  return (
    <>
      {loop.userId === me.id && isActive(loop.status) && <NotificationOffer />}
      <LoopDetailPage
        planView={({ slug }) => <PlanView slug={slug} orgSlug={orgSlug} />}
        changesView={(loop) => <ChangesStage loop={loop} />}
        executeButton={({ slug }, repo) => (
          <ExecuteButton slug={slug} repo={repo} orgSlug={orgSlug} />
        )}
      />
    </>
  );
}

/** Announces a new status of the loop that is displayed. */
function useStatusAnnouncement({ id, status }: LoopDetail): void {
  const displayed = useRef({ id, status });
  useEffect(() => {
    const before = displayed.current;
    displayed.current = { id, status };
    if (before.id === id && before.status !== status)
      announce(`Loop: ${statusFacts(status).label}`);
  }, [id, status]);
}
