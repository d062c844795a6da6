import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import type { LoopCommand, LoopStatus } from "@/api/types";
import { STATUSES } from "@/model/status";
import { organizationRoute } from "@/routing/parents";

import { loopsQuery } from "./queries";
import { LoadingLoops } from "./views/loading-loops";

/** Filters of the loops list. Part of the address, so that a filtered view can be shared. */
export interface LoopFilters {
  status?: LoopStatus[];
  command?: LoopCommand[];
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The app adds the component, which needs other features. */
export const loopsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops",
  validateSearch: (search): LoopFilters => {
    const status = STATUSES.filter((name) => list(search.status).includes(name));
    // The server defines the commands: the list shows those that occur.
    const command = list(search.command).filter(
      (name): name is LoopCommand => typeof name === "string",
    );
    return { ...(status.length > 0 && { status }), ...(command.length > 0 && { command }) };
  },
  loader: ({ context: { scope } }) => ensure(loopsQuery(scope)),
  pendingComponent: LoadingLoops,
});
