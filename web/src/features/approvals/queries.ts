/** Requests that wait for approval by the owner of this machine. Pages can list them, not decide. */
import { queryOptions } from "@tanstack/react-query";

import type { Scope } from "@/api/scope";
import { GatewayError } from "@/gateway/local-gateway";
import { pendingApprovals } from "@/gateway/operations";
import { gatewayOf } from "@/gateway/this-machine";

// A pending request expires after a minute or two, so a visible list that has some is polled more often.
const WAITING_POLL_MS = 3_000;
// Requests of loops are announced by events; others only by the gateway. See e2e/traffic.spec.ts for what a poll costs.
const QUIET_POLL_MS = 20_000;
/** Polling interval of the page of approvals. */
export const PAGE_POLL_MS = 3_000;
// Without a gateway on this machine each poll probes several ports, and a gateway rarely appears soon.
const ABSENT_POLL_MS = 30_000;

export const approvalsQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key("gateway", "approvals"),
    queryFn: ({ signal }) => gatewayOf(scope).request(pendingApprovals, signal),
    refetchInterval: ({ state }) => {
      if (state.error instanceof GatewayError) return ABSENT_POLL_MS;
      const isWaiting = (state.data?.waiting ?? []).length > 0;
      return isWaiting && document.visibilityState === "visible" ? WAITING_POLL_MS : QUIET_POLL_MS;
    },
    refetchIntervalInBackground: true,
    retry: false,
  });
