import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";

/** Usage of loops in a period. Both days have the form `2026-11-27` or are blank, and are inclusive. */
export const usageQuery = (since: string, until: string) =>
  queryOptions({
    queryKey: ["usage", since, until],
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
