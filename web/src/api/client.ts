/** Typed client of the control plane. Each call returns the `data` of the response or throws an ApiError. */
import createClient from "openapi-fetch";

import type { paths } from "./control-plane.gen";
import { ApiError } from "./errors";
import { sessionKey } from "./session-key";

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  // Looked up at each call instead of once, so that tests can replace the global function.
  fetch: (request) => fetch(request),
});

/** Sets the organization, as in the address bar, that every request names in `X-Org-Slug`. */
export function setOrganization(slug: string | undefined): void {
  organizationSlug = slug;
}

/** Headers of every request to the control plane. Calls to `fetch` outside this client must add them. */
export function requestHeaders(): Record<string, string> {
  const key = sessionKey();
  return {
    ...(organizationSlug !== undefined && { "X-Org-Slug": organizationSlug }),
    ...(key !== undefined && { "X-Session-Key": key }),
  };
}

let organizationSlug: string | undefined;

api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(requestHeaders())) {
      request.headers.set(name, value);
    }
    return request;
  },
});

interface ApiResponse<T> {
  data?: { data: T };
  error?: unknown;
  response: Response;
}

/** Unwraps `{success, data}`. Throws an ApiError for an error response, or when there is no response. */
export async function unwrap<T>(call: Promise<ApiResponse<T>>): Promise<T> {
  let result: ApiResponse<T>;
  try {
    result = await call;
  } catch (error) {
    // Cancellation by TanStack Query, for example on unmount, is not a failure to show.
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw ApiError.unreachable(error);
  }
  if (result.data === undefined) throw new ApiError(result.response.status, result.error);
  return result.data.data;
}
