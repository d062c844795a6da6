import { createRoute } from "@tanstack/react-router";

import { computeTargetsQuery, meQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { browserKeyQuery, publicKeysQuery } from "./queries";

export const signingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/signing",
  loader: async ({ context: { scope } }) => {
    const { id } = await ensure(meQuery(scope));
    await Promise.all([
      ensure(computeTargetsQuery(scope)),
      ensure(publicKeysQuery(scope)),
      ensure(browserKeyQuery(scope, id)),
    ]);
  },
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/signing"), "SigningPage"),
});
