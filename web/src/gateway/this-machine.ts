/** The client of the gateway on this machine, shared by all components. Its session ends with the page. */
import { api, unwrap } from "@/api/client";
import { computeTargetsQuery } from "@/api/queries";
import type { ComputeTarget } from "@/api/types";
import { queryClient } from "@/api/query-client";

import { type KnownGateway, LocalGateway } from "./local-gateway";

export const gateway = new LocalGateway({
  challenge: async () => {
    const { challengeToken } = await unwrap(
      api.POST("/compute-targets/local-auth/challenge", {
        body: { origin: window.location.origin },
      }),
    );
    return challengeToken;
  },
  knownGateways: async () => {
    const targets = await queryClient.query(computeTargetsQuery);
    // `ownerName` is set for desktops that other users share. Their gateways reject this account.
    return targets.filter(({ ownerName }) => !ownerName).flatMap(gatewayOf);
  },
});

function gatewayOf({ gatewayId, capabilities }: ComputeTarget): KnownGateway[] {
  if (!gatewayId) return [];
  const { gatewayPort: port } = capabilities as { gatewayPort?: unknown };
  return [{ id: gatewayId, ...(typeof port === "number" && { port }) }];
}
