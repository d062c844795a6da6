import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import { lazyPage } from "@/routing/lazy-page";
import { organizationRoute } from "@/routing/parents";
import { SubpageError } from "@/ui/route-states";

import { documentQuery, documentVersionQuery } from "./queries";
import { LoadingDocument } from "./views/document-skeleton";

/** Search parameters: the version to show, by default the current one. */
interface DocumentSearch {
  version?: number;
}

/** Loads a document, and the text of an earlier version if the address names one. */
async function loadDocument(scope: Scope, slug: string, { version }: DocumentSearch) {
  const { id, currentVersion } = await ensure(documentQuery(scope, slug));
  if (version !== undefined && version !== currentVersion)
    await ensure(documentVersionQuery(scope, id, version));
}

/** Options of both routes, which differ in their addresses only. */
const page = {
  getParentRoute: () => organizationRoute,
  validateSearch: ({ version }: Record<string, unknown>): DocumentSearch =>
    typeof version === "number" && Number.isInteger(version) && version > 0 ? { version } : {},
  loaderDeps: ({ search }: { search: DocumentSearch }) => search,
  pendingComponent: LoadingDocument,
  errorComponent: SubpageError,
  component: lazyPage(() => import("./views/document"), "DocumentPage"),
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
