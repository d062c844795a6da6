/** The shortcuts that work on the page, opened with `?`. */
import { Link } from "@tanstack/react-router";
import { Dialog } from "radix-ui";

import { Button } from "@/ui/button";
import { usePreference } from "@/ui/preference";
import { useReturnFocus } from "@/ui/return-focus";
import { type Shortcut, shortcutsPreference, useShortcuts } from "@/ui/shortcuts";

const GROUPS = [
  { where: "page", title: "On this page" },
  { where: "everywhere", title: "Everywhere" },
] as const;

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const shortcuts = useShortcuts();
  const returnFocus = useReturnFocus();
  const isOn = usePreference(shortcutsPreference) ?? true;
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          onCloseAutoFocus={returnFocus}
          className="fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 animate-rise overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-raised"
        >
          <Dialog.Title className="text-lg font-semibold">Keyboard shortcuts</Dialog.Title>
          <Dialog.Description className="mt-1 text-ink-2">
            {isOn
              ? "Shortcuts of single keys can be turned off"
              : "Shortcuts of single keys are off"}{" "}
            in your{" "}
            <Link
              from="/$orgSlug"
              to="/$orgSlug/settings/profile"
              onClick={onClose}
              className="text-accent underline underline-offset-2"
            >
              profile settings
            </Link>
            .
          </Dialog.Description>
          {isOn &&
            GROUPS.map(({ where, title }) => (
              <Group
                key={where}
                title={title}
                shortcuts={shortcuts.filter((shortcut) => shortcut.where === where)}
              />
            ))}
          <Group
            title="Always on"
            shortcuts={[{ keys: "Ctrl+K", label: "Search and actions", where: "everywhere" }]}
          />
          <div className="mt-5 flex justify-end">
            <Dialog.Close asChild>
              <Button>Close</Button>
            </Dialog.Close>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group({ title, shortcuts }: { title: string; shortcuts: Shortcut[] }) {
  if (shortcuts.length === 0) return null;
  return (
    <section className="mt-4">
      <h3 className="text-xs font-medium text-ink-3">{title}</h3>
      <dl className="mt-1.5 grid grid-cols-[4.5rem_minmax(0,1fr)] items-center gap-x-4 gap-y-1.5">
        {shortcuts.map(({ keys, label }) => (
          <div key={keys} className="contents">
            <dt className="flex gap-1">
              {keys.split(" ").map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-sm border border-line-strong/60 bg-sunken px-1.5 text-center font-mono text-sm"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
