import { redirect } from "@tanstack/react-router";

import { ApiError } from "@/api/errors";

/**
 * Waits for a request of a guard. Without a session, redirects to the signed-out page, from which the user returns to
 * `returnTo`.
 */
export async function requireSession<T>(request: Promise<T>, returnTo: string): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401)
      throw redirect({ to: "/signed-out", search: { returnTo } });
    throw error;
  }
}
