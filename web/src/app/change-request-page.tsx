/** Page of a change request, with the stages that other features show. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { documentQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Document, LoopDetail } from "@/api/types";
import {
  ChangeRequestPage,
  type StageViews,
} from "@/features/change-requests/views/change-request";
import { ChangesStage } from "@/features/changes/views/changes-stage";
import { DocumentSkeleton } from "@/features/documents/views/document-skeleton";
import { DocumentText } from "@/features/documents/views/document-text";
import { PlanStage } from "@/features/documents/views/plan-stage";
import { loopQuery } from "@/features/loops/queries";
import { EvidenceStage, LiveStage } from "@/features/loops/views/stages";
import { Loaded } from "@/ui/loaded";

export function ChangeRequestWithStages() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const stages: StageViews = ({ document, plan, loops, loopId }) => {
    const executed = loops.find(({ command }) => command === "EXECUTE");
    return {
      request: (
        <WithDocument slug={document.slug}>
          {(request) => <DocumentText document={request} />}
        </WithDocument>
      ),
      ...(plan && {
        plan: (
          <WithDocument slug={plan.slug}>
            {(plan) => <PlanStage plan={plan} orgSlug={orgSlug} />}
          </WithDocument>
        ),
      }),
      ...(loopId && { live: <LiveStage key={loopId} loopId={loopId} orgSlug={orgSlug} /> }),
      ...(executed && {
        changes: <WithLoop id={executed.id}>{(loop) => <ChangesStage loop={loop} />}</WithLoop>,
        evidence: <EvidenceStage loopId={executed.id} />,
      }),
    };
  };
  return <ChangeRequestPage stages={stages} />;
}

/** Loads a loop with its large values. */
function WithLoop({ id, children }: { id: string; children: (loop: LoopDetail) => ReactNode }) {
  const query = useQuery(loopQuery(useScope(), id));
  return (
    <Loaded query={query} pending={<DocumentSkeleton />}>
      {children}
    </Loaded>
  );
}

/** Loads a document with its text. */
function WithDocument({
  slug,
  children,
}: {
  slug: string;
  children: (document: Document) => ReactNode;
}) {
  const query = useQuery(documentQuery(useScope(), slug));
  return (
    <Loaded query={query} pending={<DocumentSkeleton />}>
      {children}
    </Loaded>
  );
}
