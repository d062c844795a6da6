/** Shortcuts that work on every page. */
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { tinykeys } from "tinykeys";

import { registerShortcut, useShortcut } from "@/ui/shortcuts";

import type { AttentionItem } from "./attention";
import { DESTINATIONS, NEW_REQUEST } from "./destinations";
import type { Overlay } from "./shell";

/** Calls `open` for Ctrl+K or Command+K, also in text fields. */
export function usePaletteKey(open: () => void): void {
  const onPress = useEffectEvent((event: KeyboardEvent) => {
    event.preventDefault();
    open();
  });
  useEffect(
    () =>
      tinykeys(window, { "$mod+k": (event) => onPress(event) }, { ignore: ({ repeat }) => repeat }),
    [],
  );
}

export function useGlobalShortcuts(
  orgSlug: string,
  attention: AttentionItem[] | undefined,
  open: (overlay: Overlay) => void,
): void {
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    const removals = DESTINATIONS.map(({ keys, label, to }) =>
      registerShortcut(
        { keys, label: `Go to ${label}`, where: "everywhere" },
        () => void navigate({ to, params: { orgSlug } }),
      ),
    );
    return () => removals.forEach((remove) => remove());
  }, [navigate, orgSlug]);
  useShortcut(
    { keys: "c", label: "New change request", where: "everywhere" },
    () => void navigate({ to: NEW_REQUEST, params: { orgSlug } }),
  );
  const openNext = () => {
    if (!attention) return;
    const here = router.state.location.pathname;
    // Several approvals have one page.
    const at = attention.findLastIndex(({ link }) => router.buildLocation(link).pathname === here);
    const next = attention[at + 1] ?? attention[0];
    if (next) void navigate(next.link);
  };
  useShortcut(
    { keys: "a", label: "Next item that needs you", where: "everywhere" },
    attention && attention.length > 0 ? openNext : undefined,
  );
  useShortcut({ keys: ".", label: "More", where: "everywhere" }, () => open("more"));
  useShortcut({ keys: "?", label: "List of shortcuts", where: "everywhere" }, () =>
    open("shortcuts"),
  );
}
