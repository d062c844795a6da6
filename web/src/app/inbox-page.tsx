/** What needs the person. Without any change request, also what this machine lacks for loops. */
import { Link, useParams } from "@tanstack/react-router";

import { Inbox } from "@/features/change-requests/views/inbox";
import { SetUpPanel } from "@/features/set-up/views/set-up";
import { buttonClass } from "@/ui/button";
import { Notice } from "@/ui/panel";

import { useOtherApprovals } from "./attention";

export function InboxPage() {
  return <Inbox setUp={<SetUpPanel />} approvals={<ApprovalsNotice />} />;
}

/** Requests of other programs than loops, which belong to no change request. */
function ApprovalsNotice() {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const count = useOtherApprovals()?.length ?? 0;
  if (count === 0) return null;
  return (
    <div className="mt-4">
      <Notice
        tone="warn"
        title={
          count === 1
            ? "1 request on this machine needs your approval"
            : `${count} requests on this machine need your approval`
        }
        action={
          <Link
            to="/$orgSlug/approvals"
            params={{ orgSlug }}
            className={buttonClass("plain", "sm")}
          >
            Approvals
          </Link>
        }
      />
    </div>
  );
}
