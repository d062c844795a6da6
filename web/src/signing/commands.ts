/** Signs the commands of this page when any desktop requires signatures. */
import { computeTargetsQuery, meQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";

import { type BrowserKey, loadBrowserKey } from "./browser-key";
import { type CommandSignature, type SignedRequest, signRequest } from "./sign";

// A machine that requires signatures since the page was loaded refuses an unsigned request, which can be repeated.
const TARGETS_STALE_MS = 15_000;

/** Returns whether a desktop accepts signed commands only. */
export const requiresSignature = (target: ComputeTarget): boolean =>
  target.capabilities.commandSigningRequired === true;

/**
 * Signs a request when any desktop requires signatures and this browser has a key.
 *
 * Without a key the request is sent unsigned, and the control plane's error explains what to do.
 */
export async function signatureFor(
  scope: Scope,
  request: SignedRequest,
): Promise<CommandSignature | undefined> {
  const key = await signingKey(scope);
  return key && signRequest(key, request);
}

/** Returns this browser's key, if any desktop requires signatures: the control plane chooses the desktop. */
export async function signingKey(scope: Scope): Promise<BrowserKey | undefined> {
  const targets = await queryClient.query({
    ...computeTargetsQuery(scope),
    staleTime: TARGETS_STALE_MS,
  });
  if (!targets.some(requiresSignature)) return undefined;
  const me = await queryClient.query({ ...meQuery(scope), staleTime: "static" });
  return loadBrowserKey(me.id);
}
