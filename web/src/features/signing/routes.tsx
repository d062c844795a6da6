import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const signingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/signing",
  component: lazyRouteComponent(() => import("./views/signing"), "SigningPage"),
});
