import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { organizationRoute } from "@/routing/parents";
import { onlyValid } from "@/routing/valid-search";

import { loopFilters } from "./model/filters";
import { firstPageQuery } from "./queries";
import { LoadingLoops } from "./views/loading-loops";

/** The app adds the component, which needs other features. */
export const loopsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops",
  validateSearch: onlyValid(loopFilters),
  // Without `loaderDeps`: a new search must not replace the page and its input while it is loading.
  loader: ({ context: { scope }, location }) =>
    ensure(firstPageQuery(scope, loopFilters(location.search))),
  pendingComponent: LoadingLoops,
});
