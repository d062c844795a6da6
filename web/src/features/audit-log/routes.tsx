import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { auditSearch } from "./model/audit-search";
import { auditLogQuery } from "./queries";

export const auditLogRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit-log",
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { scope }, deps }) =>
    ensure(auditLogQuery(scope, deps.action, deps.pages?.at(-1))),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/audit-log"), "AuditLogPage"),
});
