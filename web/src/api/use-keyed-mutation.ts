import { useMutation, type UseMutationOptions } from "@tanstack/react-query";
import { useRef } from "react";
import { v7 as uuidV7 } from "uuid";

import { ApiError } from "./errors";

/** An idempotency key that outlives the page: see `useRequestKey`. */
export interface RequestKey {
  value: string;
  /** Stores a key, which becomes the value. */
  keep: (key: string) => void;
  /** Removes the stored key. The next value is another one. */
  drop: () => void;
}

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
 * idempotency key stays the same until a response arrives.
 */
export function useKeyedMutation<Input, Output>(
  {
    mutationFn,
    ...options
  }: Omit<UseMutationOptions<Output, Error, Input>, "mutationFn"> & {
    mutationFn: (input: Input, key: string) => Promise<Output>;
  },
  { value: key, keep, drop }: RequestKey,
) {
  const isSending = useRef(false);
  // Input of the last request, if it was refused. A signed start consists of two requests: the first may have used
  // the key.
  const refused = useRef<string>(undefined);
  const mutation = useMutation({
    ...options,
    mutationFn: async (input: Input) => {
      const text = JSON.stringify(input);
      const isOther = refused.current !== undefined && refused.current !== text;
      const current = isOther ? uuidV7() : key;
      refused.current = undefined;
      keep(current);
      try {
        const output = await mutationFn(input, current);
        drop();
        return output;
      } catch (error) {
        if (isKeyCollision(error)) drop();
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
