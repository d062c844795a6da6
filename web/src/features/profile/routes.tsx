import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const profileRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/profile",
  component: lazyRouteComponent(() => import("./views/profile"), "ProfilePage"),
});
