/** Routes that contain the routes of the features. The app adds their layouts. */
import { createRootRoute, createRoute, redirect } from "@tanstack/react-router";

import { setOrganization } from "@/api/client";
import { ApiError } from "@/api/errors";
import { featureFlagsQuery, meQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";

export const rootRoute = createRootRoute();

/** Returns the signed-in user. Redirects to the signed-out page without a session. */
export async function requireMe() {
  try {
    return await queryClient.query({ ...meQuery, staleTime: "static" });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw redirect({ to: "/signed-out" });
    throw error;
  }
}

export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/$orgSlug",
  beforeLoad: async ({ params }) => {
    setOrganization(params.orgSlug);
    await requireMe();
    // Prefetched, so that the first diagram renders without delay. Diagrams treat an error as "disabled".
    queryClient.query(featureFlagsQuery).catch(() => undefined);
  },
});

export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings",
});
