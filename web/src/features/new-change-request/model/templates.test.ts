import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { applyTemplate, useTemplates, withTemplate } from "./templates";

beforeEach(() => window.localStorage.clear());
afterEach(() => vi.restoreAllMocks());

test("template has the first line as its name and replaces that of the same name", () => {
  const one = withTemplate([], "# Rename\n\nOld:");
  expect(one).toEqual([{ name: "Rename", text: "# Rename\n\nOld:" }]);
  expect(withTemplate(one, "Rename\nNew:")).toEqual([{ name: "Rename", text: "Rename\nNew:" }]);
  expect(withTemplate(one, "  \n")).toBe(one);
});

test("text that was written is kept", () => {
  const template = { name: "T", text: "Text" };
  expect(applyTemplate(" \n", template)).toBe("Text");
  expect(applyTemplate("Mine\n", template)).toBe("Mine\n\nText");
});

test("templates belong to a person and an organization", () => {
  const ada = renderHook(() => useTemplates("ada", "acme"));
  act(() => ada.result.current.add("Mine"));
  const names = (person: string, organization: string) =>
    renderHook(() => useTemplates(person, organization)).result.current.templates.map(
      ({ name }) => name,
    );
  expect(names("ada", "acme")).toEqual(["Mine"]);
  expect(names("ben", "acme")).toEqual([]);
  expect(names("ada", "other")).toEqual([]);
  act(() => ada.result.current.remove("Mine"));
  expect(names("ada", "acme")).toEqual([]);
});

test("templates last as long as the page when storage is denied or its content is foreign", () => {
  window.localStorage.setItem("loopgate.templates.ada.acme", '[{"name": 1}, 2, null]');
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("denied", "SecurityError");
  });
  const { result } = renderHook(() => useTemplates("ada", "acme"));
  expect(result.current.templates).toEqual([]);
  act(() => result.current.add("Mine"));
  expect(result.current.templates).toHaveLength(1);
  expect(result.current.isStored).toBe(false);
});
