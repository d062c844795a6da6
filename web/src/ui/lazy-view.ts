import { type AsyncRouteComponent, lazyRouteComponent } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";

/**
 * A component in a chunk of its own: the page of a route, or a part of a page that few persons need, for use in
 * `Suspense`. The chunk is requested when the component is displayed, and again when the server responds.
 */
export const lazyView: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadChunk(load), name);

/**
 * A part of a page in a chunk of its own: requested with the code of the page, which is displayed before it. For use in
 * `Suspense`.
 */
export const lazyPart: typeof lazyRouteComponent = (load, name) => {
  const part = lazyView(load, name);
  void loadView(part);
  return part;
};

/** Loads the chunk of a component. A failure is reported when the component is displayed. */
export const loadView = (view: Pick<AsyncRouteComponent<never>, "preload">): Promise<void> =>
  view.preload?.() ?? Promise.resolve();
