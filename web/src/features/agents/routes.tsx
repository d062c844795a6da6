import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { agentQuery, agentsQuery, agentVersionsQuery } from "./queries";

const agentSearch = ({ search }: Record<string, unknown>): { search?: string } =>
  typeof search === "string" && search !== "" ? { search } : {};

export const agentsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/agents",
  validateSearch: onlyValid(agentSearch),
  // Without `loaderDeps`: a new search must not replace the page and its input while it is loading.
  loader: ({ context: { scope }, location }) =>
    ensure(agentsQuery(scope, agentSearch(location.search).search ?? "")),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/agents"), "AgentsPage"),
});

export const agentRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/agents/$slug",
  loader: ({ context: { scope }, params: { slug } }) =>
    Promise.all([ensure(agentQuery(scope, slug)), ensure(agentVersionsQuery(scope, slug))]),
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/agent"), "AgentPage"),
});
