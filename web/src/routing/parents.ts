/** Routes that contain the routes of the features. The app adds their layouts. */
import { createRootRoute, createRoute } from "@tanstack/react-router";

import { meQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { scopeOf } from "@/api/scope";

import { requireSession } from "./session";

export const rootRoute = createRootRoute();

/** Its context contains the scope of the pages: see `useScope`. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/$orgSlug",
  beforeLoad: async ({ params, location }) => {
    const scope = scopeOf(params.orgSlug);
    await requireSession(ensure(meQuery(scope)), location.href);
    return { scope };
  },
});

export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/settings",
});
