/**
 * Script of the sandboxed frame in which Mermaid renders diagrams, apart from the page: it has another origin, and a
 * content security policy of its own that permits Mermaid's style elements and no requests.
 */
import "@fontsource-variable/ibm-plex-sans/wght.css";
import mermaid from "mermaid";

import type { DiagramRequest, DiagramResponse } from "./render-diagram";

const FONT = '"IBM Plex Sans Variable", system-ui, sans-serif';

// The palette of styles.css in hexadecimal: Mermaid derives colours and cannot parse `oklch()`.
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

// Renders one diagram at a time: Mermaid's configuration, including the theme, is global.
let queue: Promise<unknown> = Promise.resolve();

function render(id: string, source: string, theme: "light" | "dark"): Promise<string> {
  const rendered = queue.then(async () => {
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
  queue = rendered.catch(() => undefined);
  return rendered;
}

window.addEventListener("message", ({ data, ports: [port] }: MessageEvent<DiagramRequest>) => {
  const respond = (response: DiagramResponse) => port?.postMessage(response);
  render(data.id, data.source, data.theme).then(
    (svg) => respond({ svg }),
    (error: unknown) => respond({ error: error instanceof Error ? error.message : String(error) }),
  );
});
