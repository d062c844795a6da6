import type { Document } from "@/api/types";

export const TYPE_NAMES: Record<Document["type"], string> = {
  FEATURE: "Request",
  PRD: "Requirements",
  IMPLEMENTATION_PLAN: "Plan",
};
