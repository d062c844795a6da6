/** Offers notifications to a person who has started a loop, until the person decides. */
import { Button } from "@/ui/button";
import {
  notificationsPreference,
  turnOnNotifications,
  useNotificationState,
} from "@/ui/notification-setting";

export function NotificationOffer() {
  if (useNotificationState() !== "undecided") return null;
  return (
    <section
      aria-label="Notifications"
      className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line bg-surface px-3.5 py-2.5"
    >
      <p className="min-w-0 flex-1 basis-64">
        Loopgate can notify you when this loop has a question or waits for approval.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="primary" onClick={() => void turnOnNotifications()}>
          Tell me when it needs me
        </Button>
        <Button size="sm" variant="quiet" onClick={() => notificationsPreference.set(false)}>
          Not now
        </Button>
      </div>
    </section>
  );
}
