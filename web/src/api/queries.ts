/** Reads and writes of the pages, as query options and mutations. Those of the settings are in `settings/`. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { isActive } from "@/loops/status";
import { queryClient } from "@/query-client";
import { type BrowserKey, loadBrowserKey } from "@/signing/browser-key";
import { type Displayed, signedLaunch } from "@/signing/launch";
import { type CommandSignature, type SignedRequest, signRequest } from "@/signing/sign";

import { api, unwrap } from "./client";
import { ApiError } from "./errors";
import { setSessionKey } from "./session-key";
import type { ComputeTarget, Loop, RepoRef, RunLoopBody } from "./types";

// Gateway routes that start and cancel loops. The signature of a command includes the path.
const LOOP_PATH = "/api/gateway/orchestrator/loop";
const KILL_PATH = `${LOOP_PATH}/kill`;
// Polling intervals of lists with active loops, and of lists without.
const ACTIVE_POLL_MS = 3_000;
const QUIET_POLL_MS = 15_000;
// The list is neither paged nor virtualized: the limit bounds the rows to render.
const LOOP_LIMIT = 200;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => unwrap(api.GET("/me", { signal })),
  staleTime: 5 * 60_000,
});

/** Feature flags of the organization. */
export const featureFlagsQuery = queryOptions({
  queryKey: ["feature-flags"],
  queryFn: ({ signal }) => unwrap(api.GET("/feature-flags", { signal })),
  staleTime: 5 * 60_000,
});

export const loopsQuery = queryOptions({
  queryKey: ["loops"],
  queryFn: ({ signal }) =>
    unwrap(api.GET("/loops", { params: { query: { limit: LOOP_LIMIT } }, signal })),
  refetchInterval: ({ state }) =>
    (state.data ?? []).some((loop) => isActive(loop.status)) ? ACTIVE_POLL_MS : QUIET_POLL_MS,
});

export const loopQuery = (id: string) =>
  queryOptions({
    queryKey: ["loops", id],
    queryFn: ({ signal }) => unwrap(api.GET("/loops/{id}", { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) =>
      state.data !== undefined && !isActive(state.data.status) ? false : ACTIVE_POLL_MS,
  });

export const documentQuery = (idOrSlug: string) =>
  queryOptions({
    queryKey: ["documents", idOrSlug],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/documents/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
  });

/** Text of a version of a document. Versions never change. */
export const documentVersionQuery = (idOrSlug: string, version: number) =>
  queryOptions({
    queryKey: ["documents", idOrSlug, "versions", version],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/documents/{idOrSlug}/versions/{version}", {
          params: { path: { idOrSlug, version } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });

export const computeTargetsQuery = queryOptions({
  queryKey: ["compute-targets"],
  queryFn: ({ signal }) => unwrap(api.GET("/compute-targets", { signal })),
  refetchInterval: QUIET_POLL_MS,
});

/** Returns whether a desktop accepts signed commands only. */
export const requiresSignature = (target: ComputeTarget): boolean =>
  target.capabilities.commandSigningRequired === true;

/**
 * Signs a request when any desktop requires signatures and this browser has a key.
 *
 * Without a key the request is sent unsigned, and the control plane's error explains what to do.
 */
export async function signatureFor(request: SignedRequest): Promise<CommandSignature | undefined> {
  const key = await signingKey();
  return key && signRequest(key, request);
}

/** Returns this browser's key, if any desktop requires signatures: the control plane chooses the desktop. */
async function signingKey(): Promise<BrowserKey | undefined> {
  const targets = await queryClient.query({ ...computeTargetsQuery, staleTime: QUIET_POLL_MS });
  if (!targets.some(requiresSignature)) return undefined;
  const me = await queryClient.query({ ...meQuery, staleTime: "static" });
  return loadBrowserKey(me.id);
}

/** Signs in with a one-time link. A used link is accepted when the browser is already signed in. */
export async function signInWithLink(body: {
  token: string;
  replacesSession?: boolean;
}): Promise<void> {
  try {
    const signedIn = await unwrap(api.POST("/auth/sign-in-link", { body }));
    setSessionKey(signedIn.sessionKey);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    // Opening the link again from the terminal or the history is common: fail only without a session.
    await unwrap(api.GET("/me")).catch(() => {
      throw error;
    });
  }
}

/** Sign-in methods that the control plane offers. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: ({ signal }) => unwrap(api.GET("/auth/methods", { signal })),
});

/** Signs in with the password of a local account. */
export async function signInWithPassword(body: { email: string; password: string }): Promise<void> {
  const signedIn = await unwrap(api.POST("/auth/sign-in", { body }));
  setSessionKey(signedIn.sessionKey);
}

/** Changes the password of the signed-in user. */
export function useChangePassword() {
  return useMutation({
    mutationFn: (body: { currentPassword?: string; newPassword: string }) =>
      unwrap(api.PUT("/auth/password", { body })),
  });
}

/** The organization and e-mail address of an invitation. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => unwrap(api.POST("/invitations/preview", { body: { token }, signal })),
    staleTime: Infinity,
  });

/** Accepts an invitation with a local account, which is created if it does not exist. */
export async function acceptInvitation(body: {
  token: string;
  firstName: string;
  lastName: string;
  password: string;
  replacesSession: boolean;
}): Promise<void> {
  const signedIn = await unwrap(api.POST("/invitations/accept", { body }));
  setSessionKey(signedIn.sessionKey);
}

/** Sets a new password with the link of an administrator, and signs in. */
export async function resetPassword(body: {
  token: string;
  password: string;
  replacesSession: boolean;
}): Promise<void> {
  const signedIn = await unwrap(api.POST("/auth/password-reset", { body }));
  setSessionKey(signedIn.sessionKey);
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/auth/sign-out", {})),
    onSuccess: () => client.clear(),
    onSettled: () => setSessionKey(undefined),
  });
}

/** Input of the new-loop page. */
export interface ChangeRequest {
  prompt: string;
  repo: RepoRef;
  computeTargetId?: string;
}

/** Stores a change request as a document and starts its PLAN loop. Returns the id of the loop. */
export function usePlanRequest() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (request: ChangeRequest) => {
      const document = await unwrap(
        api.POST("/documents", {
          body: {
            type: "FEATURE",
            title: titleOf(request.prompt),
            content: request.prompt,
            repo: request.repo,
          },
        }),
      );
      const { id, currentVersion: version, content } = document;
      return runLoop({
        documentId: id,
        command: "plan",
        version,
        content,
        ...startOptions(request),
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["loops"], exact: true }),
  });
}

/** Starts a loop on a document. Returns the id of the loop. */
export function useRunDocument() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: runLoop,
    // Also after an error: another version of the document may be current.
    onSettled: () =>
      Promise.all(
        ["loops", "documents"].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
  });
}

export interface RunDocument extends Displayed {
  /** Id or slug of the document. */
  documentId: string;
  command: "plan" | "execute";
  repo?: RepoRef;
  computeTargetId?: string;
}

const startOptions = ({ repo, computeTargetId }: ChangeRequest) => ({
  repo,
  ...(computeTargetId && { computeTargetId }),
});

async function runLoop({ documentId, version, content, ...request }: RunDocument): Promise<string> {
  const params = { path: { idOrSlug: documentId } };
  let body: RunLoopBody = { ...request, version };
  const key = await signingKey();
  if (key) {
    const preview = await unwrap(
      api.POST("/documents/{idOrSlug}/run-loop/preview", { params, body }),
    );
    body = { ...body, launch: await signedLaunch(preview, body, { version, content }) };
    const intent = { documentId, ...body };
    const signature = await signRequest(key, { method: "POST", path: LOOP_PATH, body: intent });
    body.userIntentSignature = { ...signature, body: intent };
  }
  const started = await unwrap(api.POST("/documents/{idOrSlug}/run-loop", { params, body }));
  return started.loopId;
}

/** Resumes a finished loop. Returns the id of the new loop that continues it. */
export function useResumeLoop() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, prompt }: { id: string; prompt?: string }) => {
      const body = prompt === undefined ? undefined : { prompt };
      const path = { params: { path: { id } } };
      return (await unwrap(api.POST("/loops/{id}/resume", { ...path, body }))).loopId;
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["loops"] }),
  });
}

export function useCancelLoop() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const intent = { loopId: id };
      const signature = await signatureFor({ method: "POST", path: KILL_PATH, body: intent });
      const body = signature && { userIntentSignature: { ...signature, body: intent } };
      return unwrap(api.POST("/loops/{id}/cancel", { params: { path: { id } }, body }));
    },
    // Also after an error: a 409 means that the loop has finished, and the list shows an old status.
    onSettled: () => client.invalidateQueries({ queryKey: ["loops"] }),
  });
}

/** Returns the title of a request: its first line, at most 120 characters. */
export function titleOf(prompt: string): string {
  const line =
    prompt
      .trim()
      .split("\n", 1)[0]
      ?.replace(/^#+\s*/, "")
      .trim() ?? "";
  return line.length > 120 ? `${line.slice(0, 117).trimEnd()}…` : line;
}

/** Returns the title of a loop: that of its document, else of its prompt, else its command. */
export function loopTitle(loop: Loop): string {
  if (loop.document?.title) return loop.document.title;
  if (loop.promptExcerpt) return titleOf(loop.promptExcerpt);
  return loop.repo
    ? `${loop.command.toLowerCase()} ${loop.repo.fullName}`
    : loop.command.toLowerCase();
}
