/** Interactive diagram: pan, zoom, fullscreen, overview, and download. */
import {
  Code2,
  Download,
  ImageDown,
  type LucideIcon,
  Expand,
  Shrink,
  Scan,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Tip } from "@/ui/tip";

import { imageAddress, savePng, saveSvg } from "./export-diagram";
import {
  centreOn,
  fit,
  fitScale,
  panBy,
  type Point,
  type Size,
  type Viewport,
  visiblePart,
  zoomAround,
} from "./viewport";

// Relative change of the scale per press of a zoom button.
const ZOOM_STEP = 0.15;
// Relative change of the scale per pixel of `deltaY`. Browsers report a pinch as wheel events with Ctrl.
const PINCH_STEP = 0.01;
// Distance per press of an arrow key.
const KEY_STEP_PX = 40;
// The overview is shown above this multiple of the scale at which the whole diagram fits.
const OVERVIEW_FROM = 1.2;
const OVERVIEW_MAX_SIZE: Size = { width: 300, height: 200 };

interface DiagramViewerProps {
  svg: SVGSVGElement;
  onShowSource: () => void;
}

export function DiagramViewer({ svg, onShowSource }: DiagramViewerProps) {
  const wrapper = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const drawing = useMemo(() => naturalSize(svg), [svg]);
  const size = useSize(canvas);
  // Undefined while the whole diagram is shown: until the user pans or zooms, and after "Fit to view".
  const [movedView, setMovedView] = useState<Viewport>();
  const [isFullscreen, toggleFullscreen] = useFullscreen(wrapper);
  const view = movedView ?? fit(drawing, size);

  const change = (next: (view: Viewport) => Viewport) => {
    setMovedView((previous) => next(previous ?? fit(drawing, size)));
  };
  const zoom = (factor: number) => {
    change((view) => zoomAround(view, factor, { x: size.width / 2, y: size.height / 2 }));
  };
  const fitToView = () => {
    setMovedView(undefined);
  };
  useWheel(canvas, (event, pointer) => {
    change((view) =>
      event.ctrlKey
        ? zoomAround(view, 1 - event.deltaY * PINCH_STEP, pointer)
        : panBy(view, -event.deltaX, -event.deltaY),
    );
  });

  function onKeyDown(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pan = (x: number, y: number) => {
      change((view) => panBy(view, x * KEY_STEP_PX, y * KEY_STEP_PX));
    };
    const actions: Record<string, () => void> = {
      ArrowLeft: () => pan(1, 0),
      ArrowRight: () => pan(-1, 0),
      ArrowUp: () => pan(0, 1),
      ArrowDown: () => pan(0, -1),
      "+": () => zoom(1 + ZOOM_STEP),
      "-": () => zoom(1 - ZOOM_STEP),
      "0": fitToView,
      f: toggleFullscreen,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  function onPointerMove(event: PointerEvent) {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    change((view) => panBy(view, event.movementX, event.movementY));
  }

  const background = () => getComputedStyle(document.body).backgroundColor;
  return (
    <div
      ref={wrapper}
      className={cx(
        "relative overflow-hidden",
        isFullscreen ? "h-full w-full bg-surface" : "h-[450px]",
      )}
    >
      {/* Key and pointer handlers are legitimate for role="application"; the rule does not list that role. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={canvas}
        role="application"
        aria-label="Diagram. Arrow keys pan, plus and minus zoom, 0 fits the diagram, f toggles fullscreen."
        // Focusable, because arrow keys pan it.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="h-full w-full cursor-grab touch-none overflow-hidden active:cursor-grabbing"
        onKeyDown={onKeyDown}
        onDoubleClick={fitToView}
        onPointerDown={(event) => {
          if (event.button === 0) event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={onPointerMove}
      >
        <Drawing svg={svg} drawing={drawing} view={view} />
      </div>
      {view.scale > OVERVIEW_FROM * fitScale(drawing, size) && (
        <Overview
          svg={svg}
          drawing={drawing}
          shown={visiblePart(view, drawing, size)}
          onChoose={(point) => {
            change((view) => centreOn(view, size, point));
          }}
        />
      )}
      <div
        role="toolbar"
        aria-label="Diagram"
        className="absolute top-2 right-2 flex items-center rounded-md border border-line bg-surface"
      >
        <Tool icon={ZoomOut} label="Zoom out" within={wrapper} act={() => zoom(1 - ZOOM_STEP)} />
        <span className="w-11 text-center text-xs tabular-nums" aria-live="polite">
          {Math.round(view.scale * 100)} %
        </span>
        <Tool icon={ZoomIn} label="Zoom in" within={wrapper} act={() => zoom(1 + ZOOM_STEP)} />
        <Tool icon={Scan} label="Fit to view" within={wrapper} act={fitToView} />
        <Tool
          icon={isFullscreen ? Shrink : Expand}
          label={isFullscreen ? "Exit fullscreen" : "Fullscreen"}
          within={wrapper}
          act={toggleFullscreen}
        />
        <Tool icon={Download} label="Download SVG" within={wrapper} act={() => saveSvg(svg)} />
        <Tool
          icon={ImageDown}
          label="Download PNG"
          within={wrapper}
          act={() => void savePng(svg, background())}
        />
        <Tool icon={Code2} label="Source" within={wrapper} act={onShowSource} />
      </div>
    </div>
  );
}

function naturalSize(svg: SVGSVGElement): Size {
  const { width, height } = svg.viewBox.baseVal;
  return { width: width || 1, height: height || 1 };
}

interface DrawingProps {
  svg: SVGSVGElement;
  drawing: Size;
  view: Viewport;
}

function Drawing({ svg, drawing, view }: DrawingProps) {
  const holder = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // A copy, because an element has one parent and the export serialises the original.
    const shown = svg.cloneNode(true) as SVGSVGElement;
    Object.assign(shown.style, { width: "100%", height: "100%", maxWidth: "none" });
    holder.current?.replaceChildren(shown);
  }, [svg]);
  return (
    <div
      ref={holder}
      className="origin-top-left"
      style={{ ...drawing, transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
    />
  );
}

interface OverviewProps {
  svg: SVGSVGElement;
  drawing: Size;
  shown: Point & Size;
  onChoose: (point: Point) => void;
}

/** Thumbnail of the diagram with a frame around the visible part. Pointer only: keys pan the canvas. */
function Overview({ svg, drawing, shown, onChoose }: OverviewProps) {
  const address = useMemo(() => imageAddress(svg), [svg]);
  const scale = Math.min(
    OVERVIEW_MAX_SIZE.width / drawing.width,
    OVERVIEW_MAX_SIZE.height / drawing.height,
  );
  const choose = (event: MouseEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    onChoose({ x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale });
  };
  return (
    <div
      aria-hidden
      data-testid="overview"
      className="absolute right-2 bottom-2 cursor-pointer overflow-hidden rounded-sm border border-line-strong bg-surface"
      style={{ width: drawing.width * scale, height: drawing.height * scale }}
      onClick={choose}
    >
      <img src={address} alt="" className="h-full w-full" />
      <div
        className="absolute border-2 border-accent"
        style={{
          left: shown.x * scale,
          top: shown.y * scale,
          width: shown.width * scale,
          height: shown.height * scale,
        }}
      />
    </div>
  );
}

interface ToolProps {
  icon: LucideIcon;
  label: string;
  /** Container of the tooltip: in fullscreen, elements outside the wrapper are not visible. */
  within: RefObject<HTMLElement | null>;
  act: () => void;
}

function Tool({ icon: Icon, label, within, act }: ToolProps) {
  return (
    <Tip label={label} within={within}>
      <Button variant="quiet" size="icon" aria-label={label} onClick={act}>
        <Icon aria-hidden />
      </Button>
    </Tip>
  );
}

/** Returns the current size of an element. */
function useSize(element: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(element.current);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return size;
}

// React registers wheel listeners as passive, in which `preventDefault` cannot stop the page from scrolling.
function useWheel(
  element: RefObject<HTMLElement | null>,
  onWheel: (event: WheelEvent, pointer: Point) => void,
): void {
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const listen = (event: WheelEvent) => {
      event.preventDefault();
      const box = target.getBoundingClientRect();
      onWheel(event, { x: event.clientX - box.left, y: event.clientY - box.top });
    };
    target.addEventListener("wheel", listen, { passive: false });
    return () => {
      target.removeEventListener("wheel", listen);
    };
  });
}

/** Returns whether this element is in fullscreen, and a function to toggle it. */
function useFullscreen(element: RefObject<HTMLElement | null>): [boolean, () => void] {
  const [isFullscreen, setFullscreen] = useState(false);
  useEffect(() => {
    const update = () => {
      // Compared with this element: another diagram on the page may be in fullscreen.
      setFullscreen(
        document.fullscreenElement !== null && document.fullscreenElement === element.current,
      );
    };
    document.addEventListener("fullscreenchange", update);
    return () => {
      document.removeEventListener("fullscreenchange", update);
    };
  }, [element]);
  const toggle = () => {
    const change = isFullscreen ? document.exitFullscreen() : element.current?.requestFullscreen();
    change?.catch((error: unknown) => {
      console.error("Cannot toggle fullscreen:", error);
    });
  };
  return [isFullscreen, toggle];
}
