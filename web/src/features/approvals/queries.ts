/** Requests that wait for approval by the owner of this machine. Pages can list them, not decide. */
import { queryOptions } from "@tanstack/react-query";

import type { Scope } from "@/api/scope";
import { GatewayError } from "@/gateway/local-gateway";
import { pendingApprovals } from "@/gateway/operations";
import { gatewayOf } from "@/gateway/this-machine";

// A pending request expires after a minute or two, so a list that has some is polled more often.
const WAITING_POLL_MS = 1_500;
const QUIET_POLL_MS = 3_000;
// The title and the notifications of a hidden tab need no faster update.
const HIDDEN_POLL_MS = 15_000;
// Without a gateway on this machine each poll probes several ports, and a gateway rarely appears soon.
const ABSENT_POLL_MS = 30_000;

export const approvalsQuery = (scope: Scope) =>
  queryOptions({
    queryKey: scope.key("gateway", "approvals"),
    queryFn: ({ signal }) => gatewayOf(scope).request(pendingApprovals, signal),
    refetchInterval: ({ state }) => {
      if (state.error instanceof GatewayError) return ABSENT_POLL_MS;
      if (document.visibilityState === "hidden") return HIDDEN_POLL_MS;
      return (state.data?.waiting ?? []).length > 0 ? WAITING_POLL_MS : QUIET_POLL_MS;
    },
    refetchIntervalInBackground: true,
    retry: false,
  });
