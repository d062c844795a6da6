/** The standing of a pull request in words. */
import type {
  MergeMethod,
  MergeObstacle,
  PullRequest,
  PullRequestCheck,
  PullRequestStanding,
} from "@/api/types";
import type { Tone } from "@/model/status";

interface Words {
  label: string;
  tone: Tone;
}

export function stateWords({
  state,
  isDraft,
}: Pick<PullRequestStanding, "state" | "isDraft">): Words {
  if (state === "merged") return { label: "Merged", tone: "ok" };
  if (state === "closed") return { label: "Closed", tone: "idle" };
  return isDraft ? { label: "Draft", tone: "idle" } : { label: "Open", tone: "run" };
}

export const REVIEW_WORDS: Record<NonNullable<PullRequestStanding["reviewDecision"]>, Words> = {
  approved: { label: "Approved", tone: "ok" },
  changes_requested: { label: "Changes requested", tone: "warn" },
  review_required: { label: "Review required", tone: "idle" },
};

export const VERDICT_WORDS: Record<PullRequestStanding["reviewers"][number]["verdict"], Words> = {
  approved: { label: "approved", tone: "ok" },
  changes_requested: { label: "requested changes", tone: "warn" },
  commented: { label: "commented", tone: "idle" },
  dismissed: { label: "was dismissed", tone: "idle" },
};

export const CHECK_WORDS: Record<PullRequestCheck["outcome"], Words> = {
  pending: { label: "running", tone: "run" },
  passed: { label: "passed", tone: "ok" },
  failed: { label: "failed", tone: "bad" },
  skipped: { label: "skipped", tone: "idle" },
};

// The worst outcome first: it is what the summary states.
const ORDER = ["failed", "pending", "passed", "skipped"] as const;

/** Summarises checks by their worst outcome: "2 of 5 checks failed". `undefined` without checks. */
export function checksSummary(checks: readonly PullRequestCheck[]): Words | undefined {
  const outcome = ORDER.find((outcome) => checks.some((check) => check.outcome === outcome));
  if (outcome === undefined) return undefined;
  const matching = checks.filter((check) => check.outcome === outcome).length;
  const { label, tone } = CHECK_WORDS[outcome];
  const number = matching === checks.length ? "" : `${matching} of `;
  const noun = checks.length === 1 ? "check" : "checks";
  return { label: `${number}${checks.length} ${noun} ${label}`, tone };
}

/** Checks in the order in which they need a person. */
export const byUrgency = (checks: readonly PullRequestCheck[]): PullRequestCheck[] =>
  checks.toSorted((one, other) => ORDER.indexOf(one.outcome) - ORDER.indexOf(other.outcome));

/** Why a pull request cannot be merged, and what to do. Undefined if its state says it. */
export const OBSTACLES: Record<MergeObstacle, string | undefined> = {
  not_open: undefined,
  permission:
    "The account of the machine cannot merge into this repository. Request write access from one of its administrators.",
  draft: "This is a draft. Mark it as ready for review at the code host.",
  conflicts:
    "It conflicts with the base branch. Start a loop that resolves the conflicts, or resolve them at the code host.",
  behind: "The base branch has newer commits, which have to be merged first. Update the branch.",
  blocked:
    "The rules of the base branch are not met. Reviews or checks that it requires are missing.",
  unknown: "The code host has not determined yet whether it can be merged.",
};

/** Text of a request for a loop that resolves the conflicts of a pull request. */
export const conflictsRequest = ({
  fullName,
  number,
  baseBranch,
}: Pick<PullRequest, "fullName" | "number" | "baseBranch">): string =>
  `Pull request ${fullName}#${number} conflicts with its base branch. Fetch the branch \`${baseBranch}\`, merge it into ` +
  "the branch of this work and resolve the conflicts, so that the changes of both branches are kept. Commit the merge: one " +
  "that has not finished is not delivered. Then run the tests.";

export const METHODS: Record<MergeMethod, { name: string; effect: string }> = {
  merge: { name: "Merge commit", effect: "All commits, and a commit that merges them" },
  squash: { name: "Squash", effect: "One commit with all changes" },
  rebase: { name: "Rebase", effect: "Each commit on top of the base branch" },
};

const READY_POLL_MS = 60_000;
const CHECKS_POLL_MS = 15_000;
const UNKNOWN_POLL_MS = 3_000;

/** Returns the interval in which a displayed pull request is read; false when it no longer changes. */
export function pollInterval(standing: PullRequestStanding | undefined): number | false {
  if (!standing) return READY_POLL_MS;
  if (standing.state !== "open") return false;
  if (standing.mergeObstacle === "unknown") return UNKNOWN_POLL_MS;
  return standing.checks.some(({ outcome }) => outcome === "pending")
    ? CHECKS_POLL_MS
    : READY_POLL_MS;
}
