import { describe, expect, test } from "vitest";

import { centreOn, fit, fitScale, panBy, visiblePart, zoomAround } from "./viewport";

const canvas = { width: 800, height: 400 };
const wide = { width: 1600, height: 400 };

describe("viewport", () => {
  test("fitted drawing is centred", () => {
    expect(fit(wide, canvas)).toEqual({ scale: 0.5, x: 0, y: 100 });
    expect(visiblePart(fit(wide, canvas), wide, canvas)).toEqual({ x: 0, y: 0, ...wide });
  });

  test("scale is clamped to the limits", () => {
    expect(fitScale({ width: 10, height: 10 }, canvas)).toBe(5);
    expect(fitScale({ width: 100_000, height: 10 }, canvas)).toBe(0.1);
    expect(zoomAround({ scale: 4.9, x: 0, y: 0 }, 2, { x: 0, y: 0 }).scale).toBe(5);
    expect(zoomAround({ scale: 0.11, x: 0, y: 0 }, 0.5, { x: 0, y: 0 }).scale).toBe(0.1);
  });

  test("zoom keeps the point under the pointer, also at a limit", () => {
    for (const factor of [1.15, 0.85, 100, 0.001]) {
      const before = { scale: 1.5, x: -40, y: 25 };
      const pointer = { x: 310, y: 90 };
      const after = zoomAround(before, factor, pointer);
      const pointUnder = ({ scale, x, y }: typeof before) => [
        (pointer.x - x) / scale,
        (pointer.y - y) / scale,
      ];
      pointUnder(after).forEach((value, axis) => {
        expect(value).toBeCloseTo(pointUnder(before)[axis] ?? NaN);
      });
    }
  });

  test("centring on a point keeps the scale", () => {
    const view = centreOn({ scale: 2, x: 7, y: 7 }, canvas, { x: 100, y: 50 });
    expect(view).toEqual({ scale: 2, x: 200, y: 100 });
    expect(visiblePart(view, wide, canvas)).toEqual({ x: 0, y: 0, width: 300, height: 150 });
  });

  test("drawing outside the canvas has no visible part", () => {
    const away = panBy(fit(wide, canvas), 10_000, 0);
    expect(visiblePart(away, wide, canvas).width).toBe(0);
  });
});
