import { createRoute, lazyRouteComponent } from "@tanstack/react-router";

import type { LoopCommand, LoopStatus } from "@/api/types";
import { organizationRoute } from "@/routing/parents";

/** Filters of the loops list. Part of the address, so that a filtered view can be shared. */
export interface LoopFilters {
  status?: LoopStatus[];
  command?: LoopCommand[];
}

const stringArray = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

export const loopsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops",
  validateSearch: (search): LoopFilters => {
    const status = stringArray(search.status) as LoopStatus[];
    const command = stringArray(search.command) as LoopCommand[];
    return { ...(status.length > 0 && { status }), ...(command.length > 0 && { command }) };
  },
  component: lazyRouteComponent(() => import("./views/loops-list"), "LoopsList"),
});
