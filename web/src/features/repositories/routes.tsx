import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const repositoriesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/repositories",
  component: lazyRouteComponent(() => import("./views/repositories"), "RepositoriesPage"),
});
