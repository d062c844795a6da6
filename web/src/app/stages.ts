/** The stages of a change request, which are tabs of its page: their code, and the data that each displays. */
import { documentQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ChangeRequestDetail } from "@/api/types";
import type { ChangeRequestTab } from "@/features/change-requests/model/tabs";
import { draftPage } from "@/features/documents/model/draft-page";
import { loadDrafts } from "@/drafts/draft-store";
import { loopQuery } from "@/features/loops/queries";
import { lazyPart, loadView } from "@/ui/lazy-view";

export const DocumentText = lazyPart(
  () => import("@/features/documents/views/document-text"),
  "DocumentText",
);
export const PlanStage = lazyPart(
  () => import("@/features/documents/views/plan-stage"),
  "PlanStage",
);
export const LiveStage = lazyPart(() => import("@/features/loops/views/stages"), "LiveStage");
export const ChangesStage = lazyPart(
  () => import("@/features/changes/views/changes-stage"),
  "ChangesStage",
);
export const EvidenceStage = lazyPart(
  () => import("@/features/loops/views/evidence"),
  "EvidenceStage",
);
export const PullsStage = lazyPart(
  () => import("@/features/pulls/views/pulls-stage"),
  "PullsStage",
);
export const DeployStage = lazyPart(
  () => import("@/features/deploy/views/deploy-stage"),
  "DeployStage",
);

/** The executions of a change request, the newest first. */
export const executionsOf = ({ loops }: ChangeRequestDetail) =>
  loops.filter(({ command }) => command === "EXECUTE");

/** Loads the code and the data of a tab. */
export async function loadStage(
  scope: Scope,
  request: ChangeRequestDetail,
  tab: ChangeRequestTab,
): Promise<void> {
  const { document, plan, loopId } = request;
  const executed = executionsOf(request).at(0);
  switch (tab) {
    case "request":
      await Promise.all([loadView(DocumentText), ensure(documentQuery(scope, document.slug))]);
      break;
    case "plan":
      if (!plan) break;
      await Promise.all([
        loadView(PlanStage),
        ensure(documentQuery(scope, plan.slug)),
        loadDrafts(scope, draftPage(plan.id)),
      ]);
      break;
    case "live":
      if (!loopId) break;
      await Promise.all([loadView(LiveStage), ensure(loopQuery(scope, loopId))]);
      break;
    case "changes":
      if (!executed) break;
      await Promise.all([loadView(ChangesStage), ensure(loopQuery(scope, executed.id))]);
      break;
    case "evidence":
      await loadView(EvidenceStage);
      break;
    case "pull-request":
      await loadView(PullsStage);
      break;
    case "deploy":
      await loadView(DeployStage);
      break;
    case "history":
  }
}
