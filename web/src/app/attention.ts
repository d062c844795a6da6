/** What needs the person: change requests, and other requests that wait for approval on this machine. */
import { useQuery } from "@tanstack/react-query";

import { computeTargetsQuery } from "@/api/queries";
import { type Scope, useScope } from "@/api/scope";
import type { ChangeRequest, WaitingRequest } from "@/api/types";
import { approvalsQuery } from "@/features/approvals/queries";
import { needOf } from "@/features/change-requests/model/states";
import {
  fetchAfter,
  firstPageQuery,
  heldQuery,
  type ListPosition,
  NEEDS_ME,
} from "@/features/change-requests/queries";
import { humanise } from "@/model/status";

export interface Attention {
  /** Those of the first page of change requests, then the approvals. */
  items: AttentionItem[];
  /** Number of all items. */
  count: number;
  /** When the last listed change request changed, ISO 8601, if there are further ones. */
  end: string | undefined;
}

export interface AttentionItem {
  /** Stays the same until the item is settled. */
  id: string;
  title: string;
  /** What is requested of the person. */
  request: string;
  /** Absent for an approval. */
  position?: ListPosition;
  link:
    | { to: "/$orgSlug/approvals"; params: { orgSlug: string } }
    | { to: "/$orgSlug/work/$slug"; params: { orgSlug: string; slug: string } };
}

/** Returns what needs the person. Undefined while it is not known. */
export function useAttention(): Attention | undefined {
  const scope = useScope();
  const page = useQuery({
    ...firstPageQuery(scope, NEEDS_ME),
    // The title and the notifications of a hidden tab are what the person sees of it.
    refetchIntervalInBackground: true,
  }).data;
  const approvals = useOtherApprovals();
  if (!page || !approvals) return undefined;
  const total = page.total ?? page.data.length;
  return {
    items: [
      ...page.data.flatMap((request) => changeRequestItem(request, scope)),
      ...approvals.map((request) => approvalItem(request, scope)),
    ],
    count: total + approvals.length,
    end: total > page.data.length ? page.data.at(-1)?.changedAt : undefined,
  };
}

/** Returns the item after that at an index, or after a change request that is not listed. */
export async function itemAfter(
  scope: Scope,
  { items, end }: Attention,
  index: number,
  unlisted: ListPosition | undefined,
): Promise<AttentionItem | undefined> {
  const lastRequest = items.findLastIndex(({ position }) => position !== undefined);
  const position = index < 0 ? unlisted : items[index]?.position;
  if (end === undefined || position === undefined || (index >= 0 && index < lastRequest))
    return items[index + 1] ?? items[0];
  const { data } = await fetchAfter(scope, NEEDS_ME, position, new AbortController().signal);
  const [next] = data.flatMap((request) => changeRequestItem(request, scope));
  return next ?? items[lastRequest + 1] ?? items[0];
}

/**
 * Returns the requests that wait for approval on this machine, except those of change requests that need the person.
 * Undefined while they are not known.
 */
export function useOtherApprovals(): WaitingRequest[] | undefined {
  const scope = useScope();
  const page = useQuery(firstPageQuery(scope, NEEDS_ME)).data;
  const hasFurther = page !== undefined && (page.total ?? 0) > page.data.length;
  const further = useQuery({ ...heldQuery(scope), enabled: hasFurther });
  const { data: targets } = useQuery(computeTargetsQuery(scope));
  const isGatewayOnline = targets?.some(({ isOnline }) => isOnline) ?? false;
  const approvals = useQuery({
    ...approvalsQuery(scope),
    // Without an online machine there is no gateway to poll.
    enabled: isGatewayOnline,
  });
  if (!targets || !page || (isGatewayOnline && approvals.isPending)) return undefined;
  if (hasFurther && further.isPending) return undefined;
  const waiting = approvals.isError ? [] : (approvals.data?.waiting ?? []);
  const requests = [...page.data, ...(further.data ?? [])];
  return waiting.filter(({ id }) => !requests.some((request) => isHeldBy(request, id)));
}

const isHeldBy = ({ details: { activity } }: ChangeRequest, approvalId: string): boolean =>
  activity?.kind === "approval" && activity.id === approvalId;

function changeRequestItem(request: ChangeRequest, scope: Scope): AttentionItem[] {
  const { attention, document, loopId } = request;
  if (!attention) return [];
  return [
    {
      id: `${attention}/${loopId ?? document.id}`,
      title: document.title,
      request: needOf(attention).text,
      position: request,
      link: {
        to: "/$orgSlug/work/$slug",
        params: { orgSlug: scope.organization, slug: document.slug },
      },
    },
  ];
}

const approvalItem = (request: WaitingRequest, scope: Scope): AttentionItem => ({
  id: `approval/${request.id}`,
  title: humanise(request.operationId),
  request: "Waiting for your approval",
  link: { to: "/$orgSlug/approvals", params: { orgSlug: scope.organization } },
});
