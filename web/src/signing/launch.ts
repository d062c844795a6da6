/** What a signed start runs: compares the preview with what the page displays, and computes its digests. */
import type { LaunchPreview, RunLoopBody, SignedLaunch } from "@/api/types";

import { canonicalJson } from "./canonical-json";

/** Members that the control plane assigns after the signature, and the spending limit, which may decrease. */
const WITHOUT_DIGEST = new Set([
  "loopId",
  "loopgateAuthToken",
  "apiBaseUrl",
  "s3StateKey",
  "maxSpendUsd",
]);

/** What the page displays of a start. */
export interface Displayed {
  /** Version of the document. */
  version: number;
  /** Text of that version. */
  content: string;
}

/** The preview is not what the page displays, so it is not signed. */
export class PreviewMismatch extends Error {
  override readonly name = "PreviewMismatch";

  constructor(member: string) {
    super(
      `The ${member} that the loop would use is not what this page displays. ` +
        "Reload the page and start the loop again.",
    );
  }
}

/** Returns what to sign. Throws `PreviewMismatch` if the preview differs from the page or the request. */
export async function signedLaunch(
  { documentId, version, launch }: LaunchPreview,
  request: RunLoopBody,
  displayed: Displayed,
): Promise<SignedLaunch> {
  const same = (one: unknown, other: unknown) => canonicalJson(one) === canonicalJson(other);
  const document = launch.artifacts.find(({ id }) => id === documentId);
  const comparisons: [string, boolean][] = [
    ["command", launch.command === request.command.toUpperCase()],
    ["version", version === displayed.version],
    ["document", document?.content === displayed.content],
    ["prompt", same(launch.prompt, request.prompt)],
    ["repository", !request.repo || same(launch.repo, request.repo)],
  ];
  const mismatch = comparisons.find(([, isSame]) => !isSame);
  if (mismatch) throw new PreviewMismatch(mismatch[0]);
  const { maxSpendUsd } = launch;
  return {
    digests: await launchDigests(launch),
    ...(typeof maxSpendUsd === "number" && { maxSpendUsd }),
  };
}

/** Returns the digest of each member: SHA-256 of its canonical JSON. Artifacts have one digest each. */
export async function launchDigests(launch: object): Promise<Record<string, string>> {
  const parts = Object.entries(launch).flatMap(([name, value]): [string, unknown][] => {
    if (name === "artifacts" && Array.isArray(value))
      return value.map((artifact, index) => [`${name}/${index}`, artifact]);
    return WITHOUT_DIGEST.has(name) ? [] : [[name, value]];
  });
  const digests = parts.map(async ([name, value]) => [name, await sha256(value)] as const);
  return Object.fromEntries(await Promise.all(digests));
}

async function sha256(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
