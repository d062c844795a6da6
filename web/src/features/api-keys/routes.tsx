import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { apiKeysQuery } from "./queries";

export const apiKeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/keys",
  loader: ({ context: { scope } }) => ensure(apiKeysQuery(scope)),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/api-keys"), "ApiKeysPage"),
});
