import { createRoute } from "@tanstack/react-router";

import { featureFlagsQuery, organizationSettingsQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

export const organizationSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/organization",
  loader: ({ context: { scope } }) =>
    Promise.all([ensure(featureFlagsQuery(scope)), ensure(organizationSettingsQuery(scope))]),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/organization"), "OrganizationPage"),
});
