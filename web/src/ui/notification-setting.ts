/** Whether this browser notifies the person: the browser's permission, and the person's choice. */
import { useSyncExternalStore } from "react";

import { preference, usePreference } from "./preference";

export const notificationsPreference = preference("loopgate.notifications");

/** Undefined where pages cannot notify. */
export type NotificationState = "on" | "off" | "undecided" | "blocked" | undefined;

const permissionListeners = new Set<() => void>();

// Pages over HTTP from another machine have no access. On Android, only service workers can notify.
const isSupported =
  "Notification" in window && window.isSecureContext && !navigator.userAgent.includes("Android");

const permission = (): NotificationPermission | undefined =>
  isSupported ? Notification.permission : undefined;

function subscribe(listener: () => void): () => void {
  permissionListeners.add(listener);
  return () => permissionListeners.delete(listener);
}

export function useNotificationState(): NotificationState {
  const granted = useSyncExternalStore(subscribe, permission);
  const choice = usePreference(notificationsPreference);
  if (granted === undefined) return undefined;
  if (granted === "denied") return "blocked";
  if (choice === false) return "off";
  return granted === "granted" && choice ? "on" : "undecided";
}

/** Turns notifications on. Opens the browser's prompt, and so must follow an action of the person. */
export async function turnOnNotifications(): Promise<void> {
  const answer = await Notification.requestPermission();
  if (answer === "granted") notificationsPreference.set(true);
  for (const listener of permissionListeners) listener();
}
