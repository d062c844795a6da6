import { describe, expect, test } from "vitest";

import { adviceFor } from "./error-advice";

const advise = (code: string, result: Record<string, unknown> = {}) =>
  adviceFor({ code, message: "m", result });

/** Error codes of failed loops. */
const CODES = [
  "RUNNER_ERROR",
  "CONFIG_VALIDATION_FAILED",
  "GIT_CLONE_FAILED",
  "BRANCH_CREATE_FAILED",
  "PRE_RUN_VALIDATION_FAILED",
  "ARTIFACT_WRITE_FAILED",
  "PROCESS_FAILED",
  "PROCESS_STOPPED",
  "AUTH_CHALLENGE",
  "BINARY_NOT_FOUND",
  "SCRIPT_NOT_FOUND",
  "SPAWN_FAILED",
  "TIMED_OUT",
  "CANCELLED",
  "REPO_NOT_ALLOWED",
  "REPO_NOT_FOUND",
  "NO_WORK_PRODUCED",
  "CONTEXT_LIMIT_EXCEEDED",
  "PLAN_STATE_UNAVAILABLE",
  "STALE_DISPATCH",
  "REPO_NOT_IN_PROJECT_POOL",
];

describe("adviceFor", () => {
  test.each(CODES)("%s has title, explanation and next steps", (code) => {
    const { title, explanation, steps } = advise(code);
    expect(title).toMatch(/^[A-Z]/);
    expect(explanation).toMatch(/\.$/);
    expect(steps.length).toBeGreaterThan(0);
  });

  test("subcode has precedence over code", () => {
    expect(advise("RUNNER_ERROR", { subcode: "ASSISTANT_RATE_LIMIT" }).title).toContain(
      "rate limit",
    );
  });

  test("category has precedence over code", () => {
    const { title } = advise("PRE_RUN_VALIDATION_FAILED", {
      details: { category: "compute_target_unavailable" },
    });
    expect(title).toBe("No machine is online");
  });

  test("rejected commit names the hook", () => {
    expect(
      advise("PROCESS_FAILED", { category: "pre_commit_hook", hookType: "lint" }).title,
    ).toContain("lint");
    expect(
      advise("PROCESS_FAILED", { category: "pre_commit_hook", hookType: "new" }).title,
    ).toContain("pre-commit");
  });

  test("variables are read from the result and its details", () => {
    expect(advise("REPO_NOT_FOUND", { repoFullName: "acme/x" }).explanation).toContain("acme/x");
    expect(advise("PROCESS_FAILED", { details: { exitCode: 3 } }).explanation).toContain(
      "exit code 3",
    );
  });

  test("missing program is named in title and steps", () => {
    for (const message of [
      "claude CLI not found in PATH",
      "claude CLI not found in PATH; install it (npm install -g claude), or set its path in the settings",
      "/opt/claude, the path of claude in the settings, is missing or not executable; correct it there",
    ]) {
      const { title, steps } = adviceFor({ code: "BINARY_NOT_FOUND", message });
      expect(title).toBe("claude was not found");
      expect(steps[0]).toContain("Install claude on the machine");
    }
  });

  test("what the set-up lacks has its own advice, with the path that was tried", () => {
    const missing = adviceFor({
      code: "BINARY_NOT_FOUND",
      message: "/opt/claude, the path of claude in the settings, is missing or not executable",
      result: { subcode: "ASSISTANT_MISSING" },
    });
    expect(missing).toMatchObject({ title: "claude was not found", checkMachine: true });
    expect(missing.explanation).toContain("/opt/claude");
    const signedOut = advise("REPO_NOT_FOUND", { subcode: "CODE_HOST_NOT_SIGNED_IN" });
    expect(signedOut).toMatchObject({
      title: "The code host is not signed in",
      checkMachine: true,
    });
    expect(signedOut.steps[0]).toContain("gh auth login");
  });

  test("failed validation before the start shows its message", () => {
    const error = { code: "PRE_RUN_VALIDATION_FAILED", message: "The request was denied." };
    expect(adviceFor(error).explanation).toBe("The request was denied.");
  });

  test("failure without a subcode says what happened", () => {
    const error = { code: "RUNNER_ERROR", message: "The shim ended with signal 9" };
    expect(adviceFor(error)).toMatchObject({
      title: "The loop failed",
      explanation: "The shim ended with signal 9.",
    });
  });

  test.each(["BINARY_NOT_FOUND", "AUTH_CHALLENGE", "SCRIPT_NOT_FOUND", "REPO_NOT_FOUND"])(
    "%s can be caused by the set-up of the machine",
    (code) => {
      expect(advise(code).checkMachine).toBe(true);
    },
  );

  test("rejected push can be caused by the set-up of the machine", () => {
    expect(advise("PROCESS_FAILED", { category: "git_push_auth" }).checkMachine).toBe(true);
    expect(advise("PROCESS_FAILED").checkMachine).toBeUndefined();
  });

  // The page of a failed loop has no button that executes or creates a plan, only Resume and New loop.
  test.each(CODES)("%s recommends no button that the page lacks", (code) => {
    expect(advise(code).steps.join(" ")).not.toMatch(/execute the plan again|create the plan/i);
  });

  test("unknown code is converted to a title", () => {
    expect(advise("FOO_BAR").title).toBe("Foo bar");
  });

  test("names of Object.prototype match no rule", () => {
    expect(advise("constructor", { subcode: "toString", category: "__proto__" }).title).toBe(
      "Constructor",
    );
  });
});
