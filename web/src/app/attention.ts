/** What needs the person: requests that wait for approval on this machine, and loops with a question. */
import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { computeTargetsQuery, meQuery, QUIET_POLL_MS } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { Loop, WaitingRequest } from "@/api/types";
import { approvalsQuery } from "@/features/approvals/queries";
import { humanise } from "@/model/status";
import { loopTitle } from "@/model/title";

export interface AttentionItem {
  /** Stays the same until the item is settled. */
  id: string;
  title: string;
  /** What is requested of the person. */
  request: string;
  link:
    | { to: "/$orgSlug/approvals"; params: { orgSlug: string } }
    | { to: "/$orgSlug/loops/$loopId"; params: { orgSlug: string; loopId: string } };
}

/**
 * Loops of the person whose question is not answered, among the newest 200. An answer is a loop that continues the one
 * with the question.
 */
const questionsQuery = ({ api, key }: Scope, userId: string) =>
  queryOptions({
    queryKey: key("loops", "questions", userId),
    queryFn: async ({ signal }) => {
      const list = (query: { status?: Loop["status"][]; limit?: number }) =>
        unwrap(api.GET("/loops", { params: { query }, signal }));
      const asked = await list({ status: ["AWAITING_USER"] });
      const own = asked.filter((loop) => loop.userId === userId);
      if (own.length === 0) return own;
      const newest = await list({ limit: 200 });
      const ids = new Set(newest.map(({ id }) => id));
      const answered = new Set(newest.map(({ parentLoopId }) => parentLoopId));
      return own.filter(({ id }) => ids.has(id) && !answered.has(id));
    },
    refetchInterval: QUIET_POLL_MS,
    // The title and the notifications of a hidden tab are what the person sees of it.
    refetchIntervalInBackground: true,
  });

/** Returns what needs the person. Undefined while it is not known. */
export function useAttention(): AttentionItem[] | undefined {
  const scope = useScope();
  const { data: targets } = useQuery(computeTargetsQuery(scope));
  const isGatewayOnline = targets?.some(({ isOnline }) => isOnline) ?? false;
  const approvals = useQuery({
    ...approvalsQuery(scope),
    // Without an online machine there is no gateway to poll.
    enabled: isGatewayOnline,
  });
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const { data: questions } = useQuery(questionsQuery(scope, me.id));
  if (!targets || !questions || (isGatewayOnline && approvals.isPending)) return undefined;
  const waiting = approvals.isError ? [] : (approvals.data?.waiting ?? []);
  return [
    ...waiting.map((request) => approvalItem(request, scope)),
    ...questions.map((loop) => questionItem(loop, scope)),
  ];
}

const approvalItem = (request: WaitingRequest, scope: Scope): AttentionItem => ({
  id: `approval/${request.id}`,
  title: humanise(request.operationId),
  request: "Waiting for your approval",
  link: { to: "/$orgSlug/approvals", params: { orgSlug: scope.organization } },
});

const questionItem = (loop: Loop, scope: Scope): AttentionItem => ({
  id: `question/${loop.id}`,
  title: loopTitle(loop),
  request: "The assistant needs your answer",
  link: {
    to: "/$orgSlug/loops/$loopId",
    params: { orgSlug: scope.organization, loopId: loop.id },
  },
});
