import { useConnection } from "@/api/connection";

import { cx } from "./cx";

/** Filled when online, hollow when offline or unknown, so that the state does not depend on colour. */
export function OnlineDot({ online }: { online: boolean }) {
  const { isLost } = useConnection();
  return (
    <span
      aria-hidden
      className={cx(
        "inline-block size-2 shrink-0 rounded-full border-[1.5px] border-current",
        online && !isLost ? "filled text-ok" : "text-ink-3",
      )}
    />
  );
}
