import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const machineRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/machine",
  component: lazyRouteComponent(() => import("./views/machine"), "MachinePage"),
});
