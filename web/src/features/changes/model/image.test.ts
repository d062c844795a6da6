import { expect, test } from "vitest";

import { byteCount, imageAddress, isImagePath } from "./image";

test("only content of an image has an address", () => {
  expect(imageAddress("iVBORw0KGgoAAAA=")).toBe("data:image/png;base64,iVBORw0KGgoAAAA=");
  expect(imageAddress(btoa("<svg onload=alert(1)>"))).toBeUndefined();
});

test("SVG is no image", () => {
  expect(["a.PNG", "a.jpeg", "a.gif", "a.webp"].every(isImagePath)).toBe(true);
  expect(["a.svg", "png", "a.png.ts"].some(isImagePath)).toBe(false);
});

test.each(["", "a", "ab", "abc", "abcd"])("size of %j is counted", (text) => {
  expect(byteCount(btoa(text))).toBe(text.length);
});
