/**
 * Notifications for new items that need the person, while the app is not visible.
 *
 * One tab of an organization shows them: the one that holds the lock. Each visible tab holds another lock in shared mode.
 */
import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { useScope } from "@/api/scope";
import { useNotificationState } from "@/ui/notification-setting";

import type { Attention } from "./attention";
import { AttentionNotifier } from "./attention-notifier";

const VISIBLE_LOCK = "loopgate.visible";

/** `attention` is undefined while it is not known. */
export function useAttentionNotifications(attention: Attention | undefined): void {
  const { organization } = useScope();
  const router = useRouter();
  const isOn = useNotificationState() === "on";
  const isNotifying = useRef(false);
  const [notifier] = useState(
    () =>
      new AttentionNotifier({
        isAnyTabVisible,
        open: ({ link }) => void router.navigate(link),
      }),
  );
  useEffect(() => {
    if (!isOn) return;
    const release = holdLock(`loopgate.notifications/${organization}`, "exclusive", () => {
      isNotifying.current = true;
    });
    return () => {
      isNotifying.current = false;
      release();
    };
  }, [isOn, organization]);
  useEffect(holdLockWhileVisible, []);
  useEffect(() => {
    if (attention) notifier.update(attention, isNotifying.current);
  }, [attention, notifier]);
}

async function isAnyTabVisible(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === VISIBLE_LOCK);
}

function holdLockWhileVisible(): () => void {
  let release: (() => void) | undefined;
  const update = () => {
    release?.();
    const isVisible = document.visibilityState === "visible";
    release = isVisible ? holdLock(VISIBLE_LOCK, "shared") : undefined;
  };
  update();
  document.addEventListener("visibilitychange", update);
  return () => {
    document.removeEventListener("visibilitychange", update);
    release?.();
  };
}

/** Requests a Web Lock. Returns a function that releases it, or withdraws the request. */
function holdLock(name: string, mode: LockMode, onHeld?: () => void): () => void {
  const holding = new AbortController();
  const { signal } = holding;
  if ("locks" in navigator) {
    navigator.locks
      .request(name, { mode, signal }, () => {
        onHeld?.();
        return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      })
      // Rejected when the request is withdrawn.
      .catch(() => undefined);
  }
  return () => holding.abort();
}
