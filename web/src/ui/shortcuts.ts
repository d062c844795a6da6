/**
 * Keyboard shortcuts of one key, or of keys in sequence. A component registers what it supports while it is mounted; the
 * list of shortcuts is generated from the registrations.
 */
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { createKeybindingsHandler } from "tinykeys";

import { preference } from "./preference";

export interface Shortcut {
  /** Keys in sequence, separated by spaces: "g i". */
  keys: string;
  label: string;
  /** Whether it works on this page only, or on every page. */
  where: "page" | "everywhere";
}

interface Registration extends Shortcut {
  /** Follows the keys of a sequence. */
  handle: EventListener;
}

/** Off: keys without a modifier do nothing (WCAG 2.1.4). */
export const shortcutsPreference = preference("loopgate.shortcuts");

// Elements that use keys themselves.
const OWN_KEYS =
  "input, textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=listbox], [role=application]," +
  " [role=dialog], [role=alertdialog], [role=menu]";

let registrations: readonly Registration[] = [];
// Without those that later ones with the same keys replace.
let available: readonly Registration[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Registration[]): void {
  registrations = next;
  available = [...new Map(next.map((registration) => [registration.keys, registration])).values()];
  for (const listener of listeners) listener();
}

/** Adds a shortcut. It takes precedence over earlier ones with the same keys. Returns the function that removes it. */
export function registerShortcut(shortcut: Shortcut, run: () => void): () => void {
  const bindings = {
    [pattern(shortcut.keys)]: (event: KeyboardEvent) => {
      event.preventDefault();
      run();
    },
  };
  const handle = createKeybindingsHandler(bindings, { ignore: () => false });
  const registration = { ...shortcut, handle };
  if (registrations.length === 0) window.addEventListener("keydown", onKeyDown);
  change([...registrations, registration]);
  return () => {
    change(registrations.filter((other) => other !== registration));
    if (registrations.length === 0) window.removeEventListener("keydown", onKeyDown);
  };
}

/** Calls `run` when the keys are pressed. Without `run`, the shortcut is not available. */
export function useShortcut(shortcut: Shortcut, run: (() => void) | undefined): void {
  const { keys, label, where } = shortcut;
  const isAvailable = run !== undefined;
  const onPress = useEffectEvent(() => run?.());
  useEffect(() => {
    if (!isAvailable) return;
    return registerShortcut({ keys, label, where }, () => onPress());
  }, [keys, label, where, isAvailable]);
}

/** Returns the available shortcuts, in the order of their registration. */
export const useShortcuts = (): readonly Shortcut[] =>
  useSyncExternalStore(subscribe, () => available);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function onKeyDown(event: KeyboardEvent): void {
  if (shortcutsPreference.get() === false || isIgnored(event)) return;
  for (const { handle } of available) handle(event);
}

/** Punctuation is matched with and without Shift, because layouts differ. */
const pattern = (keys: string): string =>
  keys
    .split(" ")
    .map((key) => (/^\w+$/.test(key) ? key : `[Shift]+${key}`))
    .join(" ");

function isIgnored(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    event.repeat ||
    event.isComposing ||
    event.defaultPrevented ||
    (target instanceof Element && target.closest(OWN_KEYS) !== null)
  );
}
