import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { organizationRoute } from "@/routing/parents";

import { approvalsQuery } from "./queries";

const view = () => import("./views/approvals");

export const approvalsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/approvals",
  loader: ({ context: { scope } }) => ensure(approvalsQuery(scope)),
  pendingComponent: lazyView(view, "LoadingApprovals"),
  errorComponent: lazyView(view, "ApprovalsError"),
  component: lazyView(view, "ApprovalsPage"),
});
