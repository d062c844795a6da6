/** When the next of the running loops probably ends. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import { untilNextEnd } from "@/model/estimate";
import { useNow } from "@/ui/clock";

import { firstPageQuery } from "../queries";

const MINUTE_MS = 60_000;

/** The end of the sentence "2 loops are running". */
export function NextEnd() {
  const scope = useScope();
  const now = useNow(MINUTE_MS);
  const { data: running } = useQuery(firstPageQuery(scope, { status: ["RUNNING"] }));
  const { data: ended } = useQuery(firstPageQuery(scope, { status: ["COMPLETED"] }));
  const left = untilNextEnd(running?.data ?? [], ended?.data ?? [], now);
  if (left === undefined) return ". What needs a decision appears here.";
  const minutes = Math.max(1, Math.round(left / MINUTE_MS));
  const unit = minutes === 1 ? "minute" : "minutes";
  return `; ${running?.data.length === 1 ? "it" : "the next"} ends in about ${minutes} ${unit}.`;
}
