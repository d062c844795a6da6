import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { repositoriesQuery } from "./queries";

export const repositoriesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/repositories",
  loader: ({ context: { scope } }) => ensure(repositoriesQuery(scope)),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/repositories"), "RepositoriesPage"),
});
