import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { organizationRoute } from "@/routing/parents";

import { approvalsQuery } from "./queries";

const view = () => import("./views/approvals");

export const approvalsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/approvals",
  loader: ({ context: { scope } }) => ensure(approvalsQuery(scope)),
  pendingComponent: lazyRouteComponent(view, "LoadingApprovals"),
  errorComponent: lazyRouteComponent(view, "ApprovalsError"),
  component: lazyRouteComponent(view, "ApprovalsPage"),
});
