import { lazyRouteComponent } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";

/** A component of a route in a chunk of its own, which is loaded when the server responds. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadChunk(load), name);

/**
 * A part of a page in a chunk of its own: requested with the code of the page, which is displayed before it. For use in
 * `Suspense`.
 */
export const lazyPart: typeof lazyRouteComponent = (load, name) => {
  const part = lazyPage(load, name);
  // A failure is reported when the part is displayed.
  void part.preload?.()?.catch(() => undefined);
  return part;
};
