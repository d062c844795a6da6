/** Tabs of the page of a change request, as in its address. */
import type { ChangeRequest, ChangeState } from "@/api/types";

export const TABS = [
  "request",
  "plan",
  "live",
  "changes",
  "evidence",
  "pull-request",
  "deploy",
  "history",
] as const;

export type ChangeRequestTab = (typeof TABS)[number];

export const TAB_NAMES: Record<ChangeRequestTab, string> = {
  request: "Request",
  plan: "Plan",
  live: "Live",
  changes: "Changes",
  evidence: "Evidence",
  "pull-request": "Pull request",
  deploy: "Deploy",
  history: "History",
};

const TABS_OF_STATES: Record<ChangeState, ChangeRequestTab> = {
  not_started: "request",
  starting: "live",
  machine_offline: "live",
  waiting_for_approval: "live",
  queued: "live",
  waiting_for_limit: "live",
  running: "live",
  stalled: "live",
  question: "live",
  plan_ready: "plan",
  changes_ready: "changes",
  comments_unanswered: "changes",
  findings_open: "changes",
  changes_requested: "changes",
  reviewed: "evidence",
  pull_request_open: "pull-request",
  checks_failing: "pull-request",
  conflicting: "pull-request",
  merged: "pull-request",
  closed: "pull-request",
  done: "evidence",
  blocked: "live",
  limit_reached: "live",
  delivery_failed: "evidence",
  failed: "live",
  stopped: "live",
};

/** Returns the tab that shows what the state is about. */
export function tabOf({ state, stage }: Pick<ChangeRequest, "state" | "stage">): ChangeRequestTab {
  // A newer server may know a state that this page does not.
  const tab = (TABS_OF_STATES as Partial<Record<string, ChangeRequestTab>>)[state] ?? "live";
  if (state === "changes_requested" && stage === "pull_request") return "pull-request";
  return tab === "evidence" && stage === "request" ? "request" : tab;
}
