import { createRoute, redirect } from "@tanstack/react-router";

import { changeRequestQuery } from "@/api/queries";
import { ensure, queryClient } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { changesAddress, type ChangesAddress } from "@/routing/changes-address";
import { logSearch, type LogSearch } from "@/routing/log-search";
import { organizationRoute } from "@/routing/parents";
import { planSearch, type PlanSearch } from "@/routing/plan-search";
import { RouteError } from "@/ui/route-states";

import { parseSearch } from "./model/search";
import { type ChangeRequestTab, TABS } from "./model/tabs";
import { workAddress } from "./model/work-address";
import { firstPageQuery, NEEDS_ME } from "./queries";
import { LoadingList } from "./views/loading-list";
import { LoadingChangeRequest } from "./views/loading-change-request";

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
  validateSearch: workAddress,
  // Without `loaderDeps`: a new search must not replace the page and its input while it is loading.
  loader: ({ context: { scope }, location }) =>
    ensure(firstPageQuery(scope, parseSearch(workAddress(location.search).q ?? ""))),
  pendingComponent: () => <LoadingList title="Work" />,
  component: lazyView(() => import("./views/work-list"), "WorkList"),
});

/** The tab, and what its stage shows. */
interface StageSearch extends PlanSearch, LogSearch, ChangesAddress {
  tab?: ChangeRequestTab;
}

/** A change request; its stages are tabs. The app adds the component, which needs other features. */
export const changeRequestRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/work/$slug",
  validateSearch: (search): StageSearch => {
    const tab = TABS.find((name) => name === search.tab);
    return {
      ...(tab && { tab }),
      ...planSearch(search),
      ...logSearch(search),
      ...changesAddress(search),
    };
  },
  loader: async ({ context: { scope }, params, location }) => {
    const request = await ensure(changeRequestQuery(scope, params.slug));
    const { slug } = request.document;
    if (slug === params.slug) return;
    // The address names another of its documents, for example the plan.
    queryClient.setQueryData(changeRequestQuery(scope, slug).queryKey, request);
    throw redirect({
      to: "/$orgSlug/work/$slug",
      params: { ...params, slug },
      search: location.search,
      replace: true,
    });
  },
  pendingComponent: LoadingChangeRequest,
  errorComponent: RouteError,
});
