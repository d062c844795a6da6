import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";

/** Usage of loops in a period. Both days have the form `2026-11-27` or are blank, and are inclusive. */
export const usageQuery = ({ api, key }: Scope, since: string, until: string) =>
  queryOptions({
    queryKey: key("usage", since, until),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/loops/usage", {
          params: {
            query: {
              ...(since && { startDate: since }),
              ...(until && { endDate: `${until}T23:59:59.999Z` }),
            },
          },
          signal,
        }),
      ),
  });
