import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const auditLogRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit-log",
  component: lazyRouteComponent(() => import("./views/audit-log"), "AuditLogPage"),
});
