import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { settingsRoute } from "@/routing/parents";
import { RequestError } from "@/ui/section";

import { sessionsQuery } from "./queries";

export const profileRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/profile",
  loader: ({ context: { scope } }) => ensure(sessionsQuery(scope)),
  errorComponent: RequestError,
  component: lazyRouteComponent(() => import("./views/profile"), "ProfilePage"),
});
