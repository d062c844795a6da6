/** Geometry of panning and zooming a drawing on a canvas. */

export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Maps a point of the drawing to `scale * point + (x, y)`, in pixels of the canvas. */
export interface Viewport extends Point {
  scale: number;
}

export const MIN_SCALE = 0.1;
export const MAX_SCALE = 5;

const clampScale = (scale: number) => Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));

/** Returns the largest scale, within the limits, at which the whole drawing fits the canvas. */
export function fitScale(drawing: Size, canvas: Size): number {
  return clampScale(Math.min(canvas.width / drawing.width, canvas.height / drawing.height));
}

/** Fits the whole drawing into the canvas, centred. */
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

/** Zooms within the limits, around a fixed point of the canvas. */
export function zoomAround(view: Viewport, factor: number, point: Point): Viewport {
  const scale = clampScale(view.scale * factor);
  const ratio = scale / view.scale;
  return {
    scale,
    x: point.x - (point.x - view.x) * ratio,
    y: point.y - (point.y - view.y) * ratio,
  };
}

/** Moves a point of the drawing to the centre of the canvas. */
export function centreOn(view: Viewport, canvas: Size, point: Point): Viewport {
  return {
    ...view,
    x: canvas.width / 2 - point.x * view.scale,
    y: canvas.height / 2 - point.y * view.scale,
  };
}

/** Returns the visible part of the drawing, in its coordinates. */
export function visiblePart(view: Viewport, drawing: Size, canvas: Size): Point & Size {
  const x = Math.min(drawing.width, Math.max(0, -view.x / view.scale));
  const y = Math.min(drawing.height, Math.max(0, -view.y / view.scale));
  const right = Math.min(drawing.width, (canvas.width - view.x) / view.scale);
  const bottom = Math.min(drawing.height, (canvas.height - view.y) / view.scale);
  return { x, y, width: Math.max(0, right - x), height: Math.max(0, bottom - y) };
}
