import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { shortcutsPreference, useShortcut, useShortcuts } from "./shortcuts";

afterEach(() => {
  cleanup();
  act(() => shortcutsPreference.set(true));
});

const run = vi.fn();

function Page({ keys, onRun = run }: { keys: string; onRun?: (() => void) | undefined }) {
  useShortcut({ keys, label: `label of ${keys}`, where: "page" }, onRun);
  return null;
}

function List() {
  return useShortcuts().map(({ keys, label }) => <p key={keys}>{label}</p>);
}

/** Presses keys in sequence. */
function press(keys: string, target: Element | Window = window, init: KeyboardEventInit = {}) {
  for (const key of keys)
    fireEvent.keyDown(target, { key, code: `Key${key.toUpperCase()}`, ...init });
}

test("a key and a sequence of keys run their shortcuts", () => {
  run.mockClear();
  const sequence = vi.fn();
  render(
    <>
      <Page keys="j" />
      <Page keys="g i" onRun={sequence} />
    </>,
  );
  press("j");
  press("gi");
  press("i");
  expect(run).toHaveBeenCalledTimes(1);
  expect(sequence).toHaveBeenCalledTimes(1);
});

test("a sequence is not interrupted by another registration", () => {
  run.mockClear();
  const { rerender } = render(<Page key="sequence" keys="g i" />);
  press("g");
  rerender(
    <>
      <Page key="sequence" keys="g i" />
      <Page key="other" keys="a" />
    </>,
  );
  press("i");
  expect(run).toHaveBeenCalledTimes(1);
});

test("the latest registration of a key takes precedence, until it is removed", () => {
  run.mockClear();
  const second = vi.fn();
  const { rerender } = render(
    <>
      <Page keys="j" />
      <Page keys="j" onRun={second} />
      <List />
    </>,
  );
  expect(screen.getAllByText("label of j")).toHaveLength(1);
  press("j");
  expect([run.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
  rerender(<Page keys="j" />);
  press("j");
  expect([run.mock.calls.length, second.mock.calls.length]).toEqual([1, 1]);
});

test("keys in fields, dialogs and menus, held keys and keys with modifiers are ignored", () => {
  run.mockClear();
  render(
    <>
      <Page keys="j" />
      <input aria-label="field" />
      <div contentEditable aria-label="editor" role="textbox" tabIndex={0} />
      <div role="dialog">
        <button type="button">in a dialog</button>
      </div>
    </>,
  );
  press("j", screen.getByLabelText("field"));
  press("j", screen.getByLabelText("editor"));
  press("j", screen.getByText("in a dialog"));
  press("j", window, { repeat: true });
  press("j", window, { ctrlKey: true });
  press("j", window, { metaKey: true });
  expect(run).not.toHaveBeenCalled();
});

test("punctuation is matched with Shift, as some layouts need it", () => {
  run.mockClear();
  render(<Page keys="/" />);
  press("/", window, { shiftKey: true });
  press("/");
  expect(run).toHaveBeenCalledTimes(2);
});

test("shortcuts that are turned off do nothing", () => {
  run.mockClear();
  render(<Page keys="j" />);
  act(() => shortcutsPreference.set(false));
  press("j");
  expect(run).not.toHaveBeenCalled();
});

test("the list contains what is available", () => {
  const { rerender } = render(
    <>
      <List />
      <Page keys="x" />
    </>,
  );
  expect(screen.getByText("label of x")).toBeDefined();
  rerender(<List />);
  expect(screen.queryByText("label of x")).toBeNull();
});
