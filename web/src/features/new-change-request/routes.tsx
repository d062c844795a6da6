import { createRoute, redirect } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";
import { organizationRoute } from "@/routing/parents";
import { onlyValid } from "@/routing/valid-search";

export interface NewSearch {
  /** Slug of the change request that is started again with changes. */
  from?: string | undefined;
}

/** The app adds the component, which needs other features. */
export const newChangeRequestRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/new",
  validateSearch: onlyValid<NewSearch>(({ from }) =>
    typeof from === "string" && from !== "" ? { from } : {},
  ),
  loaderDeps: ({ search: { from } }) => ({ from }),
  loader: async ({ context: { scope }, deps: { from } }) => {
    const { loadForm } = await loadChunk(() => import("./views/new-change-request"));
    await loadForm(scope, from);
  },
});

/** The address of the page in earlier versions. */
export const newLoopRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/loops/new",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/new", params, replace: true });
  },
});
