/** Renders diagrams in the sandboxed frame of `diagram-frame.ts`. */

export interface DiagramRequest {
  /** Id of the SVG element. */
  id: string;
  source: string;
  theme: "light" | "dark";
}

export type DiagramResponse = { svg: string } | { error: string };

let frame: Promise<Window> | undefined;

/** Returns the window of the frame, which all diagrams share. */
function diagramFrame(): Promise<Window> {
  frame ??= new Promise((resolve, reject) => {
    const element = document.createElement("iframe");
    element.title = "Diagrams";
    element.src = "/diagram.html";
    // Without `allow-same-origin`: the frame has no access to the page or its session.
    element.sandbox.add("allow-scripts");
    element.ariaHidden = "true";
    element.tabIndex = -1;
    // Mermaid measures texts: the frame needs a layout.
    element.className = "invisible fixed top-0 left-0 -z-10 h-[600px] w-[1200px]";
    element.onload = () =>
      element.contentWindow
        ? resolve(element.contentWindow)
        : reject(new Error("The frame for diagrams was removed."));
    document.body.append(element);
  });
  return frame;
}

/** Returns the SVG of a diagram, not sanitized. */
export async function renderDiagram(
  id: string,
  source: string,
  theme: "light" | "dark",
): Promise<string> {
  const target = await diagramFrame();
  const { port1, port2 } = new MessageChannel();
  const response = new Promise<DiagramResponse>((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<DiagramResponse>) => resolve(data);
  });
  const request: DiagramRequest = { id, source, theme };
  // The frame has an opaque origin, which no target origin matches. Only the frame's own script can be in it.
  target.postMessage(request, "*", [port2]);
  const result = await response;
  port1.close();
  if ("error" in result) throw new Error(result.error);
  return result.svg;
}
