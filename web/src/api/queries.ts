/** Reads that several features and the shell share. Other reads and all writes are in the features. */
import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "./client";
import { statusOf } from "./errors";
import { type Scope } from "./scope";

/**
 * Polling interval of what events refresh: in case that one is lost. An idle tab may transfer 2 KB a minute, see
 * e2e/traffic.spec.ts.
 */
export const BACKSTOP_POLL_MS = 5 * 60_000;

/** Returns the polling interval of a query, unless what it reads does not exist. */
export const unlessMissing =
  (intervalMs: number) =>
  ({ state }: { state: { error: Error | null } }): number | false =>
    statusOf(state.error) === 404 ? false : intervalMs;

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
    refetchInterval: BACKSTOP_POLL_MS,
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

export const organizationSettingsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("organization-settings"),
    queryFn: ({ signal }) => unwrap(api.GET("/organization/settings", { signal })),
  });

/** A change request, by any of its documents. */
export const changeRequestQuery = ({ api, key }: Scope, idOrSlug: string) =>
  queryOptions({
    queryKey: key("change-requests", "one", idOrSlug),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/change-requests/{idOrSlug}", { params: { path: { idOrSlug } }, signal })),
    refetchInterval: unlessMissing(BACKSTOP_POLL_MS),
  });

export const loopDetailQuery = ({ api, key }: Scope, id: string) =>
  queryOptions({
    queryKey: key("loops", id),
    queryFn: ({ signal }) => unwrap(api.GET("/loops/{id}", { params: { path: { id } }, signal })),
  });
