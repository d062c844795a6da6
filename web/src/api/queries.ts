/** Every read and write of the pages, as query options and mutations. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { isActive } from "@/loops/status";
import { queryClient } from "@/query-client";
import { loadBrowserKey } from "@/signing/browser-key";
import { type CommandSignature, type SignedRequest, signRequest } from "@/signing/sign";

import { api, unwrap } from "./client";
import { ApiError } from "./errors";
import { setSessionKey } from "./session-key";
import type { ComputeTarget, Loop, RepoRef } from "./types";

/** Where a desktop's gateway takes the start and the end of loops; a signature names it. */
const LOOP_PATH = "/api/gateway/orchestrator/loop";
const KILL_PATH = `${LOOP_PATH}/kill`;
/** How often a list with active loops is read again. */
const ACTIVE_POLL_MS = 3_000;
/** How often a quiet list is read again. */
const QUIET_POLL_MS = 15_000;
/** As many loops as the list shows at most. */
const LOOP_LIMIT = 200;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => unwrap(api.GET("/me", { signal })),
  staleTime: 5 * 60_000,
});

/** What the organization has turned on. */
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

export const computeTargetsQuery = queryOptions({
  queryKey: ["compute-targets"],
  queryFn: ({ signal }) => unwrap(api.GET("/compute-targets", { signal })),
  refetchInterval: QUIET_POLL_MS,
});

/** Whether the user of a desktop demands signed commands. */
export const demandsSignature = (target: ComputeTarget): boolean =>
  target.capabilities.commandSigningRequired === true;

/**
 * The signature of a request, when a desktop that may get it demands one and this browser has a key. Without a key the
 * control plane says what is missing.
 */
export async function signatureFor(request: SignedRequest): Promise<CommandSignature | undefined> {
  const targets = await queryClient.query({ ...computeTargetsQuery, staleTime: QUIET_POLL_MS });
  if (!targets.some(demandsSignature)) return undefined;
  const me = await queryClient.query({ ...meQuery, staleTime: "static" });
  const key = await loadBrowserKey(me.id);
  return key && signRequest(key, request);
}

/** Signs in with a one-time link. One that was used is no failure for whom is signed in already. */
export async function signInWithLink(token: string): Promise<void> {
  try {
    const signedIn = await unwrap(api.POST("/auth/sign-in-link", { body: { token } }));
    setSessionKey(signedIn.sessionKey);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    await unwrap(api.GET("/me")).catch(() => {
      throw error;
    });
  }
}

/** How people sign in here. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: ({ signal }) => unwrap(api.GET("/auth/methods", { signal })),
});

/** Signs in with the password of a local account. */
export async function signInWithPassword(body: { email: string; password: string }): Promise<void> {
  const signedIn = await unwrap(api.POST("/auth/sign-in", { body }));
  setSessionKey(signedIn.sessionKey);
}

/** Changes the password of the person who is signed in. */
export function useChangePassword() {
  return useMutation({
    mutationFn: (body: { currentPassword?: string; newPassword: string }) =>
      unwrap(api.PUT("/auth/password", { body })),
  });
}

/** What the token of an invitation offers. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => unwrap(api.POST("/invitations/preview", { body: { token }, signal })),
    staleTime: Infinity,
  });

/** Accepts an invitation with a local account, which is made unless there is one. */
export async function acceptInvitation(body: {
  token: string;
  firstName: string;
  lastName: string;
  password: string;
}): Promise<void> {
  const signedIn = await unwrap(api.POST("/invitations/accept", { body }));
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

/** What a person asks for on the new-loop page. */
export interface Wish {
  prompt: string;
  repo: RepoRef;
  computeTargetId?: string;
}

/** Writes the wish down as a document and plans it. Yields the loop's id. */
export function usePlanWish() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (wish: Wish) => {
      const document = await unwrap(
        api.POST("/documents", {
          body: {
            type: "FEATURE",
            title: titleOf(wish.prompt),
            content: wish.prompt,
            repo: wish.repo,
          },
        }),
      );
      return runLoop(document.id, "plan", wish);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["loops"], exact: true }),
  });
}

/** Runs a command on a document. Yields the new loop's id. */
export function useRunDocument() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ documentId, command, ...rest }: RunDocument) =>
      runLoop(documentId, command, rest),
    onSuccess: () =>
      Promise.all(
        ["loops", "documents"].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
  });
}

export interface RunDocument {
  /** Its id or slug. */
  documentId: string;
  command: "plan" | "execute";
  repo?: RepoRef;
  computeTargetId?: string;
}

async function runLoop(
  documentId: string,
  command: "plan" | "execute",
  options: Partial<Pick<Wish, "repo" | "computeTargetId">>,
): Promise<string> {
  const body = {
    command,
    ...(options.repo && { repo: options.repo }),
    ...(options.computeTargetId && { computeTargetId: options.computeTargetId }),
  };
  const intent = { documentId, ...body };
  const signature = await signatureFor({ method: "POST", path: LOOP_PATH, body: intent });
  const started = await unwrap(
    api.POST("/documents/{idOrSlug}/run-loop", {
      params: { path: { idOrSlug: documentId } },
      body: { ...body, ...(signature && { userIntentSignature: { ...signature, body: intent } }) },
    }),
  );
  return started.loopId;
}

/** Takes an ended loop up again. Yields the id of the loop that continues it. */
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

export function useStopLoop() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      const intent = { loopId: id };
      const signature = await signatureFor({ method: "POST", path: KILL_PATH, body: intent });
      const body = signature && { userIntentSignature: { ...signature, body: intent } };
      return unwrap(api.POST("/loops/{id}/cancel", { params: { path: { id } }, body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["loops"] }),
  });
}

/** A loop's title: the first line of the wish. */
export function titleOf(prompt: string): string {
  const line =
    prompt
      .trim()
      .split("\n", 1)[0]
      ?.replace(/^#+\s*/, "")
      .trim() ?? "";
  return line.length > 120 ? `${line.slice(0, 117).trimEnd()}…` : line;
}

/** What a list row calls a loop. */
export function loopTitle(loop: Loop): string {
  if (loop.document?.title) return loop.document.title;
  if (loop.prompt) return titleOf(loop.prompt);
  return loop.repo
    ? `${loop.command.toLowerCase()} ${loop.repo.fullName}`
    : loop.command.toLowerCase();
}
