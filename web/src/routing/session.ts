import { redirect } from "@tanstack/react-router";

import { ApiError } from "@/api/errors";

/** Waits for a request of a guard. Redirects to the signed-out page without a session. */
export async function requireSession<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw redirect({ to: "/signed-out" });
    throw error;
  }
}
