import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const organizationSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/organization",
  component: lazyRouteComponent(() => import("./views/organization"), "OrganizationPage"),
});
