/** Shortcuts that work on every page. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { tinykeys } from "tinykeys";

import { changeRequestQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { registerShortcut, useShortcut } from "@/ui/shortcuts";

import { type Attention, itemAfter } from "./attention";
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
  attention: Attention | undefined,
  open: (overlay: Overlay) => void,
): void {
  const navigate = useNavigate();
  const router = useRouter();
  const scope = useScope();
  const client = useQueryClient();
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
  const openNext = async () => {
    if (!attention) return;
    const { pathname } = router.state.location;
    // Several approvals have one page.
    const index = attention.items.findLastIndex(
      ({ link }) => router.buildLocation(link).pathname === pathname,
    );
    const slug = /\/work\/([^/]+)$/.exec(pathname)?.[1];
    const displayed =
      slug === undefined
        ? undefined
        : client.getQueryData(changeRequestQuery(scope, slug).queryKey);
    const next = await itemAfter(scope, attention, index, displayed);
    if (next) await navigate(next.link);
  };
  useShortcut(
    { keys: "a", label: "Next item that needs you", where: "everywhere" },
    attention && attention.items.length > 0
      ? () => void openNext().catch(() => undefined)
      : undefined,
  );
  useShortcut({ keys: ".", label: "More", where: "everywhere" }, () => open("more"));
  useShortcut({ keys: "?", label: "List of shortcuts", where: "everywhere" }, () =>
    open("shortcuts"),
  );
}
