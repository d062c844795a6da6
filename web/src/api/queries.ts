/** Reads that several features and the shell share. Other reads and all writes are in the features. */
import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "./client";

/** Polling interval of lists that change rarely. */
export const QUIET_POLL_MS = 15_000;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => unwrap(api.GET("/me", { signal })),
  staleTime: 5 * 60_000,
});

/** Feature flags of the organization. */
export const featureFlagsQuery = queryOptions({
  queryKey: ["feature-flags"],
  queryFn: ({ signal }) => unwrap(api.GET("/feature-flags", { signal })),
  staleTime: 5 * 60_000,
});

export const computeTargetsQuery = queryOptions({
  queryKey: ["compute-targets"],
  queryFn: ({ signal }) => unwrap(api.GET("/compute-targets", { signal })),
  refetchInterval: QUIET_POLL_MS,
});

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => unwrap(api.GET("/members", { signal })),
});
