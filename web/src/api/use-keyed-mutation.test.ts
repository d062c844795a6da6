import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook } from "@testing-library/react";
import { createElement, type ReactNode, useState } from "react";
import { expect, test } from "vitest";
import { v7 as uuidV7 } from "uuid";

import { ApiError } from "./errors";
import { useKeyedMutation } from "./use-keyed-mutation";

/**
 * Renders the hook for a server that responds as `respond`. `sent` contains the inputs and keys of the requests. A
 * success opens a page, which takes until `opened`.
 */
function setUp(respond: (input: string) => Promise<string>, opened = Promise.resolve()) {
  const sent: [input: string, key: string][] = [];
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) =>
    createElement(QueryClientProvider, { client }, children);
  const opens: string[] = [];
  const { result, unmount } = renderHook(
    () =>
      useKeyedMutation(
        {
          mutationFn: (input: string, key) => {
            sent.push([input, key]);
            return respond(input);
          },
        },
        useKey(),
      ),
    { wrapper },
  );
  const press = (...inputs: string[]) =>
    act(async () => {
      const onSuccess = (id: string) => {
        opens.push(id);
        return opened;
      };
      inputs.forEach((input) => result.current.mutate(input, { onSuccess }));
      await new Promise((resolve) => setTimeout(resolve));
    });
  const keys = () => sent.map(([, key]) => key);
  return { press, sent, keys, opens, unmount };
}

/** A key of the component, instead of one of the browser. */
function useKey() {
  const [value, keep] = useState<string>(() => uuidV7());
  return { value, keep, drop: () => keep(uuidV7()) };
}

const refuse = (status: number, code = "refused") => Promise.reject(new ApiError(status, { code }));

test("request is not sent again while it is pending", async () => {
  const { press, sent } = setUp(() => Promise.resolve("loop"));
  await press("a", "a", "a", "a");
  expect(sent).toHaveLength(1);
});

test("request is not sent again while the page that it opens is loaded", async () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const { press, sent } = setUp(() => Promise.resolve("loop"), opened);
  await press("a");
  await press("a");
  expect(sent).toHaveLength(1);
  open();
  await opened;
  await press("a");
  expect(sent).toHaveLength(2);
});

test("started loop is opened also if the form was removed in the meantime", async () => {
  let answer: (id: string) => void = () => undefined;
  const { press, opens, unmount } = setUp(() => new Promise((resolve) => (answer = resolve)));
  await press("a");
  unmount();
  answer("loop");
  await expect.poll(() => opens).toEqual(["loop"]);
});

test("next request after a success has another key", async () => {
  const { press, keys } = setUp(() => Promise.resolve("loop"));
  await press("a");
  await press("a");
  expect(new Set(keys()).size).toBe(2);
});

test("request whose response was lost is repeated with its key, even with another input", async () => {
  const { press, keys } = setUp(() => Promise.reject(ApiError.unreachable("reset")));
  await press("a");
  await press("a");
  await press("b");
  expect(new Set(keys()).size).toBe(1);
});

test("refused request is repeated with its key until its input changes", async () => {
  const { press, keys } = setUp(() => refuse(400));
  await press("a");
  await press("a");
  await press("b");
  const [first, second, third] = keys();
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test("key that another request has used is replaced", async () => {
  const { press, keys } = setUp(() => refuse(409, "idempotency_key_collision"));
  await press("a");
  await press("a");
  expect(new Set(keys()).size).toBe(2);
});
