/** One row a repository, whichever way the loop reported its outcome. */
import type { LoopDetail, ResultEntry } from "@/api/types";

/** The entries of a loop: those it reported, else one made from the loop's own fields. */
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

/** What a review came to, in a sentence and the reviewer's reason; nothing for other loops. */
export function reviewOutcome(
  loop: LoopDetail,
): { title: string; reason?: string | undefined } | undefined {
  if (loop.command !== "CODE_REVIEW" || loop.status !== "COMPLETED") return undefined;
  const { verdict } = loop.metadata as { verdict?: { verdict: string; reason?: string } | null };
  if (!verdict) return { title: "The review did not complete" };
  const said = VERDICTS[verdict.verdict] ?? verdict.verdict;
  return { title: `Verdict of the review: ${said}`, reason: verdict.reason };
}

const VERDICTS: Record<string, string> = {
  approve: "approved",
  needs_attention: "needs attention",
  decline: "declined",
};

const REASONS: Record<string, string> = {
  no_changes: "Nothing had to change.",
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

/** The page of a pull request. A test code host has it at the same path. */
export function pullRequestHref(url: string, codeHostUrl?: string | null): string | undefined {
  const href = safeHref(url);
  if (!href || !codeHostUrl) return href;
  return href.replace(/^https:\/\/github\.com(?=\/)/, codeHostUrl);
}

/** Only web addresses become links; anything else in a result stays text. */
export function safeHref(url: string): string | undefined {
  try {
    const { protocol } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? url : undefined;
  } catch {
    return undefined;
  }
}
