import { createRoute } from "@tanstack/react-router";

import { organizationRoute } from "@/routing/parents";

/** The app adds the component, which needs other features. */
export const newLoopRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops/new",
});
