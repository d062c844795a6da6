import { X } from "lucide-react";
import type { ReactNode } from "react";

import type { Tone } from "@/model/status";

import { cx } from "./cx";
import { TONE_TEXT } from "./status-badge";

/** A toggle button for a filter. */
export function FilterChip({
  pressed,
  tone,
  onPress,
  children,
}: {
  pressed: boolean;
  tone?: Tone;
  onPress: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onPress}
      className={cx(
        "inline-flex h-7 shrink-0 items-center gap-1.5 rounded-full border px-2.5 text-xs font-medium transition-colors",
        pressed
          ? "border-accent bg-accent-soft text-ink"
          : "border-line bg-surface text-ink-2 hover:border-line-strong hover:text-ink",
      )}
    >
      {tone && (
        <span aria-hidden className={cx("size-1.75 rounded-full filled", TONE_TEXT[tone])} />
      )}
      {children}
      {pressed && <X aria-hidden className="-mr-0.5 size-3 text-ink-3" />}
    </button>
  );
}
