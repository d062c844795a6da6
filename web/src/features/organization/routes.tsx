import { createRoute } from "@tanstack/react-router";

import { featureFlagsQuery, organizationSettingsQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyPage } from "@/routing/lazy-page";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

export const organizationSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/organization",
  loader: ({ context: { scope } }) =>
    Promise.all([ensure(featureFlagsQuery(scope)), ensure(organizationSettingsQuery(scope))]),
  errorComponent: SettingsError,
  component: lazyPage(() => import("./views/organization"), "OrganizationPage"),
});
