/** Page of a loop, with the plan and the actions on it. */
import { useParams } from "@tanstack/react-router";

import { ExecuteButton } from "@/features/documents/views/execute-button";
import { PlanView } from "@/features/documents/views/plan-view";
import { LoopDetailPage } from "@/features/loops/views/loop-detail";

export function LoopPage() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  return (
    <LoopDetailPage
      planView={({ slug }) => <PlanView slug={slug} orgSlug={orgSlug} />}
      executeButton={(plan, repo) => <ExecuteButton plan={plan} repo={repo} orgSlug={orgSlug} />}
    />
  );
}
