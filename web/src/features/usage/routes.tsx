import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const usageRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/usage",
  component: lazyRouteComponent(() => import("./views/usage"), "UsagePage"),
});
