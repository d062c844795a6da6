import { Tooltip } from "radix-ui";
import type { ReactNode, RefObject } from "react";

interface TipProps {
  label: string;
  children: ReactNode;
  /** Container of the tooltip. Default: the document body. */
  within?: RefObject<HTMLElement | null>;
}

/** Tooltip for a control without visible text. */
export function Tip({ label, children, within }: TipProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal container={within?.current}>
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
