/** The typed client of the control plane. Every call yields the answer's `data` or an ApiError. */
import createClient from "openapi-fetch";

import type { paths } from "./control-plane.gen";
import { ApiError } from "./errors";
import { sessionKey } from "./session-key";

export const api = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: "same-origin",
  fetch: (request) => fetch(request),
});

/** The organization of the address bar rides on every request. */
export function setOrganization(slug: string | undefined): void {
  organizationSlug = slug;
}

/** Headers of every request to the control plane; those outside the typed client need them too. */
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

interface Answer<T> {
  data?: { data: T };
  error?: unknown;
  response: Response;
}

/** Unwraps `{success, data}`; throws what a failure says. */
export async function unwrap<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw ApiError.unreachable(error);
  }
  if (answer.data === undefined) throw new ApiError(answer.response.status, answer.error);
  return answer.data.data;
}
