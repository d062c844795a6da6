/** Which part of a drawing is shown, and how large: the arithmetic of panning and zooming. */

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** A point of the drawing is shown at `scale * point + (x, y)`, in pixels of the canvas. */
export interface Viewport extends Point {
  scale: number;
}

export const MIN_SCALE = 0.1;
export const MAX_SCALE = 5;

const clampScale = (scale: number) => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));

/** The scale at which the whole drawing is shown, as large as possible. */
export function fitScale(drawing: Size, canvas: Size): number {
  return clampScale(Math.min(canvas.width / drawing.width, canvas.height / drawing.height));
}

/** The whole drawing in the middle of the canvas. */
export function fit(drawing: Size, canvas: Size): Viewport {
  const scale = fitScale(drawing, canvas);
  return {
    scale,
    x: (canvas.width - drawing.width * scale) / 2,
    y: (canvas.height - drawing.height * scale) / 2,
  };
}

export function panBy(view: Viewport, x: number, y: number): Viewport {
  return { ...view, x: view.x + x, y: view.y + y };
}

/** Zooms within the limits; what is shown at a point of the canvas stays there. */
export function zoomAround(view: Viewport, factor: number, point: Point): Viewport {
  const scale = clampScale(view.scale * factor);
  const ratio = scale / view.scale;
  return {
    scale,
    x: point.x - (point.x - view.x) * ratio,
    y: point.y - (point.y - view.y) * ratio,
  };
}

/** Shows a point of the drawing in the middle of the canvas. */
export function centreOn(view: Viewport, canvas: Size, point: Point): Viewport {
  return {
    ...view,
    x: canvas.width / 2 - point.x * view.scale,
    y: canvas.height / 2 - point.y * view.scale,
  };
}

/** The part of the drawing that the canvas shows, in the drawing's units. */
export function visiblePart(view: Viewport, drawing: Size, canvas: Size): Point & Size {
  const x = Math.min(drawing.width, Math.max(0, -view.x / view.scale));
  const y = Math.min(drawing.height, Math.max(0, -view.y / view.scale));
  const right = Math.min(drawing.width, (canvas.width - view.x) / view.scale);
  const bottom = Math.min(drawing.height, (canvas.height - view.y) / view.scale);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}
