/** Route of a change request, whose stages are parts of several features. */
import { createRoute, redirect } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";
import { changeRequestQuery } from "@/api/queries";
import { ensure, queryClient } from "@/api/query-client";
import { type ChangeRequestTab, tabOf, TABS } from "@/features/change-requests/model/tabs";
import { LoadingChangeRequest } from "@/features/change-requests/views/loading-change-request";
import { changesAddress, type ChangesAddress } from "@/routing/changes-address";
import { logSearch, type LogSearch } from "@/routing/log-search";
import { organizationRoute } from "@/routing/parents";
import { planSearch, type PlanSearch } from "@/routing/plan-search";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { RouteError } from "@/ui/route-states";

const page = () => import("./change-request-page");

/** The tab, and what its stage shows. */
interface StageSearch extends PlanSearch, LogSearch, ChangesAddress {
  tab?: ChangeRequestTab;
}

function stageSearch(search: Record<string, unknown>): StageSearch {
  const tab = TABS.find((name) => name === search.tab);
  return {
    ...(tab && { tab }),
    ...planSearch(search),
    ...logSearch(search),
    ...changesAddress(search),
  };
}

export const changeRequestRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/work/$slug",
  validateSearch: onlyValid(stageSearch),
  // Without `loaderDeps`: another tab replaces the content of the tab, not the page.
  loader: async ({ context: { scope }, params, location }) => {
    const [request, { loadStage }] = await Promise.all([
      ensure(changeRequestQuery(scope, params.slug)),
      loadChunk(page),
    ]);
    const { slug } = request.document;
    if (slug === params.slug) {
      const { tab = tabOf(request) } = stageSearch(location.search);
      // The tab reports a failure.
      await loadStage(scope, request, tab).catch(() => undefined);
      return;
    }
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
  component: lazyView(page, "ChangeRequestWithStages"),
});
