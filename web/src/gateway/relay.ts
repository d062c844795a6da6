/**
 * Access to a desktop's gateway through the control plane, for pages on another machine.
 *
 * Queues a command for the desktop and follows its events until the result.
 */
import { requestHeaders, unwrap } from "@/api/client";
import { ApiError } from "@/api/errors";
import type { Scope } from "@/api/scope";
import { readEvents } from "@/api/sse";
import { signatureFor } from "@/signing/commands";

import type { Operation } from "./operations";

// Timeout of the command at the desktop, and of the whole exchange at the page.
const COMMAND_TIMEOUT_MS = 15_000;

interface CommandEvent {
  eventType: string;
  data: { data?: unknown; error?: string } | null;
}

/**
 * Sends an operation to a desktop's gateway and returns the body of the response.
 *
 * Fails with the message of the desktop, or when the desktop does not respond within 15 seconds.
 */
export async function relay<Result>(
  scope: Scope,
  targetId: string,
  { id: operationId, method, path, body }: Operation<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_TIMEOUT_MS)]);
  const signature = await signatureFor(scope, { method, path, body: body ?? null });
  const { commandId } = await unwrap(
    scope.api.POST("/compute-targets/{id}/commands", {
      params: { path: { id: targetId } },
      body: {
        operationId,
        method,
        path,
        ...(body && { body }),
        timeoutMs: COMMAND_TIMEOUT_MS,
        ...signature,
      },
      signal: limited,
    }),
  );
  // Not through the typed client, which reads a whole body before it returns.
  const response = await fetch(
    `/compute-targets/${targetId}/commands/${commandId}/events?stream=true`,
    {
      headers: { Accept: "text/event-stream", ...requestHeaders(scope.organization) },
      credentials: "same-origin",
      signal: limited,
    },
  );
  if (!response.ok || response.body === null) throw new ApiError(response.status, undefined);
  for await (const { data } of readEvents(response.body)) {
    const event = JSON.parse(data) as CommandEvent;
    if (event.eventType === "result") return event.data?.data as Result;
    if (event.eventType === "error")
      throw new Error(event.data?.error ?? "The machine rejected the command.");
  }
  throw new Error("The machine ended the command without a result.");
}
