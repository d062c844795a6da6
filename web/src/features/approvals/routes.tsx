import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyPage } from "@/routing/lazy-page";
import { organizationRoute } from "@/routing/parents";

import { approvalsQuery } from "./queries";

const view = () => import("./views/approvals");

export const approvalsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/approvals",
  loader: ({ context: { scope } }) => ensure(approvalsQuery(scope)),
  pendingComponent: lazyPage(view, "LoadingApprovals"),
  errorComponent: lazyPage(view, "ApprovalsError"),
  component: lazyPage(view, "ApprovalsPage"),
});
