import { cx } from "./cx";

/** Filled when online, hollow when offline, so that the state does not depend on colour. */
export function OnlineDot({ online }: { online: boolean }) {
  return (
    <span
      aria-hidden
      className={cx(
        "inline-block size-2 shrink-0 rounded-full border-[1.5px]",
        online ? "border-ok bg-ok" : "border-ink-3",
      )}
    />
  );
}
