import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { organizationRoute } from "@/routing/parents";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";

import { parseSearch } from "./model/search";
import { workAddress } from "./model/work-address";
import { firstPageQuery, NEEDS_ME } from "./queries";
import { LoadingList } from "./views/loading-list";

/** What needs the person. The app adds the component, which needs other features. */
export const inboxRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/inbox",
  loader: ({ context: { scope } }) => ensure(firstPageQuery(scope, NEEDS_ME)),
  pendingComponent: () => <LoadingList title="Needs you" />,
});

/** All change requests. */
export const workRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/work",
  validateSearch: onlyValid(workAddress),
  // Without `loaderDeps`: a new search must not replace the page and its input while it is loading.
  loader: ({ context: { scope }, location }) =>
    ensure(firstPageQuery(scope, parseSearch(workAddress(location.search).q ?? ""))),
  pendingComponent: () => <LoadingList title="Work" />,
  component: lazyView(() => import("./views/work-list"), "WorkList"),
});
