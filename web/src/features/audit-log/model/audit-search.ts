import type { AuditAction } from "@/api/types";

import { ACTIONS } from "./audit-actions";

/** Search parameters of the audit log. */
export interface AuditSearch {
  action?: AuditAction;
  /** Cursors of the visited pages, for the way back. The newest page has none. */
  pages?: string[];
}

/** Returns the valid parameters, without empty ones. */
export function auditSearch({ action, pages }: Record<string, unknown>): AuditSearch {
  const cursors = Array.isArray(pages) ? pages.filter((page) => typeof page === "string") : [];
  return {
    ...(typeof action === "string" && action in ACTIONS && { action: action as AuditAction }),
    ...(cursors.length > 0 && { pages: cursors }),
  };
}
