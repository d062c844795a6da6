import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";

import type { Side } from "./comments";
import { SIDES } from "./diff-file";
import type { DiffHandle } from "./diff-items";

/** A line of a file, or the file. */
export interface DiffPlace {
  path: string;
  /** Without one, or with 0, the head of the file. */
  line?: number | undefined;
  side?: Side | undefined;
}

/** A place that the address names, or that has the focus. */
export interface LoadedPlace extends DiffPlace {
  /** Whether the lines of the file are loaded. */
  isLoaded: boolean;
}

export interface DiffScroll {
  /** Receives the viewer, which may be loaded later than what the address names. */
  handle: (viewer: DiffHandle | null) => void;
  scrollTo: (place: DiffPlace, align?: "center" | "nearest") => void;
  /** Called when the viewer has rendered a file. */
  onRendered: (path: string) => void;
  /** Called when the height of the diff has changed, because lines or cards arrived. */
  onResized: () => void;
  /** Keeps no place in view any more. */
  release: () => void;
}

/**
 * Scrolls the diff: to the place that the address names when it changes, and on request. `held`: a place that stays in
 * view when its lines and those above it are loaded.
 */
export function useDiffScroll(
  addressed: LoadedPlace | undefined,
  held: LoadedPlace | undefined,
): DiffScroll {
  const viewer = useRef<DiffHandle>(null);
  const [isViewerLoaded, setIsViewerLoaded] = useState(false);
  const handle = useCallback((next: DiffHandle | null) => {
    viewer.current = next;
    if (next) setIsViewerLoaded(true);
  }, []);
  // The place that was scrolled to, which stays in view until it is released.
  const anchor = useRef<{ place: DiffPlace; align: "center" | "nearest" }>(undefined);
  // Scrolls to a line that the viewer cannot find yet.
  const awaited = useRef<{ path: string; scroll: () => boolean }>(undefined);
  const scrollTo = useCallback((place: DiffPlace, align: "center" | "nearest" = "center") => {
    const { path, line, side = "new" } = place;
    anchor.current = { place, align };
    awaited.current = undefined;
    const scroll = () => {
      if (!line || !hasLine(viewer.current, path, line, side)) return false;
      viewer.current?.scrollTo({
        type: "line",
        id: path,
        lineNumber: line,
        side: SIDES[side],
        align,
      });
      return true;
    };
    if (scroll()) return;
    viewer.current?.scrollTo({ type: "item", id: path, align: "start" });
    if (line) awaited.current = { path, scroll };
  }, []);
  const onRendered = useCallback((path: string) => {
    if (awaited.current?.path !== path) return;
    // After the viewer has finished its update.
    queueMicrotask(() => {
      if (awaited.current?.scroll()) awaited.current = undefined;
    });
  }, []);
  // The viewer keeps the line at the top of the visible part in its place, unless that is the start of the diff.
  const onResized = useCallback(() => {
    if (anchor.current) scrollTo(anchor.current.place, anchor.current.align);
  }, [scrollTo]);
  const release = useCallback(() => {
    anchor.current = undefined;
    awaited.current = undefined;
  }, []);

  // The loaded place to which the diff was scrolled. Not again when a loop changes the file: the person may read on.
  const shown = useRef<DiffPlace>(undefined);
  const { path, line, side, isLoaded = false } = addressed ?? {};
  useEffect(() => {
    if (!isViewerLoaded || path === undefined) return;
    const isSameFile = shown.current?.path === path;
    const isSame = isSameFile && shown.current?.line === line && shown.current?.side === side;
    if (isLoaded ? isSame : isSameFile) return;
    scrollTo(isLoaded ? { path, line, side } : { path });
    shown.current = isLoaded ? { path, line, side } : undefined;
  }, [isViewerLoaded, path, line, side, isLoaded, scrollTo]);

  const isHeldLoaded = held?.isLoaded ?? false;
  const showHeld = useEffectEvent(() => {
    if (held) scrollTo(held);
  });
  useEffect(() => {
    if (isHeldLoaded) showHeld();
  }, [isHeldLoaded]);
  return useMemo(
    () => ({ handle, scrollTo, onRendered, onResized, release }),
    [handle, scrollTo, onRendered, onResized, release],
  );
}

/**
 * Returns whether the viewer can scroll to a line. It has the lines of a file that it does not render from the last time
 * that it did, when they may not have been loaded, and ignores a request for a line that it does not have.
 */
function hasLine(viewer: DiffHandle | null, path: string, line: number, side: Side): boolean {
  const rendered = viewer?.getInstance()?.getRenderedItems() ?? [];
  const item = rendered.find(({ id }) => id === path);
  return item?.type === "diff" && item.instance.getLinePosition(line, SIDES[side]) !== undefined;
}
