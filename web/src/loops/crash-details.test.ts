import { describe, expect, it } from "vitest";

import { crashDetails } from "./crash-details";

describe("crashDetails", () => {
  it("tells how the process ended, and what it said last", () => {
    const text = crashDetails({
      exitSignal: "SIGKILL",
      elapsedMs: 64_200,
      abortReason: "process-exit",
      spawnMeta: { command: "claude", args: ["-p", "[REDACTED]"], cwd: "/code" },
      stderrTail: "out of memory\n",
      logTail: "",
    });
    expect(text).toBe(
      "Ended by: SIGKILL\nRan for: 1 min 04 s\nReason: the process ended\nCommand: claude -p [REDACTED]\n\n" +
        "Standard error:\nout of memory\n",
    );
  });

  it("shows an exit code of zero, and passes over what has another type", () => {
    expect(
      crashDetails({ exitCode: 0, exitSignal: 9, stderrTail: null, spawnMeta: "claude" }),
    ).toBe("Exit code: 0");
    expect(crashDetails({})).toBe("");
  });
});
