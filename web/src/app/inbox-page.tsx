/** What needs the person. Without any change request, also what this machine lacks for loops. */
import { Inbox } from "@/features/change-requests/views/inbox";
import { SetUpPanel } from "@/features/set-up/views/set-up";

export function InboxPage() {
  return <Inbox setUp={<SetUpPanel />} />;
}
