/** What an execution has left open, from the plan that it uploaded. A model writes the plan: any part may be missing. */
import type { LoopDetail } from "@/api/types";

export interface OpenPart {
  id: string;
  text: string;
}

/** Returns the tasks that the plan lists as pending. */
export const openTasks = (loop: Pick<LoopDetail, "uploadedArtifacts">): OpenPart[] =>
  partsOf(loop, "pendingTasks", "description");

/** Returns the open questions for which tasks wait. */
export const blockingQuestions = (
  loop: Pick<LoopDetail, "uploadedArtifacts" | "error">,
): OpenPart[] =>
  loop.error?.result?.subcode === "PENDING_TASKS_BLOCKED_BY_QUESTIONS"
    ? partsOf(loop, "openQuestions", "question")
    : [];

function partsOf(
  { uploadedArtifacts }: Pick<LoopDetail, "uploadedArtifacts">,
  list: string,
  text: string,
): OpenPart[] {
  const plan = uploadedArtifacts?.plan as { raw?: Record<string, unknown> } | null | undefined;
  const parts = plan?.raw?.[list];
  if (!Array.isArray(parts)) return [];
  return (parts as (Record<string, unknown> | null)[]).flatMap((part) => {
    const { id, [text]: own } = part ?? {};
    return typeof id === "string" ? [{ id, text: typeof own === "string" ? own : "" }] : [];
  });
}
