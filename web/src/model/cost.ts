/** Cost of a loop. */
import type { Loop } from "@/api/types";

export interface Money {
  usd: number;
  /** Origin of the amount, for display. */
  source: string;
}

/** Returns the cost that the assistant reports, or an estimate from its tokens at list prices. */
export function moneyOf(
  loop: Pick<Loop, "estimatedCost" | "reportedCost" | "apiKeySource">,
): Money | undefined {
  if (loop.reportedCost != null && loop.reportedCost > 0) {
    return {
      usd: loop.reportedCost,
      source:
        loop.apiKeySource === "none"
          ? "List price reported by the assistant; the account is a subscription"
          : "Reported by the assistant",
    };
  }
  return loop.estimatedCost != null && loop.estimatedCost > 0
    ? { usd: loop.estimatedCost, source: "Estimated from tokens at list prices" }
    : undefined;
}
