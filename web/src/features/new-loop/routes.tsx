import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { organizationRoute } from "@/routing/parents";

export const newLoopRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops/new",
  component: lazyRouteComponent(() => import("./views/new-loop"), "NewLoop"),
});
