import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { QUIET_POLL_MS } from "@/api/queries";
import { type Scope } from "@/api/scope";
import { isActive } from "@/model/status";

const ACTIVE_POLL_MS = 3_000;
// The list is neither paged nor virtualized: the limit bounds the rows to render.
const LOOP_LIMIT = 200;

export const loopsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("loops"),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/loops", { params: { query: { limit: LOOP_LIMIT } }, signal })),
    refetchInterval: ({ state }) =>
      (state.data ?? []).some((loop) => isActive(loop.status)) ? ACTIVE_POLL_MS : QUIET_POLL_MS,
  });
