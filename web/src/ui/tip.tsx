import { Tooltip } from "radix-ui";
import type { ReactNode } from "react";

/** A short hint beside a control that has no text of its own. */
export function Tip({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          className="z-50 rounded-sm bg-ink px-2 py-1 text-xs font-medium text-canvas"
        >
          {label}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
