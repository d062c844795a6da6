import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { organizationRoute } from "@/routing/parents";

export const documentRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/documents/$slug",
  component: lazyRouteComponent(() => import("./views/document"), "DocumentPage"),
});

export const planRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/implementation-plans/$slug",
  component: lazyRouteComponent(() => import("./views/document"), "DocumentPage"),
});
