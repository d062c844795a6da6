import { useMutation, type UseMutationOptions } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { ApiError } from "./errors";

/** An idempotency key and the function that replaces it, as `useState` returns them. */
export type RequestKey = readonly [key: string, replace: (key: string) => void];

/** Headers of a request with an idempotency key: the server carries out its repetitions once. */
export const keyed = (key: string) => ({ headers: { "Idempotency-Key": key } });

/** Returns whether the server has carried out another request with this key. */
export const isKeyCollision = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "idempotency_key_collision";

/** Called with the result of a request. The promise of `onSuccess` resolves when the page that it opens is loaded. */
interface KeyedCallbacks<Output> {
  onSuccess?: (output: Output) => Promise<void> | void;
  onError?: (error: unknown) => void;
}

/**
 * Mutation that takes effect once: it is not sent again while it is pending or its `onSuccess` navigates, and its
 * idempotency key stays the same until a response arrives. `stored` is a key that outlives the component.
 */
export function useKeyedMutation<Input, Output>(
  {
    mutationFn,
    ...options
  }: Omit<UseMutationOptions<Output, Error, Input>, "mutationFn"> & {
    mutationFn: (input: Input, key: string) => Promise<Output>;
  },
  stored?: RequestKey,
) {
  const own = useState<string>(() => crypto.randomUUID());
  const [key, replace] = stored ?? own;
  const isSending = useRef(false);
  // Input of the last request, if it was refused. A signed start consists of two requests: the first may have used
  // the key.
  const refused = useRef<string>(undefined);
  const mutation = useMutation({
    ...options,
    mutationFn: async (input: Input) => {
      const text = JSON.stringify(input);
      let current = key;
      if (refused.current !== undefined && refused.current !== text) {
        current = crypto.randomUUID();
        replace(current);
      }
      refused.current = undefined;
      try {
        const output = await mutationFn(input, current);
        replace(crypto.randomUUID());
        return output;
      } catch (error) {
        if (isKeyCollision(error)) replace(crypto.randomUUID());
        else if (error instanceof ApiError && error.status > 0) refused.current = text;
        throw error;
      }
    },
  });
  const mutate = (input: Input, { onSuccess, onError }: KeyedCallbacks<Output> = {}) => {
    // Not `isPending`: it is the state of the last render.
    if (isSending.current) return;
    isSending.current = true;
    const release = () => {
      isSending.current = false;
    };
    // The callbacks of `mutate` are not called if the form was removed, for instance because a list shows the new loop.
    const sent = mutation.mutateAsync(...([input] as Parameters<typeof mutation.mutateAsync>));
    void sent.then(
      // The form is displayed until the page that it opens is loaded.
      (output) => Promise.resolve(onSuccess?.(output)).finally(release),
      (error: unknown) => {
        release();
        onError?.(error);
      },
    );
  };
  return { ...mutation, mutate };
}
