/** What waits for the owner of this machine. A page can look, and never decide. */
import { queryOptions } from "@tanstack/react-query";

import { GatewayError } from "./local-gateway";
import { gateway } from "./this-machine";

/** How often it is looked at while something waits; it waits for a minute or two. */
const WAITING_POLL_MS = 1_500;
const QUIET_POLL_MS = 3_000;
/** Where no gateway of ours answers there is seldom one a moment later. */
const ABSENT_POLL_MS = 30_000;

export const approvalsQuery = queryOptions({
  queryKey: ["gateway", "approvals"],
  queryFn: ({ signal }) => gateway.approvals(signal),
  refetchInterval: ({ state }) => {
    if (state.error instanceof GatewayError) return ABSENT_POLL_MS;
    return (state.data?.waiting ?? []).length > 0 ? WAITING_POLL_MS : QUIET_POLL_MS;
  },
  retry: false,
});
