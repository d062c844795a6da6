/** Results of a loop, one entry per repository. */
import type { LoopDetail, ResultEntry } from "@/api/types";

/** Returns the reported entries, or an entry derived from the loop's own pull request. */
export function resultEntries(loop: LoopDetail): ResultEntry[] {
  if (loop.results && loop.results.length > 0) return loop.results;
  if (!loop.repo || loop.command !== "EXECUTE" || loop.status !== "COMPLETED") return [];
  const { fullName, branch } = loop.repo;
  if (loop.prUrl && loop.prNumber != null && loop.branchName) {
    return [
      {
        status: "success",
        fullName,
        prUrl: loop.prUrl,
        prNumber: loop.prNumber,
        branchName: loop.branchName,
        baseBranch: branch ?? "",
        hasChanges: true,
      },
    ];
  }
  return [{ status: "skipped", fullName, reason: "no_changes" }];
}

/** Returns the verdict of a completed review. `undefined` for other loops. */
export function reviewOutcome(
  loop: LoopDetail,
): { title: string; reason?: string | undefined } | undefined {
  if (loop.command !== "CODE_REVIEW" || loop.status !== "COMPLETED") return undefined;
  const { verdict } = loop.metadata as { verdict?: { verdict: string; reason?: string } | null };
  if (!verdict) return { title: "The review did not complete" };
  const label = VERDICTS[verdict.verdict] ?? verdict.verdict;
  return { title: `Review verdict: ${label}`, reason: verdict.reason };
}

const VERDICTS: Record<string, string> = {
  approve: "approved",
  needs_attention: "needs attention",
  decline: "declined",
};

const REASONS: Record<string, string> = {
  no_changes: "The loop changed no files.",
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}
