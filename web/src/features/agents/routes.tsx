import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import { settingsRoute } from "@/routing/parents";

export const agentsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/agents",
  component: lazyRouteComponent(() => import("./views/agents"), "AgentsPage"),
});

export const agentRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/agents/$slug",
  component: lazyRouteComponent(() => import("./views/agent"), "AgentPage"),
});
