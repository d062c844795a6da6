/** The clients of the gateway on this machine, one for each organization. Their sessions end with the page. */
import { unwrap } from "@/api/client";
import { computeTargetsQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import type { Scope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";

import { type KnownGateway, LocalGateway } from "./local-gateway";

/** Default ports of a gateway, in the order in which it tries to bind them. */
const DEFAULT_PORTS = [19432, 19433, 19434, 19435] as const;

/** Ports that the policy of this page allows. The development server names none. */
const pagePorts = (
  document.querySelector<HTMLMetaElement>('meta[name="gateway-ports"]')?.content.match(/\d+/g) ??
  DEFAULT_PORTS
).map(Number);

const gateways = new WeakMap<Scope, LocalGateway>();

export function gatewayOf(scope: Scope): LocalGateway {
  const known = gateways.get(scope);
  if (known) return known;
  const gateway = new LocalGateway({
    challenge: async () => {
      const { challengeToken } = await unwrap(
        scope.api.POST("/compute-targets/local-auth/challenge", {
          body: { origin: window.location.origin },
        }),
      );
      return challengeToken;
    },
    ports: pagePorts,
    knownGateways: async () => {
      const targets = await queryClient.query(computeTargetsQuery(scope));
      // `ownerName` is set for desktops that other users share. Their gateways reject this account.
      return targets.filter(({ ownerName }) => !ownerName).flatMap(knownGateway);
    },
  });
  gateways.set(scope, gateway);
  return gateway;
}

function knownGateway({ gatewayId, capabilities }: ComputeTarget): KnownGateway[] {
  if (!gatewayId) return [];
  const { gatewayPort: port } = capabilities as { gatewayPort?: unknown };
  return [{ id: gatewayId, ...(typeof port === "number" && { port }) }];
}
