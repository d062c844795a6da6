/** Page of a change request, with the stages that other features show. */
import { useParams } from "@tanstack/react-router";

import {
  ChangeRequestPage,
  type StageViews,
} from "@/features/change-requests/views/change-request";
import { ExecuteButton } from "@/features/documents/views/execute-button";
import { PlanView } from "@/features/documents/views/plan-view";
import { EvidenceStage, LiveStage } from "@/features/loops/views/stages";

export function ChangeRequestWithStages() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const stages: StageViews = ({ document, plan, loops, loopId }) => {
    const executed = loops.find(({ command }) => command === "EXECUTE");
    return {
      request: <PlanView slug={document.slug} orgSlug={orgSlug} />,
      ...(plan && {
        plan: (
          <div className="space-y-4">
            <ExecuteButton plan={plan} repo={plan.repo} orgSlug={orgSlug} />
            <PlanView slug={plan.slug} orgSlug={orgSlug} />
          </div>
        ),
      }),
      ...(loopId && { live: <LiveStage key={loopId} loopId={loopId} orgSlug={orgSlug} /> }),
      ...(executed && { evidence: <EvidenceStage loopId={executed.id} /> }),
    };
  };
  return <ChangeRequestPage stages={stages} />;
}
