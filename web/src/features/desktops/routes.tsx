import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const desktopsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/desktops",
  component: lazyRouteComponent(() => import("./views/desktops"), "DesktopsPage"),
});
