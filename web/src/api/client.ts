/** Typed clients of the control plane. Each call returns the `data` of the response or throws an ApiError. */
import createClient from "openapi-fetch";

import { reportNoResponse, reportResponse } from "./connection";
import type { paths } from "./control-plane.gen";
import { ApiError } from "./errors";
import { sessionKey } from "./session-key";

// In milliseconds. Event streams are not limited: they are open for as long as a page follows them.
const TIMEOUT_MS = 10_000;
const UPLOAD_TIMEOUT_MS = 60_000;

export type Api = ReturnType<typeof createClient<paths>>;

/** Returns a client whose requests name an organization. Without one, the session's organization applies. */
export function clientOf(organization?: string): Api {
  const client = createClient<paths>({
    baseUrl: window.location.origin,
    credentials: "same-origin",
    fetch: fetchWithTimeout,
  });
  client.use({
    onRequest({ request }) {
      for (const [name, value] of Object.entries(requestHeaders(organization))) {
        request.headers.set(name, value);
      }
      return request;
    },
  });
  return client;
}

/** Fails when the response has not arrived in time. */
export function fetchWithTimeout(request: Request): Promise<Response> {
  const isUpload = !(request.headers.get("Content-Type") ?? "json").includes("json");
  return fetchWithin(request, isUpload ? UPLOAD_TIMEOUT_MS : TIMEOUT_MS);
}

/** For JSON that contains files. */
export const fetchUpload = (request: Request): Promise<Response> =>
  fetchWithin(request, UPLOAD_TIMEOUT_MS);

function fetchWithin(request: Request, timeoutMs: number): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs);
  return fetch(request, { signal: AbortSignal.any([request.signal, timeout]) });
}

/** Client of pages outside an organization. */
export const api = clientOf();

/** Headers of every request to the control plane. Calls to `fetch` outside this client must add them. */
export function requestHeaders(organization?: string): Record<string, string> {
  const key = sessionKey();
  return {
    ...(organization !== undefined && { "X-Org-Slug": organization }),
    ...(key !== undefined && { "X-Session-Key": key }),
  };
}

interface ApiResponse<T> {
  data?: { data: T };
  error?: unknown;
  response: Response;
}

/** Like `unwrap`, for a list whose response has a total beside `data`. */
export const unwrapPage = <Page extends { data: unknown }>(
  call: Promise<Omit<ApiResponse<unknown>, "data"> & { data?: Page }>,
): Promise<Page> =>
  unwrap(call.then(({ data, ...rest }) => ({ ...rest, ...(data && { data: { data } }) })));

/** Unwraps `{success, data}`. Throws an ApiError for an error response, or when there is no response. */
export async function unwrap<T>(call: Promise<ApiResponse<T>>): Promise<T> {
  let result: ApiResponse<T>;
  try {
    result = await call;
  } catch (error) {
    // Cancellation by TanStack Query, for example on unmount, is not a failure to show.
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    void reportNoResponse();
    throw ApiError.unreachable(error);
  }
  reportResponse();
  if (result.data === undefined) throw new ApiError(result.response.status, result.error);
  return result.data.data;
}
