import { useState } from "react";
import { v7 as uuidV7 } from "uuid";

import type { RequestKey } from "@/api/use-keyed-mutation";

import { useSharedValue } from "./use-shared-value";

/**
 * Idempotency key of an operation of a page. It is stored like a draft: after a reload, a request whose response was lost
 * is repeated with the same key. Until the response arrives, other tabs use it as well: a request that is sent again in
 * another tab takes effect once.
 */
export function useRequestKey(page: string, operation: string): RequestKey {
  const stored = useSharedValue<string | undefined>(page, `key of ${operation}`, undefined);
  const [own, setOwn] = useState(() => ({ key: uuidV7(), isKept: false }));
  return {
    value: own.isKept ? own.key : (stored.value ?? own.key),
    keep: (key) => {
      setOwn({ key, isKept: true });
      stored.change(() => key);
    },
    drop: () => {
      setOwn({ key: uuidV7(), isKept: false });
      stored.remove();
    },
  };
}
