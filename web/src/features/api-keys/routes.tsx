import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyPage } from "@/routing/lazy-page";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { apiKeysQuery } from "./queries";

export const apiKeysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/keys",
  loader: ({ context: { scope } }) => ensure(apiKeysQuery(scope)),
  errorComponent: SettingsError,
  component: lazyPage(() => import("./views/api-keys"), "ApiKeysPage"),
});
