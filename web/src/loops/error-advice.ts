/**
 * Turns a loop's error (code, subcode, category, hook) into a title, an explanation and next steps.
 *
 * The most specific rule wins: subcode, then category with hook, then code, then a generic text.
 */
import type { LoopError } from "@/api/types";

import { humanise } from "./status";

export interface Advice {
  title: string;
  explanation: string;
  steps: string[];
}

type Write = (fill: Fill) => Advice;

/** Reads a template variable from the error's details, else says it in general words. */
type Fill = (name: Variable, fallback: string) => string;
type Variable =
  | "action"
  | "binaryName"
  | "branch"
  | "exitCode"
  | "machineName"
  | "message"
  | "repoFullName"
  | "repoPath";

const signIn: Advice = {
  title: "The assistant is not signed in",
  explanation: "The assistant refused to work because its account could not be used.",
  steps: [
    "Open a terminal on the desktop and start the assistant once; sign in when it asks.",
    "If you use an API key, check that it is valid and has credit.",
    "Run the loop again.",
  ],
};

const contextLimit: Advice = {
  title: "The work outgrew the assistant's memory",
  explanation: "The conversation became longer than the model's context allows.",
  steps: [
    "Split the wish into smaller loops.",
    "Name the files that matter, so that less has to be read.",
  ],
};

const spendingLimit: Advice = {
  title: "The loop used up its spending limit",
  explanation:
    "The assistant was not done when the limit was reached. What it did is kept; work on code is committed on the loop's branch, and not pushed.",
  steps: [
    "Run the loop again: it goes on from the work already done, with a new budget.",
    "Raise `max_spend_usd` in the desktop's `settings.toml` if the work needs more.",
  ],
};

const SUBCODES: Record<string, Advice> = {
  ASSISTANT_AUTH_CHALLENGE: signIn,
  ASSISTANT_CONTEXT_LIMIT: contextLimit,
  ASSISTANT_RATE_LIMIT: {
    title: "The assistant's rate limit was reached",
    explanation:
      "The model's provider asked Loopgate to slow down and the limit did not lift in time.",
    steps: ["Wait until the limit resets (often within the hour).", "Run the loop again."],
  },
  ASSISTANT_ERROR: {
    title: "The assistant reported an error",
    explanation: "It ended its run with an error instead of an answer. Its own words stand below.",
    steps: ["Run the loop again; a model service that was down may be back."],
  },
  ASSISTANT_UNKNOWN_SKILL: {
    title: "The assistant does not know a Loopgate command",
    explanation: "Loopgate's plugin was not loaded, or it is from another version.",
    steps: ["Restart Loopgate, which unpacks its plugins anew.", "Run the loop again."],
  },
  INVALID_PLAN: {
    title: "The assistant left a plan that cannot be read",
    explanation: "It was asked twice to put the plan right. What is wrong with it stands below.",
    steps: ["Make the plan again."],
  },
  ITERATION_LIMIT: {
    title: "The loop used up its iterations",
    explanation:
      "The assistant was not done when the limit was reached. What it did is committed on the loop's branch, and not pushed.",
    steps: ["Run Execute again: it goes on from the work already done."],
  },
  SPENDING_LIMIT: spendingLimit,
  BAD_PLAN_STATE: {
    title: "The plan cannot be read",
    explanation: "The plan file in the worktree is missing or damaged.",
    steps: ["Make the plan again, then execute it."],
  },
  PENDING_TASKS_AT_COMPLETION: {
    title: "The assistant stopped before the plan was done",
    explanation: "Tasks of the plan were still open when the assistant ended.",
    steps: ["Run Execute again: it goes on from the work already done."],
  },
  PENDING_TASKS_BLOCKED_BY_QUESTIONS: {
    title: "Open questions block the plan",
    explanation: "The assistant needs answers before it can finish the remaining tasks.",
    steps: ["Read the open questions in the plan.", "Answer them in a new wish, then plan again."],
  },
};

const CATEGORIES: Record<string, Write> = {
  compute_target_offline: (fill) => ({
    title: "The desktop is offline",
    explanation: `${fill("machineName", "The chosen desktop")} is not connected.`,
    steps: ["Start Loopgate on that machine with `loopgate up`.", "Run the loop again."],
  }),
  compute_target_unavailable: () => ({
    title: "No desktop is online",
    explanation: "Loops run on a desktop, and none is connected at present.",
    steps: ["Start Loopgate on your machine with `loopgate up`.", "Run the loop again."],
  }),
  git_command_failed: (fill) => ({
    title: "A git command failed",
    explanation: `Git could not ${fill("action", "finish its work")} in ${fill("repoFullName", "the repository")}.`,
    steps: [
      "Look at the technical details for what git said.",
      `Check that ${fill("repoPath", "the local clone")} is in order, then run the loop again.`,
    ],
  }),
  git_push_auth: (fill) => ({
    title: "The push was refused",
    explanation: `Your credentials may not push to ${fill("repoFullName", "the repository")}.`,
    steps: ["Run `gh auth login` on the desktop.", "Check that you may write to the repository."],
  }),
  repo_not_allowed: (fill) => ({
    title: "The repository is not allowed",
    explanation: `${fill("repoFullName", "The repository")} is not one that loops may touch.`,
    steps: [
      "On your own machine: move the clone below the sandbox directory, or choose another sandbox with `--sandbox`, and start Loopgate again.",
      "In a team: ask an administrator to open the repository.",
    ],
  }),
  repo_not_found: (fill) => ({
    title: "The repository was not found",
    explanation: `Loopgate has no clone of ${fill("repoFullName", "the repository")} and could not make one.`,
    steps: [
      "Check the spelling of owner and repository.",
      "Clone it below the sandbox directory and run the loop again.",
    ],
  }),
  spawn_failed: (fill) => ({
    title: "A program could not be started",
    explanation: `${fill("binaryName", "A program that the loop needs")} did not start.`,
    steps: ["Check that it is installed and executable.", "Run the loop again."],
  }),
};

const HOOKS: Record<string, Advice> = {
  format: hookAdvice("formatting", "Run the formatter in the worktree and commit the result."),
  lint: hookAdvice("lint", "Fix the lint findings in the technical details."),
  test: hookAdvice("test", "Fix the failing tests in the technical details."),
  typecheck: hookAdvice("type check", "Fix the type errors in the technical details."),
  unknown: hookAdvice("pre-commit", "Read in the technical details what the hook said."),
};

function hookAdvice(name: string, step: string): Advice {
  return {
    title: `The ${name} hook refused the commit`,
    explanation: "The changes are still in the worktree; only the commit was refused.",
    steps: [step, "Run Execute again."],
  };
}

const CODES: Record<string, Write> = {
  AUTH_CHALLENGE: () => signIn,
  CONTEXT_LIMIT_EXCEEDED: () => contextLimit,
  ARTIFACT_WRITE_FAILED: () => ({
    title: "A file for the loop could not be written",
    explanation: "The worktree or its disk refused the loop's files.",
    steps: ["Check free space and permissions of the worktree.", "Run the loop again."],
  }),
  BINARY_NOT_FOUND: (fill) => ({
    title: `${fill("binaryName", "A program")} was not found`,
    explanation:
      "The loop needs this program. Loopgate looked through your login shell's PATH and the settings.",
    steps: [
      `Install ${fill("binaryName", "it")} on the desktop, or name its path under \`binary_paths\` in its \`settings.toml\`.`,
      "Restart Loopgate, so that it sees a changed PATH.",
    ],
  }),
  BRANCH_CREATE_FAILED: (fill) => ({
    title: "The branch could not be created",
    explanation: `Git could not make a worktree from ${fill("branch", "the chosen branch")}.`,
    steps: [
      "Check that the branch exists at the remote.",
      "Run the loop again with another branch.",
    ],
  }),
  CANCELLED: () => ({
    title: "The loop was stopped",
    explanation: "Somebody stopped it. Work that was not committed stays in the worktree.",
    steps: ["Run the loop again when you are ready."],
  }),
  GIT_CLONE_FAILED: (fill) => ({
    title: "The repository could not be cloned",
    explanation: `Cloning ${fill("repoFullName", "the repository")} failed or took longer than two minutes.`,
    steps: [
      "Check that `gh auth status` succeeds on the desktop.",
      "Clone it by hand below the sandbox directory, then run the loop again.",
    ],
  }),
  NO_WORK_PRODUCED: () => ({
    title: "The loop ended without doing anything",
    explanation: "The assistant ended at once and used no tokens.",
    steps: ["Look at the output for the reason.", "Check that the assistant works in a terminal."],
  }),
  NEW_TEST_FAILURES: (fill) => ({
    title: "Tests fail that did not fail before",
    explanation: fill(
      "message",
      "The work is pushed, and its pull request is open. The repository's own tests fail with it.",
    ),
    steps: [
      "Look at the failing tests under Result, and at the log that is named there.",
      "Execute the plan again: the next loop goes on with this work.",
    ],
  }),
  PLAN_STATE_UNAVAILABLE: () => ({
    title: "The plan's state is gone",
    explanation: "The loop that made the plan left nothing that Execute could continue from.",
    steps: ["Make the plan again, then execute it."],
  }),
  PRE_RUN_VALIDATION_FAILED: (fill) => ({
    title: "The loop could not start",
    explanation: fill("message", "A check before the start failed."),
    steps: ["Correct what this names, if it names anything.", "Run the loop again."],
  }),
  PROCESS_FAILED: (fill) => ({
    title: "The assistant ended with an error",
    explanation: `Its process ended with exit code ${fill("exitCode", "other than 0")}.`,
    steps: ["Look at the last lines of the output.", "Run the loop again."],
  }),
  PROCESS_STOPPED: () => ({
    title: "The loop's process ended early",
    explanation: "The process disappeared before it reported a result, for example in a restart.",
    steps: ["Run the loop again: it goes on from the work in the worktree."],
  }),
  REPO_NOT_ALLOWED: (fill) => CATEGORIES.repo_not_allowed?.(fill) ?? generic("REPO_NOT_ALLOWED"),
  REPO_NOT_FOUND: (fill) => CATEGORIES.repo_not_found?.(fill) ?? generic("REPO_NOT_FOUND"),
  REPO_NOT_IN_PROJECT_POOL: (fill) => ({
    title: "The repository is not part of this project",
    explanation: `${fill("repoFullName", "It")} is missing from the team's list of repositories.`,
    steps: ["Ask an administrator to add it."],
  }),
  SPENDING_LIMIT: () => spendingLimit,
  SPAWN_FAILED: (fill) => CATEGORIES.spawn_failed?.(fill) ?? generic("SPAWN_FAILED"),
  STALE_DISPATCH: () => ({
    title: "The desktop never took the loop",
    explanation: "The loop was handed over, but the desktop did not answer.",
    steps: ["Check that the desktop is online.", "Run the loop again."],
  }),
  TIMED_OUT: () => ({
    title: "The loop timed out",
    explanation: "Nothing was heard of it for too long.",
    steps: ["Check that the desktop is awake and online.", "Run the loop again."],
  }),
};

function generic(code: string): Advice {
  return {
    title: humanise(code),
    explanation: "The loop could not go on.",
    steps: ["Look at the technical details and the output.", "Run the loop again."],
  };
}

/** The message of a program that is missing names it. */
const MISSING_BINARY = /^(\S+) CLI not found in PATH$/;

/** What to tell a person about an error. */
export function adviceFor(error: LoopError): Advice {
  const result = fields(error.result);
  const details = { ...fields(result.details), ...result };
  const told: Partial<Record<Variable, unknown>> = {
    binaryName: MISSING_BINARY.exec(error.message)?.[1],
    message: error.message.trim().replace(/[^.!?…]$/, "$&.") || undefined,
  };
  const fill: Fill = (name, fallback) => {
    const value = details[name] ?? told[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : fallback;
  };
  const subcode = lookUp(SUBCODES, details.subcode);
  if (subcode) return subcode;
  if (details.category === "pre_commit_hook") {
    return lookUp(HOOKS, details.hookType) ?? hookAdvice("pre-commit", "Read what the hook said.");
  }
  const write = lookUp(CATEGORIES, details.category) ?? lookUp(CODES, error.code);
  return write ? write(fill) : generic(error.code);
}

/** The subcode beside a code, when there is one. */
export function subcodeOf(error: LoopError): string | undefined {
  const { subcode } = fields(error.result);
  return typeof subcode === "string" ? subcode : undefined;
}

function lookUp<T>(table: Record<string, T>, key: unknown): T | undefined {
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
