/** Texts of the history of a change request. */
import type { HistoryEntry, LoopCommand } from "@/api/types";
import { humanise, statusFacts } from "@/model/status";

/** What a person decides by starting a loop. */
const DECISIONS: Partial<Record<LoopCommand, string>> = {
  PLAN: "requested a plan",
  REQUEST_CHANGES: "requested changes",
  EXECUTE: "approved the plan and started Execute",
  CODE_REVIEW: "requested a review",
};

const REASONS = {
  continuation: "continued the work",
  review: "started a loop that answers the review",
  approval: "started the delivery of the approved changes",
} as const;

const REVIEWS = {
  approve: "approved the changes",
  request_changes: "requested changes to the code",
  comment: "commented on the changes",
} as const;

const OUTCOMES = {
  approved: "approved the loop on the machine",
  denied: "denied the loop on the machine",
  expired: "The approval of the loop expired",
  outdated: "approved the loop, which had changed since it was shown",
} as const;

const DELIVERIES = {
  pending: "waiting for delivery",
  delivered: "delivered",
  not_delivered: "not delivered",
} as const;

/** Returns what happened, after the name of who did it if it is known. */
export function historyText(entry: HistoryEntry): string {
  switch (entry.kind) {
    case "version": {
      const noun = entry.document.type === "IMPLEMENTATION_PLAN" ? "plan" : "request";
      return entry.version === 1
        ? `wrote the ${noun}`
        : `wrote version ${entry.version} of the ${noun}`;
    }
    case "loop_started":
      if (entry.reason !== "request") return REASONS[entry.reason];
      return DECISIONS[entry.command] ?? `started ${humanise(entry.command)}`;
    case "loop_ended":
      return `${humanise(entry.command)}: ${statusFacts(entry.status).label.toLowerCase()}`;
    case "loop_cancelled":
      return "cancelled the loop";
    case "approval_requested":
      return "The machine asked its owner to approve the loop";
    case "approval_decided":
      return OUTCOMES[entry.outcome];
    case "question":
      return "The assistant asked a question";
    case "message":
      return `sent a message to the loop (${DELIVERIES[entry.delivery]})`;
    case "changes_reviewed":
      return `${REVIEWS[entry.review]}${commentsText(entry.comments)}`;
    case "pull_request":
      return `Pull request ${entry.fullName}#${entry.number} was opened`;
    case "pull_request_settled": {
      const by = entry.mergedBy == null ? "" : ` by ${entry.mergedBy}`;
      return `Pull request ${entry.fullName}#${entry.number} was ${entry.state}${by}`;
    }
    case "changed":
      return "changed the document";
    case "archived":
      return "archived the change request";
    case "unarchived":
      return "returned the change request to the lists";
    case "deleted":
      return "deleted the change request";
    case "restored":
      return "undid the deletion";
  }
}

const commentsText = (count: number): string =>
  count === 0 ? "" : ` (${count} ${count === 1 ? "comment" : "comments"})`;

/** Returns the loop of an entry, if it has one. */
export function loopOf(entry: HistoryEntry): string | undefined {
  switch (entry.kind) {
    case "version":
    case "loop_started":
    case "loop_ended":
    case "loop_cancelled":
    case "approval_requested":
    case "approval_decided":
    case "question":
    case "message":
    case "changes_reviewed":
      return entry.loopId ?? undefined;
    default:
      return undefined;
  }
}

/** Returns the message of a person or program, if there is one. */
export function messageOf(entry: HistoryEntry): string | undefined {
  switch (entry.kind) {
    case "loop_started":
    case "approval_requested":
    case "question":
      return entry.message ?? undefined;
    case "changes_reviewed":
      return entry.summary ?? undefined;
    case "message":
      return [entry.text, entry.reason && `Not delivered: ${entry.reason}`]
        .filter(Boolean)
        .join("\n");
    default:
      return undefined;
  }
}

/** Returns who did it. Undefined for programs, which the text names. */
export function actorOf({ kind, user }: HistoryEntry): string | undefined {
  if (kind === "pull_request" || !user) return undefined;
  return [user.firstName, user.lastName].filter(Boolean).join(" ") || user.email;
}
