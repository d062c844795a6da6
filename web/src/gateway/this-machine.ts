/** The page's one connection to the gateway of its machine; its session lives and dies with the page. */
import { api, unwrap } from "@/api/client";
import { computeTargetsQuery } from "@/api/queries";
import { queryClient } from "@/query-client";

import { LocalGateway } from "./local-gateway";

export const gateway = new LocalGateway({
  challenge: async () => {
    const { challengeToken } = await unwrap(
      api.POST("/compute-targets/local-auth/challenge", {
        body: { origin: window.location.origin },
      }),
    );
    return challengeToken;
  },
  knownGatewayIds: async () => {
    const targets = await queryClient.query(computeTargetsQuery);
    return targets.flatMap(({ gatewayId }) => gatewayId ?? []);
  },
});
