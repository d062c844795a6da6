/** What a signed start runs: compares the preview with what the page displays, and computes its digests. */
import type { CommentPlace, LaunchPreview, RepoRef, RunLoopBody, SignedLaunch } from "@/api/types";

import { canonicalJson } from "./canonical-json";

/** Members that the control plane assigns after the signature, and the spending limit, which may decrease. */
const WITHOUT_DIGEST = new Set([
  "loopId",
  "loopgateAuthToken",
  "apiBaseUrl",
  "s3StateKey",
  "maxSpendUsd",
]);

/** List of files, whose URLs change with each request. Their `sha256` is signed. */
const ATTACHMENTS = "attachments";
const WITHOUT_ATTACHMENT_DIGEST = new Set(["signedUrl", "signedUrlExpiresAt"]);

/** What the page displays of a start. */
export interface Displayed {
  /** Version of the document. */
  version: number;
  /** Text of that version. */
  content: string;
  /** Comments of a review. */
  comments?: readonly (CommentPlace & { body: string })[];
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
    ["comments", same(commentsOf(launch.reviewComments?.comments), commentsOf(displayed.comments))],
    ["approval", same(launch.approvedCommits ?? null, request.approve?.heads ?? null)],
    ["repository", same(named(launch.repo), named(request.repo))],
    [
      "further repositories",
      // Without them, the loop gets those of the ticket or of the earlier loops.
      !request.additionalRepos ||
        same((launch.additionalRepos ?? []).map(named), request.additionalRepos.map(named)),
    ],
    ["model", !request.model || launch.model === request.model],
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

/** Without a branch, the control plane sends an empty one: the default branch. */
const named = (repo: RepoRef | null | undefined) =>
  repo ? { fullName: repo.fullName, branch: repo.branch ?? "" } : null;

/** Returns what a person sees of comments, in their order. */
const commentsOf = (comments: Displayed["comments"] = []) =>
  comments.map(({ repository, path, lines, body }) => ({
    repository,
    path,
    lines: lines ?? null,
    body,
  }));

/** Returns the digest of each member: SHA-256 of its canonical JSON. */
export async function launchDigests(launch: object): Promise<Record<string, string>> {
  const signed = Object.entries(launch).filter(([name]) => !WITHOUT_DIGEST.has(name));
  const digests = signed.map(
    async ([name, value]) =>
      [name, await sha256(name === ATTACHMENTS ? withoutUrls(value as object[]) : value)] as const,
  );
  return Object.fromEntries(await Promise.all(digests));
}

const withoutUrls = (attachments: object[]) =>
  attachments.map((attachment) =>
    Object.fromEntries(
      Object.entries(attachment).filter(([name]) => !WITHOUT_ATTACHMENT_DIGEST.has(name)),
    ),
  );

async function sha256(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
