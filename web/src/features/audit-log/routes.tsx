import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { type AuditSearch, auditSearch } from "./model/audit-search";
import { auditLogQuery } from "./queries";

export const auditLogRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit-log",
  validateSearch: onlyValid<AuditSearch>(auditSearch),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { scope }, deps }) =>
    ensure(auditLogQuery(scope, deps.action, deps.pages?.at(-1))),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/audit-log"), "AuditLogPage"),
});
