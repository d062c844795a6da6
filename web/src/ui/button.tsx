import { LoaderCircle } from "lucide-react";
import type { ComponentProps } from "react";

import { cx } from "./cx";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-accent-ink hover:bg-accent-hover border-transparent font-medium",
  plain: "bg-surface border-line-strong/60 text-ink hover:border-line-strong hover:bg-sunken",
  quiet: "border-transparent text-ink-2 hover:bg-idle-soft hover:text-ink",
  danger: "bg-surface border-bad/60 text-bad hover:bg-bad-soft",
};

/** The classes of a button, for links that look like one. */
export function buttonClass(look: Look = "plain", size: "sm" | "md" | "icon" = "md"): string {
  return cx(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border whitespace-nowrap transition-colors select-none",
    "disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0",
    size === "md" && "h-9 px-3.5 text-base",
    size === "sm" && "h-7.5 px-2.5 text-sm",
    size === "icon" && "size-8",
    LOOKS[look],
  );
}

interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  size?: "sm" | "md" | "icon";
  /** Shows that the action is under way; the button cannot be pressed then. */
  busy?: boolean;
}

export function Button({ look, size, busy, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={(rest.disabled ?? false) || (busy ?? false)}
      aria-busy={busy}
      className={cx(buttonClass(look, size), className)}
    >
      {busy && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  );
}
