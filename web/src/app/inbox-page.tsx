/** What needs the person. Without any change request, also what this machine lacks for loops. */
import { Link, useParams } from "@tanstack/react-router";
import { Suspense } from "react";

import { Inbox } from "@/features/change-requests/views/inbox";
import { lazyView } from "@/ui/lazy-view";
import { buttonClass } from "@/ui/button";
import { Notice } from "@/ui/panel";

import { useOtherApprovals } from "./attention";

// Only a person without any change request needs the one, and only one whom nothing needs the other.
const SetUpPanel = lazyView(() => import("@/features/set-up/views/set-up"), "SetUpPanel");
const NextEnd = lazyView(() => import("@/features/loop-list/views/next-end"), "NextEnd");

export function InboxPage() {
  const setUp = (
    <Suspense>
      <SetUpPanel />
    </Suspense>
  );
  const nextEnd = (
    <Suspense>
      <NextEnd />
    </Suspense>
  );
  return <Inbox setUp={setUp} approvals={<ApprovalsNotice />} nextEnd={nextEnd} />;
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
