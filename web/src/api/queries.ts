/** Reads that several features and the shell share. Other reads and all writes are in the features. */
import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "./client";
import { type Scope } from "./scope";

/** Polling interval of lists that change rarely. */
export const QUIET_POLL_MS = 15_000;

export const meQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("me"),
    queryFn: ({ signal }) => unwrap(api.GET("/me", { signal })),
    staleTime: 5 * 60_000,
  });

/** Feature flags of the organization. */
export const featureFlagsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("feature-flags"),
    queryFn: ({ signal }) => unwrap(api.GET("/feature-flags", { signal })),
    staleTime: 5 * 60_000,
  });

export const computeTargetsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("compute-targets"),
    queryFn: ({ signal }) => unwrap(api.GET("/compute-targets", { signal })),
    refetchInterval: QUIET_POLL_MS,
  });

export const membersQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("members"),
    queryFn: ({ signal }) => unwrap(api.GET("/members", { signal })),
  });

export const documentQuery = ({ api, key }: Scope, idOrSlug: string) =>
  queryOptions({
    queryKey: key("documents", idOrSlug),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/documents/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
  });
