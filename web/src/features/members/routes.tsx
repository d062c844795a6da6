import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/members",
  component: lazyRouteComponent(() => import("./views/members"), "MembersPage"),
});
