import { createRoute } from "@tanstack/react-router";

import { computeTargetsQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

export const desktopsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/desktops",
  loader: ({ context: { scope } }) => ensure(computeTargetsQuery(scope)),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/desktops"), "DesktopsPage"),
});
