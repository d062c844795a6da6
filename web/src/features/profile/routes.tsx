import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { sessionsQuery } from "./queries";

export const profileRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/profile",
  loader: ({ context: { scope } }) => ensure(sessionsQuery(scope)),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/profile"), "ProfilePage"),
});
