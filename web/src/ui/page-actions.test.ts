import { renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { useAvailableActions, usePageActions } from "./page-actions";

test("actions are available while their component is mounted, with its latest values", () => {
  const run = vi.fn<(value: number) => void>();
  const page = renderHook(
    ({ value }) => usePageActions([{ label: "Archive", run: () => run(value) }]),
    { initialProps: { value: 1 } },
  );
  const available = renderHook(() => useAvailableActions());
  page.rerender({ value: 2 });
  expect(available.result.current.map(({ label }) => label)).toEqual(["Archive"]);
  available.result.current[0]?.run();
  expect(run).toHaveBeenCalledExactlyOnceWith(2);
  page.unmount();
  available.rerender();
  expect(available.result.current).toEqual([]);
});
