import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hand } from "lucide-react";

import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { cx } from "@/ui/cx";

import { approvalsQuery } from "../queries";

/** Link to the approvals page with the number of pending requests. Hidden when there are none. */
export function ApprovalsBadge({ orgSlug }: { orgSlug: string }) {
  const scope = useScope();
  const { data: targets } = useQuery(computeTargetsQuery(scope));
  const { data, isError } = useQuery({
    ...approvalsQuery(scope),
    // Without an online desktop there is no gateway to poll.
    enabled: targets?.some((target) => target.isOnline) ?? false,
  });
  const count = isError ? 0 : (data?.waiting.length ?? 0);
  const text =
    count === 1 ? "1 request needs your approval" : `${count} requests need your approval`;
  return (
    <div role="status">
      {count > 0 && (
        <Link
          to="/$orgSlug/approvals"
          params={{ orgSlug }}
          aria-label={text}
          className={cx(
            "inline-flex h-7.5 items-center gap-1.5 rounded-md bg-warn-soft px-2.5 text-sm",
            "font-medium whitespace-nowrap text-warn hover:underline [&_svg]:size-4",
          )}
        >
          <Hand aria-hidden />
          <span aria-hidden className="max-sm:hidden">
            {count} pending
          </span>
          <span aria-hidden className="sm:hidden">
            {count}
          </span>
        </Link>
      )}
    </div>
  );
}
