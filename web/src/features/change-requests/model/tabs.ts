/** Tabs of the page of a change request, as in its address. */
import type { ChangeRequest } from "@/api/types";

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

/** Returns the tab that shows what the state is about. */
export function tabOf({ state, stage }: Pick<ChangeRequest, "state" | "stage">): ChangeRequestTab {
  switch (state) {
    case "not_started":
      return "request";
    case "plan_ready":
      return "plan";
    case "pull_request_open":
    case "checks_failing":
    case "conflicting":
    case "merged":
    case "closed":
      return "pull-request";
    case "changes_ready":
    case "comments_unanswered":
    case "findings_open":
      return "changes";
    case "changes_requested":
      return stage === "pull_request" ? "pull-request" : "changes";
    case "reviewed":
    case "done":
    case "delivery_failed":
      return stage === "request" ? "request" : "evidence";
    default:
      return "live";
  }
}
