/** Settings that are stored in this browser: notifications and shortcuts. */
import { Button } from "@/ui/button";
import {
  notificationsPreference,
  turnOnNotifications,
  useNotificationState,
} from "@/ui/notification-setting";
import { usePreference } from "@/ui/preference";
import { Section } from "@/ui/section";
import { shortcutsPreference } from "@/ui/shortcuts";

export function Notifications() {
  const state = useNotificationState();
  return (
    <Section
      title="Notifications"
      about="While Loopgate is not visible, this browser notifies you when a loop has a question or waits for your approval."
    >
      {state === undefined ? (
        <p>This browser cannot show notifications for this address.</p>
      ) : state === "blocked" ? (
        <p>
          Notifications are blocked. Allow them for this address in the settings of your browser.
        </p>
      ) : state === "on" ? (
        <div className="flex flex-wrap items-center gap-3">
          <Button onClick={() => notificationsPreference.set(false)}>Turn off notifications</Button>
          <span className="text-ink-2">Notifications are on.</span>
        </div>
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <Button onClick={() => void turnOnNotifications()}>Turn on notifications</Button>
          <span className="text-ink-2">Notifications are off.</span>
        </div>
      )}
    </Section>
  );
}

export function Shortcuts() {
  const isOn = usePreference(shortcutsPreference) ?? true;
  return (
    <Section
      title="Keyboard shortcuts"
      about="Shortcuts of single keys, such as J and K in lists. Ctrl+K always works."
    >
      <label className="flex w-fit cursor-pointer items-center gap-2.5">
        <input
          type="checkbox"
          className="size-4"
          checked={isOn}
          onChange={(event) => shortcutsPreference.set(event.target.checked)}
        />
        Use single-key shortcuts
      </label>
    </Section>
  );
}
