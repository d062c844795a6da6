import { useRef, useState } from "react";
import { v7 as uuidV7 } from "uuid";

import type { RequestKey } from "@/api/use-keyed-mutation";

import { useDraft } from "./use-draft";

/**
 * Idempotency key of an operation of a page. It is stored like a draft: after a reload, a request whose response was lost
 * is repeated with the same key.
 */
export function useRequestKey(page: string, operation: string): RequestKey {
  const [initial, setInitial] = useState<string>(() => uuidV7());
  const { value, change, discard } = useDraft(page, `key of ${operation}`, initial);
  const kept = useRef<string>(undefined);
  return {
    value,
    keep: (key) => {
      if (kept.current === key) return;
      kept.current = key;
      change(() => key);
    },
    drop: () => {
      kept.current = undefined;
      setInitial(uuidV7());
      discard();
    },
  };
}
