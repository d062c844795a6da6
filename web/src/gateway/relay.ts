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

import { GatewayError, unknownChange } from "./local-gateway";
import type { Operation } from "./operations";

// Timeout of the command at the desktop, and of the whole exchange at the page.
const COMMAND_TIMEOUT_MS = 15_000;
// The longest run of a provider whose events are streamed.
const STREAM_TIMEOUT_MS = 3_600_000;

interface CommandEvent {
  commandId: string;
  eventType: string;
  data: { data?: unknown; error?: string; gatewayError?: GatewayResponse } | null;
}

/** An unsuccessful response of the gateway. */
interface GatewayResponse {
  statusCode: number;
  error?: string;
  code?: string;
}

/**
 * Sends an operation to a desktop's gateway and returns the body of the response.
 *
 * Fails with the message of the desktop, or when the desktop does not respond in time.
 */
export async function relay<Result>(
  scope: Scope,
  targetId: string,
  operation: Operation<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for await (const event of commandEvents(scope, targetId, operation, signal)) {
    if (event.eventType === "result") return event.data?.data as Result;
    if (event.eventType === "error") throw errorOf(event);
  }
  throw new Error("The machine ended the command without a result.");
}

/** Returns the same error as the gateway of this machine for the same response. */
function errorOf({ data }: CommandEvent): Error {
  const message = data?.error ?? "The machine rejected the command.";
  if (!data?.gatewayError) return new Error(message);
  const { statusCode: status, error, code } = data.gatewayError;
  return new GatewayError("failed", error ?? message, { status, code });
}

/** Sends an operation whose response is a stream, and yields its events. */
export async function* relayEvents<Event>(
  scope: Scope,
  targetId: string,
  operation: Operation<Event>,
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  let isComplete = false;
  let commandId: string | undefined;
  try {
    for await (const event of commandEvents(scope, targetId, operation, signal)) {
      commandId = event.commandId;
      if (event.data !== null) yield event.data as Event;
    }
    isComplete = true;
  } finally {
    // A desktop carries out few commands at a time. The program continues without a reader of its events.
    if (!isComplete && commandId !== undefined) cancel(scope, targetId, commandId);
  }
}

function cancel({ api }: Scope, id: string, command_id: string): void {
  const params = { path: { id, command_id } };
  // The command ends at its time limit if this fails.
  api.POST("/compute-targets/{id}/commands/{command_id}/cancel", { params }).catch(() => undefined);
}

/** Sends an operation to a desktop's gateway as a command, and yields the events of the command. */
async function* commandEvents(
  scope: Scope,
  targetId: string,
  operation: Operation<unknown>,
  signal: AbortSignal,
): AsyncGenerator<CommandEvent, void> {
  const { id: operationId, method, path, body, isStream, isChange, timeoutMs: limit } = operation;
  const timeoutMs = isStream ? STREAM_TIMEOUT_MS : (limit ?? COMMAND_TIMEOUT_MS);
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const signature = await signatureFor(scope, { method, path, body: body ?? null });
  const { commandId } = await unwrap(
    scope.api.POST("/compute-targets/{id}/commands", {
      params: { path: { id: targetId } },
      body: {
        operationId,
        method,
        path,
        ...(body && { body }),
        timeoutMs,
        ...signature,
      },
      signal: limited,
    }),
  );
  try {
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
    for await (const { data } of readEvents(response.body)) yield JSON.parse(data) as CommandEvent;
  } catch (error) {
    // The machine may carry out the command, or have done so. A page that no longer waits does not report it.
    if (isChange && !isStream && !signal.aborted) throw unknownChange(error);
    throw error;
  }
}
