import { createRoute } from "@tanstack/react-router";

import { lazyPage } from "@/routing/lazy-page";
import { settingsRoute } from "@/routing/parents";

export const machineRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/machine",
  component: lazyPage(() => import("./views/machine"), "MachinePage"),
});
