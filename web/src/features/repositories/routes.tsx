import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { settingsRoute } from "@/routing/parents";
import { RequestError } from "@/ui/section";

import { repositoriesQuery } from "./queries";

export const repositoriesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/repositories",
  loader: ({ context: { scope } }) => ensure(repositoriesQuery(scope)),
  errorComponent: RequestError,
  component: lazyRouteComponent(() => import("./views/repositories"), "RepositoriesPage"),
});
