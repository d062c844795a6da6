import { createRoute } from "@tanstack/react-router";

import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";

export const machineRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/machine",
  component: lazyView(() => import("./views/machine"), "MachinePage"),
});
