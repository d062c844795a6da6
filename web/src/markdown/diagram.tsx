/** A Mermaid diagram. A separate chunk, loaded with the first diagram. */
import { Code2, Workflow } from "lucide-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";

import { featureFlagsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { useTheme } from "@/ui/theme";
import { Button } from "@/ui/button";
import { Notice, Skeleton } from "@/ui/panel";

import { CodeBlock } from "./code-block";
import { DiagramViewer } from "./diagram-viewer";
import { renderDiagram } from "./render-diagram";
import { sanitiseSvg } from "./sanitise-svg";

// Narrower diagrams are not legible: below this width the diagram scrolls.
const READABLE_WIDTH_PX = 560;

export function Diagram({ source }: { source: string }) {
  const theme = useTheme();
  const id = `diagram-${useId().replace(/[^\w-]/g, "")}`;
  const { data: features, isPending } = useQuery(featureFlagsQuery(useScope()));
  const [result, setResult] = useState<{
    source: string;
    drawing: SVGSVGElement | { error: string };
  }>();
  const [showSource, setShowSource] = useState(false);

  useEffect(() => {
    let current = true;
    const show = (drawing: SVGSVGElement | { error: string }) => {
      if (current) setResult({ source, drawing });
    };
    renderDiagram(id, source, theme).then(
      (svg) => show(sanitiseSvg(svg) ?? { error: "The rendered diagram is empty." }),
      (error: unknown) => show({ error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, [id, source, theme]);

  // Not the drawing of an earlier source.
  const drawing = result?.source === source ? result.drawing : undefined;
  if (drawing && "error" in drawing) {
    return (
      <div className="space-y-2">
        <Notice tone="warn" title="This diagram could not be rendered">
          <span className="font-mono text-xs whitespace-pre-wrap">{drawing.error}</span>
        </Notice>
        <CodeBlock source={source} language="mermaid" />
      </div>
    );
  }
  const isInteractive = features?.flags["mermaid-enhancements"] ?? false;
  return (
    <figure
      className="group relative rounded-md border border-line bg-surface"
      aria-label="Diagram"
    >
      {showSource ? (
        <CodeBlock source={source} language="mermaid" />
      ) : !drawing || isPending ? (
        <Skeleton className="m-5 h-32" />
      ) : isInteractive ? (
        <DiagramViewer
          svg={drawing}
          onShowSource={() => {
            setShowSource(true);
          }}
        />
      ) : (
        <StaticDrawing svg={drawing} />
      )}
      {(showSource || !isInteractive) && (
        <Button
          variant="plain"
          size="sm"
          className="absolute top-2 left-2 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
          aria-pressed={showSource}
          onClick={() => setShowSource(!showSource)}
        >
          {showSource ? <Workflow aria-hidden /> : <Code2 aria-hidden />}
          {showSource ? "Diagram" : "Source"}
        </Button>
      )}
    </figure>
  );
}

/** A diagram as wide as the text. Scrolls horizontally where that would be too small to read. */
function StaticDrawing({ svg }: { svg: SVGSVGElement }) {
  const canvas = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const shown = svg.cloneNode(true) as SVGSVGElement;
    shown.style.minWidth = `${Math.min(svg.viewBox.baseVal.width, READABLE_WIDTH_PX)}px`;
    canvas.current?.replaceChildren(shown);
  }, [svg]);
  return (
    <div
      ref={canvas}
      // A scrollable region must be reachable by keyboard.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="flex overflow-x-auto p-5 [&>svg]:mx-auto [&>svg]:h-auto [&>svg]:max-h-[36rem] [&>svg]:shrink-0"
    />
  );
}
