import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";
import type { AuditAction } from "@/api/types";

/** One page of the audit log, newest first, with the entries before the cursor `before`. */
export const auditLogQuery = (
  { api, key }: Scope,
  action: AuditAction | undefined,
  before: string | undefined,
) =>
  queryOptions({
    queryKey: key("audit-log", action, before),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/audit-log", {
          params: { query: { ...(action && { action }), ...(before && { before }), limit: 50 } },
          signal,
        }),
      ),
  });
