/** A Mermaid diagram. With everything it needs a chunk of its own, fetched for the first diagram. */
import { Code2, Workflow } from "lucide-react";
import mermaid from "mermaid";
import { useEffect, useId, useRef, useState } from "react";

import { useTheme } from "@/shell/theme";
import { Button } from "@/ui/button";
import { Notice, Skeleton } from "@/ui/panel";

import { CodeBlock } from "./code-block";
import { sanitiseSvg } from "./sanitise-svg";

const FONT = '"IBM Plex Sans Variable", system-ui, sans-serif';

/** The palette of styles.css in the notation that the library can mix. */
const PALETTE = {
  light: {
    background: "#ffffff",
    edgeLabelBackground: "#ffffff",
    primaryColor: "#e4f1f2",
    primaryTextColor: "#172026",
    primaryBorderColor: "#3b868b",
    secondaryColor: "#eef2f4",
    tertiaryColor: "#f6f8f9",
    lineColor: "#5c6b73",
    textColor: "#172026",
    noteBkgColor: "#fbf3dd",
    noteTextColor: "#172026",
    noteBorderColor: "#c9a44a",
  },
  dark: {
    background: "#141a1f",
    edgeLabelBackground: "#141a1f",
    primaryColor: "#17353a",
    primaryTextColor: "#e9eef0",
    primaryBorderColor: "#58b3b7",
    secondaryColor: "#232b30",
    tertiaryColor: "#1c2226",
    lineColor: "#93a2a9",
    textColor: "#e9eef0",
    noteBkgColor: "#3a3116",
    noteTextColor: "#f0ead8",
    noteBorderColor: "#b89a4c",
  },
};

/** A diagram shrinks to the window no further than this; then it scrolls. */
const READABLE_WIDTH_PX = 560;

/** Drawings wait for one another: the library has one configuration for all. */
let queue: Promise<unknown> = Promise.resolve();

function draw(id: string, source: string, theme: "light" | "dark"): Promise<string> {
  const drawn = queue.then(async () => {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: "base",
      fontFamily: FONT,
      htmlLabels: false,
      flowchart: { curve: "basis", padding: 14 },
      themeVariables: {
        ...PALETTE[theme],
        darkMode: theme === "dark",
        fontFamily: FONT,
        fontSize: "14px",
      },
    });
    return (await mermaid.render(id, source)).svg;
  });
  queue = drawn.catch(() => undefined);
  return drawn;
}

export default function Diagram({ source }: { source: string }) {
  const theme = useTheme();
  const id = `diagram-${useId().replace(/[^\w-]/g, "")}`;
  const canvas = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"drawing" | "drawn" | { error: string }>("drawing");
  const [showSource, setShowSource] = useState(false);

  useEffect(() => {
    let current = true;
    draw(id, source, theme).then(
      (svg) => {
        if (!current) return;
        const safe = sanitiseSvg(svg);
        if (safe) {
          safe.style.minWidth = `${Math.min(safe.viewBox.baseVal.width, READABLE_WIDTH_PX)}px`;
          canvas.current?.replaceChildren(safe);
        }
        setState(safe ? "drawn" : { error: "The drawing was empty." });
      },
      (error: unknown) => {
        if (current) setState({ error: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => {
      current = false;
    };
  }, [id, source, theme]);

  if (typeof state === "object") {
    return (
      <div className="space-y-2">
        <Notice tone="warn" title="This diagram cannot be drawn">
          <span className="font-mono text-xs whitespace-pre-wrap">{state.error}</span>
        </Notice>
        <CodeBlock source={source} language="mermaid" />
      </div>
    );
  }
  return (
    <figure
      className="group relative rounded-md border border-line bg-surface"
      aria-label="Diagram"
    >
      <div
        ref={canvas}
        hidden={showSource}
        // A scrolling region must be reachable without a mouse.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="flex overflow-x-auto p-5 [&>svg]:mx-auto [&>svg]:h-auto [&>svg]:max-h-[36rem] [&>svg]:shrink-0"
      />
      {state === "drawing" && !showSource && <Skeleton className="m-5 h-32" />}
      {showSource && <CodeBlock source={source} language="mermaid" />}
      <Button
        look="plain"
        size="sm"
        className="absolute top-2 left-2 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
        aria-pressed={showSource}
        onClick={() => setShowSource(!showSource)}
      >
        {showSource ? <Workflow aria-hidden /> : <Code2 aria-hidden />}
        {showSource ? "Diagram" : "Source"}
      </Button>
    </figure>
  );
}
