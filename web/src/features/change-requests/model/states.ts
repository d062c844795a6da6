/** Display of the states of change requests, and of what they need from a person. */
import type {
  Attention,
  ChangeRequest,
  ChangeStage,
  ChangeState,
  DeploymentState,
} from "@/api/types";
import { humanise, type Tone } from "@/model/status";

/** In the order of the work. */
export const STAGE_NAMES: Record<ChangeStage, string> = {
  request: "Request",
  plan: "Plan",
  execute: "Execute",
  review: "Review",
  pull_request: "Pull request",
  deploy: "Deploy",
};

export const STAGES = Object.keys(STAGE_NAMES) as ChangeStage[];

interface StateFacts {
  label: string;
  tone: Tone;
  /** Whether the state changes without a person. */
  isActive?: boolean;
}

const FACTS: Record<ChangeState, StateFacts> = {
  not_started: { label: "Not started", tone: "idle" },
  starting: { label: "Starting", tone: "run", isActive: true },
  machine_offline: { label: "Machine offline", tone: "warn", isActive: true },
  waiting_for_approval: { label: "Waiting for approval", tone: "warn", isActive: true },
  queued: { label: "Queued", tone: "idle", isActive: true },
  waiting_for_limit: { label: "Waiting for usage limit", tone: "warn", isActive: true },
  running: { label: "Running", tone: "run", isActive: true },
  stalled: { label: "Stalled", tone: "warn", isActive: true },
  question: { label: "Question", tone: "warn" },
  plan_ready: { label: "Plan ready", tone: "ok" },
  changes_ready: { label: "Changes ready", tone: "ok" },
  comments_unanswered: { label: "Comments not answered", tone: "warn" },
  findings_open: { label: "Findings to decide", tone: "warn" },
  changes_requested: { label: "Changes requested", tone: "warn" },
  reviewed: { label: "Review approved", tone: "ok" },
  pull_request_open: { label: "Pull request opened", tone: "ok" },
  checks_failing: { label: "Checks failing", tone: "bad" },
  conflicting: { label: "Conflicts", tone: "bad" },
  merged: { label: "Merged", tone: "ok" },
  closed: { label: "Closed", tone: "idle" },
  done: { label: "Done", tone: "ok" },
  blocked: { label: "Blocked by questions", tone: "warn" },
  limit_reached: { label: "Limit reached", tone: "warn" },
  delivery_failed: { label: "Not delivered", tone: "bad" },
  failed: { label: "Failed", tone: "bad" },
  stopped: { label: "Stopped", tone: "idle" },
};

export const STATES = Object.keys(FACTS) as ChangeState[];

export const stateFacts = (state: ChangeState): StateFacts =>
  // A newer server may know a state that this page does not.
  (FACTS as Partial<Record<string, StateFacts>>)[state] ?? { label: humanise(state), tone: "idle" };

export const isActiveState = (state: ChangeState): boolean => stateFacts(state).isActive ?? false;

const time = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });

/** Returns the label of a state with its details: "Queued (2 of 4)", "Plan ready · 2 questions", "2 checks failing". */
export function stateLabel({ state, details }: Pick<ChangeRequest, "state" | "details">): string {
  const { label } = stateFacts(state);
  const { activity, failingChecks, findings, questions } = details;
  if (activity?.kind === "queue") return `${label} (${activity.place} of ${activity.waiting})`;
  if (activity?.kind === "usage_limit" && activity.until) {
    const until = new Date(activity.until);
    if (!Number.isNaN(until.getTime())) return `${label} until ${time.format(until)}`;
  }
  if (failingChecks) return `${failingChecks} ${noun(failingChecks, "check")} failing`;
  if (findings) return `${findings} ${noun(findings, "finding")} to decide`;
  if (questions) return `${label} · ${questions} ${noun(questions, "question")}`;
  return label;
}

/** Returns the progress of an execution: "3 of 7 tasks". */
export const tasksText = ({ completed, total }: NonNullable<ChangeRequest["tasks"]>): string =>
  `${completed} of ${total} ${noun(total, "task")}`;

const noun = (count: number, singular: string): string => (count === 1 ? singular : `${singular}s`);

/** Texts about the deployment of the changes on a machine. */
export const DEPLOYMENT_TEXTS: Record<DeploymentState, string> = {
  starting: "Deployment starting",
  running: "Deployed",
  failed: "Deployment failed",
};

/** What a person has to do: a sentence, and the label of the link that leads there. */
export interface Need {
  text: string;
  action: string;
}

const NEEDS: Record<Attention, Need> = {
  plan: {
    text: "The plan is ready. Read it, then execute it or request changes.",
    action: "Read the plan",
  },
  question: {
    text: "The assistant has a question and continues with your answer.",
    action: "Answer",
  },
  blocked: {
    text: "Some tasks wait for answers to open questions of the plan.",
    action: "Answer",
  },
  approval: { text: "The machine holds the loop until its owner approves it.", action: "Approve" },
  delivery: {
    text: "The work is done, but was not delivered completely.",
    action: "See what is missing",
  },
  findings: {
    text: "The review found problems. Decide which of them to fix.",
    action: "See findings",
  },
  changes: {
    text: "The changes are pushed and wait for your approval. Then the pull request is opened.",
    action: "Review the changes",
  },
  checks: {
    text: "A check of the pull request has failed.",
    action: "See the checks",
  },
  conflicts: {
    text: "The pull request conflicts with its base branch.",
    action: "See the conflicts",
  },
  comments: {
    text: "Comments wait for an answer: on the pull request, or those that the last loop did not answer.",
    action: "Read the comments",
  },
  limit: { text: "The loop stopped at a limit. Continue it, or stop here.", action: "Decide" },
  machine_offline: {
    text: "The loop cannot start, because its machine is offline.",
    action: "See the machine",
  },
  failure: { text: "The loop failed.", action: "See the reason" },
};

export const needOf = (attention: Attention): Need =>
  // As for states.
  (NEEDS as Partial<Record<string, Need>>)[attention] ?? {
    text: `${humanise(attention)}.`,
    action: "See the reason",
  };
