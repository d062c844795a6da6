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
  const { artifacts } = launch;
  const document = artifacts.find(({ id }) => id === documentId);
  // The desktop uses one document of each type.
  const isUnique = new Set(artifacts.map(({ type }) => type)).size === artifacts.length;
  const comparisons: [string, boolean][] = [
    ["command", launch.command === request.command.toUpperCase()],
    ["version", version === displayed.version],
    ["document", isUnique && document?.content === displayed.content],
    ["prompt", same(launch.prompt ?? null, request.prompt ?? null)],
    ["repository", same(launch.repo ?? null, request.repo ?? null)],
    // No control plane fills these members in for a start from a page.
    ["context", !launch.userContext],
    ["local clone", !launch.localRepoPath],
  ];
  const mismatch = comparisons.find(([, isSame]) => !isSame);
  if (mismatch) throw new PreviewMismatch(mismatch[0]);
  const { maxSpendUsd } = launch;
  return {
    digests: await launchDigests(launch),
    ...(typeof maxSpendUsd === "number" && { maxSpendUsd }),
  };
}

/** Returns the digest of each member: SHA-256 of its canonical JSON. */
export async function launchDigests(launch: object): Promise<Record<string, string>> {
  const signed = Object.entries(launch).filter(([name]) => !WITHOUT_DIGEST.has(name));
  const digests = signed.map(async ([name, value]) => [name, await sha256(value)] as const);
  return Object.fromEntries(await Promise.all(digests));
}

async function sha256(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
