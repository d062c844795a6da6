import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { organizationRoute } from "@/routing/parents";

export const approvalsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./views/approvals"), "ApprovalsPage"),
});
