import { describe, expect, it } from "vitest";

import { crashDetails } from "./crash-details";

describe("crashDetails", () => {
  it("lists the exit signal, the reason and the end of stderr", () => {
    const text = crashDetails({
      exitSignal: "SIGKILL",
      elapsedMs: 64_200,
      abortReason: "process-exit",
      spawnMeta: { command: "claude", args: ["-p", "[REDACTED]"], cwd: "/code" },
      stderrTail: "out of memory\n",
      logTail: "",
    });
    expect(text).toBe(
      "Ended by: SIGKILL\nRan for: 1 min 04 s\nReason: process exited\nCommand: claude -p [REDACTED]\n\n" +
        "Standard error:\nout of memory\n",
    );
  });

  it("includes exit code 0 and ignores members of unexpected types", () => {
    expect(
      crashDetails({ exitCode: 0, exitSignal: 9, stderrTail: null, spawnMeta: "claude" }),
    ).toBe("Exit code: 0");
    expect(crashDetails({})).toBe("");
  });
});
