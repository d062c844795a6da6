/**
 * Maps the error of a loop (code, subcode, category, hook) into a title, an explanation and next steps.
 *
 * The most specific rule applies: subcode, then category with hook, then code, then a generic text.
 */
import type { LoopError } from "@/api/types";

import { humanise } from "@/model/status";

export interface Advice {
  title: string;
  explanation: string;
  steps: string[];
  /** Whether the set-up of the machine can be the cause: the page shows its check. */
  checkMachine?: true;
}

type AdviceTemplate = (fill: Fill) => Advice;

/** Returns a template variable from the error's details, or the fallback. */
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
  checkMachine: true,
  title: "The assistant is not signed in",
  explanation: "The assistant could not authenticate with its account.",
  steps: [
    "Start the assistant in a terminal on the machine, and sign in when prompted.",
    "If you use an API key, check that it is valid and has credit.",
    "Resume the loop.",
  ],
};

const contextLimit: Advice = {
  title: "The context limit was exceeded",
  explanation: "The conversation no longer fits into the model's context window.",
  steps: [
    "Start a new loop for each part of the request.",
    "Name the relevant files in the description, so that the assistant reads fewer.",
  ],
};

const spendingLimit: Advice = {
  title: "The spending limit was reached",
  explanation:
    "The assistant had not finished when the limit was reached. Its work is kept: code changes are committed on the loop's branch but not pushed.",
  steps: [
    "Resume the loop: it continues from the existing work with a new budget.",
    "Raise `max_spend_usd` in the machine's `settings.toml` if the work needs more.",
  ],
};

const missingAssistant = missingProgram("The assistant");

const SUBCODES: Record<string, Advice | AdviceTemplate> = {
  ASSISTANT_AUTH_CHALLENGE: signIn,
  ASSISTANT_MISSING: missingAssistant,
  CODE_HOST_NOT_SIGNED_IN: (fill) => ({
    checkMachine: true,
    title: "The code host is not signed in",
    explanation: fill("message", "The code host's program has no account."),
    steps: ["Run `gh auth login` on the machine.", "Resume the loop."],
  }),
  ASSISTANT_CONTEXT_LIMIT: contextLimit,
  ASSISTANT_HOOKS_INACTIVE: {
    title: "The hooks that protect the loop do not run",
    explanation:
      "The assistant runs no hooks of the plugin `code`. They keep a loop from reading credentials and from pushing, so the loop was stopped. The setting, if it was found, is in the technical details.",
    steps: [
      "Allow the hooks of plugins: remove `disableAllHooks`, `allowManagedHooksOnly`, or variables such as `CLAUDE_CODE_SIMPLE` in `env`, from the assistant's settings, or ask the administrator who manages them.",
      "Resume the loop.",
    ],
  },
  ASSISTANT_SHELL_BLOCKS_DISABLED: {
    title: "The assistant does not run the commands of the loop's prompt",
    explanation:
      "The administrator's settings of the assistant disable shell blocks in commands. The prompt of a loop comes from such a block. The file of the setting is in the technical details.",
    steps: ["Ask the administrator to remove `disableSkillShellExecution`.", "Resume the loop."],
  },
  ASSISTANT_TOOL_DENIED: {
    title: "The assistant's settings deny a tool",
    explanation:
      "A rule in `permissions` of the assistant's settings denies a tool that every loop needs. The rule and its file are in the technical details.",
    steps: ["Remove the rule, or narrow it to some uses of the tool.", "Resume the loop."],
  },
  ASSISTANT_MODEL_UNAVAILABLE: {
    title: "The model is not available",
    explanation:
      "The assistant's account cannot use the model that loops are configured to use. Its message is in the technical details.",
    steps: [
      "Set `loop_model` in the machine's `settings.toml` to a model that the account can use, for example `opus`.",
      "Resume the loop.",
    ],
  },
  ASSISTANT_REQUEST_REJECTED: {
    title: "The model's provider rejected the request",
    explanation: "The request appears to violate the provider's usage policy.",
    steps: ["Start a new loop with another description."],
  },
  ASSISTANT_RATE_LIMIT: {
    title: "The assistant's rate limit was reached",
    explanation:
      "The model's provider limited the request rate, and the limit did not reset in time.",
    steps: ["Wait until the limit resets (often within the hour).", "Resume the loop."],
  },
  ASSISTANT_ERROR: {
    title: "The assistant reported an error",
    explanation:
      "The assistant's run ended with an error. Its message is in the technical details.",
    steps: ["Resume the loop: the model's service may have been temporarily unavailable."],
  },
  ASSISTANT_UNKNOWN_SKILL: {
    title: "The assistant does not recognize a Loopgate command",
    explanation: "Loopgate's plugin was not loaded, or its version does not match.",
    steps: ["Restart Loopgate, which unpacks its plugins again.", "Resume the loop."],
  },
  ASSISTANT_NOT_STARTED: {
    checkMachine: true,
    title: "The assistant did not start",
    explanation: "Its path and the error of the system are in the technical details.",
    steps: ["Check that it is installed and executable on the machine.", "Resume the loop."],
  },
  DISK_FULL: {
    title: "The disk is full",
    explanation:
      "The output of the loop could not be stored, so it was stopped. Its changes are kept.",
    steps: ["Free space on the machine's disk.", "Resume the loop."],
  },
  INVALID_PLAN: {
    title: "The assistant produced an invalid plan",
    explanation: "Two attempts to correct the plan failed. The technical details list its errors.",
    steps: ["Resume the loop."],
  },
  ITERATION_LIMIT: {
    title: "The iteration limit was reached",
    explanation:
      "The assistant had not finished when the limit was reached. Its work is committed on the loop's branch but not pushed.",
    steps: ["Resume the loop: it continues from the existing work."],
  },
  SPENDING_LIMIT: spendingLimit,
  BAD_PLAN_STATE: {
    title: "The plan cannot be read",
    explanation: "The plan file in the worktree is missing or malformed.",
    steps: ["Start a new loop with the same description, then execute its plan."],
  },
  UNCHECKED_TASKS: {
    title: "Tasks were reported as done without a check",
    explanation:
      "The assistant ticked tasks that no checking agent had confirmed. They are open again, and the changes so far are kept.",
    steps: ["Resume the loop: it continues with these tasks."],
  },
  WORK_TAKEN_BACK: {
    title: "Work of the loop was undone or hidden",
    explanation:
      "Commands of the assistant moved work to a stash, removed commits from the branch, or changed settings of git that hide files. The technical details list what and where.",
    steps: [
      "Restore the work: `git stash pop` for a stash, `git cherry-pick` for a commit, `git config --unset` for a setting.",
      "Resume the loop: it continues from the existing work.",
    ],
  },
  TASKS_CHANGED_AT_COMPLETION: {
    title: "The plan's tasks were changed during the implementation",
    explanation:
      "The assistant removed or reworded tasks that it had to complete, so completion was rejected. The changes so far are kept.",
    steps: [
      "Check the tasks in the technical details.",
      "Put those that you still want back into `plan.md` in the worktree.",
      "Resume the loop.",
    ],
  },
  PENDING_TASKS_AT_COMPLETION: {
    title: "The assistant stopped before the plan was complete",
    explanation: "The plan still had pending tasks when the assistant exited.",
    steps: ["Resume the loop: it continues from the existing work."],
  },
  PENDING_TASKS_BLOCKED_BY_QUESTIONS: {
    title: "Open questions block tasks",
    explanation: "The assistant needs answers before it can finish the remaining tasks.",
    steps: ["Answer the open questions in the message with which you resume the loop."],
  },
};

const CATEGORIES: Record<string, AdviceTemplate> = {
  compute_target_offline: (fill) => ({
    title: "The machine is offline",
    explanation: `${fill("machineName", "The selected machine")} is not connected.`,
    steps: ["Start Loopgate on that machine with `loopgate up`.", "Resume the loop."],
  }),
  compute_target_unavailable: () => ({
    title: "No machine is online",
    explanation: "Loops run on a machine, and no machine is connected.",
    steps: ["Start Loopgate on your machine with `loopgate up`.", "Resume the loop."],
  }),
  git_command_failed: (fill) => ({
    title: "A git command failed",
    explanation: `git could not ${fill("action", "complete the command")} in ${fill("repoFullName", "the repository")}.`,
    steps: [
      "Read git's error message in the technical details.",
      `Check the state of ${fill("repoPath", "the local clone")}, then resume the loop.`,
    ],
  }),
  git_push_auth: (fill) => ({
    checkMachine: true,
    title: "The push was rejected",
    explanation: `Your credentials do not permit a push to ${fill("repoFullName", "the repository")}.`,
    steps: [
      "Run `gh auth login` on the machine.",
      "Check that you have write access to the repository.",
      "Resume the loop.",
    ],
  }),
  repo_not_allowed: (fill) => ({
    title: "The repository is not allowed",
    explanation: `${fill("repoFullName", "The repository")} is not among the repositories that loops may access.`,
    steps: [
      "On your own machine: move the clone into the sandbox directory, or set another one with `--sandbox`, and restart Loopgate.",
      "In a team: ask an administrator to allow the repository.",
      "Resume the loop.",
    ],
  }),
  repo_not_found: (fill) => ({
    checkMachine: true,
    title: "The repository was not found",
    explanation: `Loopgate has no clone of ${fill("repoFullName", "the repository")} and could not create one. The reason is in the technical details.`,
    steps: [
      "If owner or repository is misspelled, start a new loop.",
      "Check that `gh auth status` succeeds on the machine, and that the account can read the repository.",
      "Resume the loop: it clones the repository again. Or clone it into the sandbox directory first.",
    ],
  }),
  spawn_failed: (fill) => ({
    checkMachine: true,
    title: "A program could not be started",
    explanation: `${fill("binaryName", "A program that the loop needs")} did not start.`,
    steps: ["Check that it is installed and executable.", "Resume the loop."],
  }),
};

const UNKNOWN_HOOK = hookAdvice(
  "pre-commit",
  "Read the output of the hook in the technical details.",
);

const HOOKS: Record<string, Advice> = {
  format: hookAdvice("formatting", "Run the formatter in the worktree and commit the result."),
  lint: hookAdvice("lint", "Fix the lint findings in the technical details."),
  test: hookAdvice("test", "Fix the failing tests in the technical details."),
  typecheck: hookAdvice("type check", "Fix the type errors in the technical details."),
};

/** The message names the path that was tried: that of the settings, or the searched PATH. */
function missingProgram(unnamed: string): AdviceTemplate {
  return (fill) => ({
    checkMachine: true,
    title: `${fill("binaryName", unnamed)} was not found`,
    explanation: fill(
      "message",
      "Loopgate uses its path in the settings, else searches the PATH of your login shell.",
    ),
    steps: [
      `Install ${fill("binaryName", "it")} on the machine, or correct its path under \`binary_paths\` in the machine's \`settings.toml\`.`,
      "Restart Loopgate after a change to PATH.",
      "Resume the loop.",
    ],
  });
}

function hookAdvice(name: string, step: string): Advice {
  return {
    title: `The ${name} hook rejected the commit`,
    explanation: "The changes are still in the worktree; they are not committed.",
    steps: [step, "Resume the loop."],
  };
}

const CODES: Record<string, AdviceTemplate> = {
  AUTH_CHALLENGE: () => signIn,
  CONTEXT_LIMIT_EXCEEDED: () => contextLimit,
  ARTIFACT_WRITE_FAILED: () => ({
    title: "A file for the loop could not be written",
    explanation: "Writing to the worktree failed.",
    steps: ["Check free disk space and the permissions of the worktree.", "Resume the loop."],
  }),
  BINARY_NOT_FOUND: missingProgram("A program"),
  BRANCH_CREATE_FAILED: (fill) => ({
    title: "The branch could not be created",
    explanation: `git could not create a worktree from ${fill("branch", "the selected branch")}. Its error is in the technical details.`,
    steps: [
      "Check that the branch exists in the remote repository, then resume the loop.",
      "Or start a new loop with another base branch.",
    ],
  }),
  CANCELLED: () => ({
    title: "The loop was cancelled",
    explanation: "A user cancelled it. Uncommitted work remains in the worktree.",
    steps: ["Resume the loop when you are ready."],
  }),
  GIT_CLONE_FAILED: (fill) => ({
    checkMachine: true,
    title: "The repository could not be cloned",
    explanation: `Cloning ${fill("repoFullName", "the repository")} failed or took longer than two minutes.`,
    steps: [
      "Check that `gh auth status` succeeds on the machine.",
      "Clone it manually into the sandbox directory, then resume the loop.",
    ],
  }),
  RUNNER_ERROR: (fill) => ({
    title: "The loop failed",
    explanation: fill("message", "It reported no reason."),
    steps: ["Check the technical details and the output.", "Resume the loop."],
  }),
  NO_WORK_PRODUCED: () => ({
    checkMachine: true,
    title: "The loop produced no work",
    explanation: "The assistant exited without using any tokens.",
    steps: [
      "Check the output for the reason.",
      "Check that the assistant runs in a terminal on the machine.",
      "Resume the loop.",
    ],
  }),
  NOTHING_DELIVERED: (fill) => ({
    title: "The loop delivered nothing",
    explanation: fill(
      "message",
      "The loop reports tasks as done, but no repository has a change that can be delivered.",
    ),
    steps: [
      "Check under Result and in the output where the work is.",
      "If git ignores the files, change the rule in `.gitignore`.",
      "Resume the loop.",
    ],
  }),
  NEW_TEST_FAILURES: (fill) => ({
    title: "The loop introduced test failures",
    explanation: fill(
      "message",
      "The work is pushed and its pull request is open, but tests of the repository fail that passed before.",
    ),
    steps: [
      "Check the failing tests and the log under Result.",
      "Resume the loop: it continues from this work.",
    ],
  }),
  PLAN_STATE_UNAVAILABLE: () => ({
    title: "The plan's state is missing",
    explanation: "The loop that created the plan stored no state from which Execute could start.",
    steps: ["Start a new loop with the same description, then execute its plan."],
  }),
  PRE_RUN_VALIDATION_FAILED: (fill) => ({
    title: "The loop could not start",
    explanation: fill("message", "Validation before the start failed."),
    steps: ["Correct the problem that the message describes.", "Resume the loop."],
  }),
  PROCESS_FAILED: (fill) => ({
    title: "The assistant exited with an error",
    explanation: `Its process terminated with exit code ${fill("exitCode", "other than 0")}.`,
    steps: ["Check the last lines of the output.", "Resume the loop."],
  }),
  PROCESS_STOPPED: () => ({
    title: "The loop's process terminated unexpectedly",
    explanation:
      "The process terminated before it reported a result, for example during a restart.",
    steps: ["Resume the loop: it continues from the work in the worktree."],
  }),
  REPO_NOT_ALLOWED: (fill) => CATEGORIES.repo_not_allowed?.(fill) ?? generic("REPO_NOT_ALLOWED"),
  REPO_NOT_FOUND: (fill) => CATEGORIES.repo_not_found?.(fill) ?? generic("REPO_NOT_FOUND"),
  REPO_NOT_IN_PROJECT_POOL: (fill) => ({
    title: "The repository is not part of this project",
    explanation: `${fill("repoFullName", "It")} is missing from the team's list of repositories.`,
    steps: ["Ask an administrator to add it.", "Resume the loop."],
  }),
  SCRIPT_NOT_FOUND: () => ({
    checkMachine: true,
    title: "A plugin of Loopgate was not found",
    explanation: "The loop requires this plugin. Its name is in the technical details.",
    steps: ["Restart Loopgate, which unpacks its plugins again.", "Resume the loop."],
  }),
  SPENDING_LIMIT: () => spendingLimit,
  SPAWN_FAILED: (fill) => CATEGORIES.spawn_failed?.(fill) ?? generic("SPAWN_FAILED"),
  STALE_DISPATCH: () => ({
    title: "The machine did not accept the loop",
    explanation: "The loop was dispatched, but the machine did not respond.",
    steps: ["Check that the machine is online.", "Resume the loop."],
  }),
  TIMED_OUT: () => ({
    title: "The loop timed out",
    explanation: "The control plane received no heartbeat from the loop for too long.",
    steps: ["Check that the machine is awake and online.", "Resume the loop."],
  }),
};

function generic(code: string): Advice {
  return {
    title: humanise(code),
    explanation: "The loop failed.",
    steps: ["Check the technical details and the output.", "Resume the loop."],
  };
}

// The runtime reports a missing program by this message only, not as a member of the result.
const MISSING_BINARY = /^(\S+) CLI not found in PATH|the path of (\S+) in the settings/;

/** Returns title, explanation and next steps for the error of a loop. */
export function adviceFor(error: LoopError): Advice {
  const result = fields(error.result);
  const details = { ...fields(result.details), ...result };
  const binary = MISSING_BINARY.exec(error.message);
  const fromMessage: Partial<Record<Variable, unknown>> = {
    binaryName: binary?.[1] ?? binary?.[2],
    message: error.message.trim().replace(/[^.!?…]$/, "$&.") || undefined,
  };
  const fill: Fill = (name, fallback) => {
    const value = details[name] ?? fromMessage[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : fallback;
  };
  const subcode = lookUp(SUBCODES, details.subcode);
  if (subcode) return typeof subcode === "function" ? subcode(fill) : subcode;
  if (details.category === "pre_commit_hook") {
    return lookUp(HOOKS, details.hookType) ?? UNKNOWN_HOOK;
  }
  const template = lookUp(CATEGORIES, details.category) ?? lookUp(CODES, error.code);
  return template ? template(fill) : generic(error.code);
}

/** Returns the subcode of an error, if it has one. */
export function subcodeOf(error: LoopError): string | undefined {
  const { subcode } = fields(error.result);
  return typeof subcode === "string" ? subcode : undefined;
}

function lookUp<T>(table: Record<string, T>, key: unknown): T | undefined {
  // Codes come from the server: `constructor` must not resolve to a member of Object.prototype.
  return typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
