import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { changesAddress, type ChangesAddress } from "@/routing/changes-address";
import { logSearch, type LogSearch } from "@/routing/log-search";
import { organizationRoute } from "@/routing/parents";
import { onlyValid } from "@/routing/valid-search";
import { SubpageError } from "@/ui/route-states";

import { LOOP_TABS, type LoopTab } from "./model/tabs";
import { loopQuery } from "./queries";
import { LoadingLoop } from "./views/loading-loop";

interface LoopSearch extends LogSearch, ChangesAddress {
  tab?: LoopTab;
}

/** The app adds the component, which needs other features. */
export const loopRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops/$loopId",
  validateSearch: onlyValid((search): LoopSearch => {
    const tab = LOOP_TABS.find((name) => name === search.tab);
    return { ...(tab && { tab }), ...logSearch(search), ...changesAddress(search) };
  }),
  loader: ({ context: { scope }, params }) => ensure(loopQuery(scope, params.loopId)),
  pendingComponent: LoadingLoop,
  errorComponent: SubpageError,
});
