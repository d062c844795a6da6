import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { usageSearch } from "./model/usage-search";
import { usageQuery } from "./queries";

export const usageRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/usage",
  validateSearch: onlyValid(usageSearch),
  // Without `loaderDeps`: a new period must not replace the page and its form while it is loading.
  loader: ({ context: { scope }, location }) => {
    const { since = "", until = "" } = usageSearch(location.search);
    return ensure(usageQuery(scope, since, until));
  },
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/usage"), "UsagePage"),
});
