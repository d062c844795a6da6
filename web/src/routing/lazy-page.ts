import { lazyRouteComponent } from "@tanstack/react-router";

import { loadChunk } from "@/api/load-chunk";

/** A component of a route in a chunk of its own, which is loaded when the server responds. */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadChunk(load), name);
