import { createRoute } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";
import { documentQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import { organizationRoute } from "@/routing/parents";
import { planSearch, type PlanSearch } from "@/routing/plan-search";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { SubpageError } from "@/ui/route-states";

import { documentVersionQuery } from "./queries";
import { LoadingDocument } from "./views/document-skeleton";

const view = () => import("./views/document");

/** Loads a document with what displays it, and the texts of the other versions that the address names. */
async function loadDocument(scope: Scope, slug: string, { version, compare }: PlanSearch) {
  const [document, { loadDocumentView }] = await Promise.all([
    ensure(documentQuery(scope, slug)),
    loadChunk(view),
  ]);
  const { id, currentVersion } = document;
  const others = [version, compare].filter((other) => other !== undefined);
  await Promise.all([
    loadDocumentView(scope, document),
    ...others
      .filter((other) => other < currentVersion)
      .map((other) => ensure(documentVersionQuery(scope, id, other))),
  ]);
}

/** Options of both routes, which differ in their addresses only. */
const page = {
  getParentRoute: () => organizationRoute,
  validateSearch: onlyValid(planSearch),
  loaderDeps: ({ search }: { search: PlanSearch }) => search,
  pendingComponent: LoadingDocument,
  errorComponent: SubpageError,
  component: lazyView(view, "DocumentPage"),
};

export const documentRoute = createRoute({
  ...page,
  path: "/documents/$slug",
  loader: ({ context, params, deps }) => loadDocument(context.scope, params.slug, deps),
});

export const planRoute = createRoute({
  ...page,
  path: "/implementation-plans/$slug",
  loader: ({ context, params, deps }) => loadDocument(context.scope, params.slug, deps),
});
