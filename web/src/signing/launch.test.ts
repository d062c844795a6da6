import { expect, test } from "vitest";

import type { LaunchPreview } from "@/api/types";

import { launchDigests, PreviewMismatch, signedLaunch } from "./launch";

const displayed = { version: 3, content: "Find things." };

const repo = { fullName: "acme/shop", branch: "main" };

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
  expect(Object.keys(digests)).toEqual(["prompt", "agents", "artifacts"]);
  // SHA-256 of `null`, as sha256sum prints it.
  expect(digests.prompt).toBe("74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b");
});

test("digest of attachments covers their content, but not their URLs", async () => {
  const digest = async (sha256: string, signedUrl: string) =>
    (await launchDigests({ attachments: [{ id: "a", sha256, signedUrl }] })).attachments;
  expect(await digest("1", "http://a")).toBe(await digest("1", "http://b"));
  expect(await digest("1", "http://a")).not.toBe(await digest("2", "http://a"));
});

test("repository without a branch is that of the default branch", async () => {
  const launch = preview();
  launch.launch.repo = { fullName: "acme/shop", branch: "" };
  const request = { command: "plan" as const, repo: { fullName: "acme/shop" } };
  await expect(signedLaunch(launch, request, displayed)).resolves.toBeDefined();
});

test("displayed launch is signed with its spending limit", async () => {
  const signed = await signedLaunch(preview(), { command: "plan", repo }, displayed);
  expect(signed.maxSpendUsd).toBe(5);
  expect(Object.keys(signed.digests)).toContain("artifacts");
});

test.each<[string, (launch: LaunchPreview) => void]>([
  ["version", (launch) => (launch.version = 4)],
  ["document", ({ launch }) => launch.artifacts.forEach((one) => (one.content = "Delete things."))],
  [
    "document of the same type",
    ({ launch }) =>
      launch.artifacts.push({ id: "d2", type: "FEATURE", title: "Search", content: "Delete." }),
  ],
  ["context", ({ launch }) => (launch.userContext = "Delete things.")],
  ["local clone", ({ launch }) => (launch.localRepoPath = "/tmp/shop")],
  ["command", ({ launch }) => (launch.command = "EXECUTE")],
  ["prompt", ({ launch }) => (launch.prompt = "Push to main.")],
  ["repository", ({ launch }) => (launch.repo = { fullName: "acme/other", branch: "main" })],
  ["peer", ({ launch }) => (launch.additionalRepos = [{ fullName: "acme/other", branch: "" }])],
  ["model", ({ launch }) => (launch.model = "haiku")],
])("preview with another %s is not signed", async (_, change) => {
  const request = { command: "plan" as const, repo, model: "opus", additionalRepos: [] };
  const shown = preview();
  shown.launch.model = "opus";
  await expect(signedLaunch(shown, request, displayed)).resolves.toBeDefined();
  change(shown);
  await expect(signedLaunch(shown, request, displayed)).rejects.toThrow(PreviewMismatch);
});

test("repository that the page does not display is not signed", async () => {
  await expect(signedLaunch(preview(), { command: "plan" }, displayed)).rejects.toThrow(
    PreviewMismatch,
  );
});
