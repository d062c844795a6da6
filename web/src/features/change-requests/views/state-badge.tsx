import type { ChangeRequest } from "@/api/types";
import { GlyphBadge } from "@/ui/status-badge";

import { stateFacts, stateLabel } from "../model/states";

/** State of a change request: label, colour, and a shape that distinguishes the states without colour. */
export function StateBadge({ request }: { request: Pick<ChangeRequest, "state" | "details"> }) {
  const { tone, isActive } = stateFacts(request.state);
  return (
    <GlyphBadge tone={tone} isActive={(isActive ?? false) && tone === "run"}>
      {stateLabel(request)}
    </GlyphBadge>
  );
}
