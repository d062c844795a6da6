import { LoaderCircle } from "lucide-react";
import type { ComponentProps } from "react";

import { useConnection } from "@/api/connection";

import { cx } from "./cx";

type Variant = "primary" | "plain" | "quiet" | "danger";

const VARIANTS: Record<Variant, string> = {
  primary: "bg-accent text-accent-ink hover:bg-accent-hover border-transparent font-medium",
  plain: "bg-surface border-line-strong/60 text-ink hover:border-line-strong hover:bg-sunken",
  quiet: "border-transparent text-ink-2 hover:bg-idle-soft hover:text-ink",
  danger: "bg-surface border-bad/60 text-bad hover:bg-bad-soft",
};

/** Returns the classes of a button, also for links in the style of a button. */
export function buttonClass(variant: Variant = "plain", size: "sm" | "md" | "icon" = "md"): string {
  return cx(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border whitespace-nowrap transition-colors select-none",
    "disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0",
    size === "md" && "h-9 px-3.5 text-base",
    size === "sm" && "h-7.5 px-2.5 text-sm",
    size === "icon" && "size-8",
    VARIANTS[variant],
  );
}

interface ButtonProps extends ComponentProps<"button"> {
  variant?: Variant;
  size?: "sm" | "md" | "icon";
  /**
   * For buttons that send a request: whether it is in progress, which shows a spinner. Such a button is disabled
   * during the request, and while the control plane does not respond.
   */
  busy?: boolean;
}

export function Button({
  variant,
  size,
  busy,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const isUnavailable = useConnection().isLost && busy !== undefined;
  return (
    <button
      type="button"
      {...rest}
      {...(isUnavailable && { title: "Loopgate is not responding." })}
      disabled={(rest.disabled ?? false) || (busy ?? false) || isUnavailable}
      aria-busy={busy}
      onClick={(event) => {
        // The second click of a double click may precede the render that disables the button.
        if (busy !== undefined && event.detail > 1) event.preventDefault();
        else onClick?.(event);
      }}
      className={cx(buttonClass(variant, size), className)}
    >
      {busy && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  );
}
