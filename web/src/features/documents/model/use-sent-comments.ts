import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";

import { loopRecordQuery } from "../queries";
import { type SentComment, sentComments } from "./change-request";

// The same array for all renders of a version without comments.
const NONE: SentComment[] = [];

/** Returns the comments that a loop received. Undefined while it is loading. */
export function useSentComments(loopId: string | undefined): SentComment[] | undefined {
  const { data: loop } = useQuery(loopRecordQuery(useScope(), loopId));
  if (loopId === undefined) return NONE;
  if (!loop) return undefined;
  return loop.command === "REQUEST_CHANGES" ? sentComments(loop.prompt ?? "") : NONE;
}
