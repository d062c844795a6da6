import { createRoute } from "@tanstack/react-router";

import { featureFlagsQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyPage } from "@/routing/lazy-page";
import { settingsRoute } from "@/routing/parents";
import { RequestError } from "@/ui/section";

import { organizationSettingsQuery } from "./queries";

export const organizationSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/organization",
  loader: ({ context: { scope } }) =>
    Promise.all([ensure(featureFlagsQuery(scope)), ensure(organizationSettingsQuery(scope))]),
  errorComponent: RequestError,
  component: lazyPage(() => import("./views/organization"), "OrganizationPage"),
});
