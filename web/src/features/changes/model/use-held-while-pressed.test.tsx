import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { useHeldWhilePressed } from "./use-held-while-pressed";

function Area({ value }: { value: string }) {
  const [displayed, onPressed] = useHeldWhilePressed(value);
  return (
    <div onPointerDownCapture={onPressed}>
      <button>Add</button>
      <p>{displayed}</p>
    </div>
  );
}

/** jsdom's pointer events have no button. */
const press = (element: HTMLElement, button: number) =>
  fireEvent(element, new MouseEvent("pointerdown", { bubbles: true, button }));

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test.each(["pointerUp", "pointerCancel"] as const)(
  "value of an area is held from the press of a control to its click, or %s",
  (end) => {
    const { rerender } = render(<Area value="earlier" />);
    press(screen.getByRole("button"), 0);
    rerender(<Area value="later" />);
    expect(screen.queryByText("earlier")).not.toBeNull();
    void fireEvent[end](document.body);
    // On touch screens, the click is a later event.
    expect(screen.queryByText("earlier")).not.toBeNull();
    act(() => {
      vi.runAllTimers();
    });
    expect(screen.queryByText("later")).not.toBeNull();
  },
);

test("press whose release is not reported holds nothing", () => {
  const { rerender } = render(<Area value="earlier" />);
  press(screen.getByRole("button"), 2);
  press(screen.getByText("earlier"), 0);
  rerender(<Area value="later" />);
  expect(screen.queryByText("later")).not.toBeNull();
});
