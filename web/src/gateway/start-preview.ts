/** What a machine says about the start of a loop. */
import { queryOptions } from "@tanstack/react-query";

import type { Scope } from "@/api/scope";

import { repositoryPreview } from "./operations";
import { request } from "./request";

// The settings of a machine change rarely while a dialog is open.
const STALE_MS = 30_000;

/** What applies to a loop on a repository of a machine: approval, model and spending limit. */
export const startPreviewQuery = (
  scope: Scope,
  machine: string | undefined,
  repository: string | undefined,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "start-preview", machine, repository),
    queryFn: async ({ signal }) => {
      const preview = repositoryPreview({ repoFullName: repository ?? "" }, "");
      return (await request(scope, machine, preview, signal)).data.start ?? null;
    },
    enabled: repository !== undefined,
    staleTime: STALE_MS,
    retry: false,
  });
