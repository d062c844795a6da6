import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const apiKeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/keys",
  component: lazyRouteComponent(() => import("./views/api-keys"), "ApiKeysPage"),
});
