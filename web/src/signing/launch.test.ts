import { expect, test } from "vitest";

import type { LaunchPreview } from "@/api/types";

import { launchDigests, PreviewMismatch, signedLaunch } from "./launch";

const displayed = { version: 3, content: "Find things." };

function preview(): LaunchPreview {
  return {
    documentId: "d1",
    version: 3,
    launch: {
      command: "PLAN",
      artifacts: [{ id: "d1", type: "FEATURE", title: "Search", content: "Find things." }],
      prompt: null,
      repo: { fullName: "acme/shop", branch: "main" },
      committer: null,
      artifactSlug: "plan-1",
      parentLoopId: null,
      parentBranchName: null,
      parentSessionId: null,
      localRepoPath: null,
      maxSpendUsd: 5,
    },
  };
}

test("digests cover each member but those that the control plane assigns", async () => {
  const digests = await launchDigests({
    loopId: "1",
    prompt: null,
    agents: [],
    artifacts: [{}, {}],
  });
  expect(Object.keys(digests)).toEqual(["prompt", "agents", "artifacts/0", "artifacts/1"]);
  // SHA-256 of `null`, as sha256sum prints it.
  expect(digests.prompt).toBe("74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b");
});

test("displayed launch is signed with its spending limit", async () => {
  const signed = await signedLaunch(preview(), { command: "plan" }, displayed);
  expect(signed.maxSpendUsd).toBe(5);
  expect(Object.keys(signed.digests)).toContain("artifacts/0");
});

test.each<[string, (launch: LaunchPreview) => void]>([
  ["version", (launch) => (launch.version = 4)],
  ["document", ({ launch }) => launch.artifacts.forEach((one) => (one.content = "Delete things."))],
  ["command", ({ launch }) => (launch.command = "EXECUTE")],
  ["prompt", ({ launch }) => (launch.prompt = "Push to main.")],
  ["repository", ({ launch }) => (launch.repo = { fullName: "acme/other", branch: "main" })],
])("preview with another %s is not signed", async (_, change) => {
  const changed = preview();
  change(changed);
  const repo = { fullName: "acme/shop", branch: "main" };
  await expect(signedLaunch(changed, { command: "plan", repo }, displayed)).rejects.toThrow(
    PreviewMismatch,
  );
});
