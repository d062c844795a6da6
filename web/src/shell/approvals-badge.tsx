import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hand } from "lucide-react";

import { computeTargetsQuery } from "@/api/queries";
import { approvalsQuery } from "@/gateway/approvals";
import { cx } from "@/ui/cx";

/** Says on every page that requests wait for the owner of this machine; nothing while none does. */
export function ApprovalsBadge({ orgSlug }: { orgSlug: string }) {
  const { data: targets } = useQuery(computeTargetsQuery);
  const { data, isError } = useQuery({
    ...approvalsQuery,
    // Without a desktop there is no gateway to look for.
    enabled: targets?.some((target) => target.isOnline) ?? false,
  });
  const count = isError ? 0 : (data?.waiting.length ?? 0);
  const text = count === 1 ? "1 request waits for you" : `${count} requests wait for you`;
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
            {count} waiting
          </span>
          <span aria-hidden className="sm:hidden">
            {count}
          </span>
        </Link>
      )}
    </div>
  );
}
