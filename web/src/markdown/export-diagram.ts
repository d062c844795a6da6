/** Downloads a diagram as SVG or PNG. */

const NAME = "mermaid-diagram";
// Resolution of the PNG relative to the SVG, for high-density displays.
const PNG_SCALE = 2;

/** Returns the diagram as a data URL. */
export function imageAddress(svg: SVGSVGElement): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialise(svg))}`;
}

function serialise(svg: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(svg);
}

export function saveSvg(svg: SVGSVGElement): void {
  save(new Blob([serialise(svg)], { type: "image/svg+xml" }), `${NAME}.svg`);
}

/** Downloads the diagram as PNG. Logs an error to the console when the browser cannot create one. */
export async function savePng(svg: SVGSVGElement, background: string): Promise<void> {
  try {
    const image = new Image();
    image.src = imageAddress(svg);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = svg.viewBox.baseVal.width * PNG_SCALE;
    canvas.height = svg.viewBox.baseVal.height * PNG_SCALE;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser provides no 2D canvas");
    // PNG viewers show transparency in their own colour, on which the text may not be legible.
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
    if (!blob) throw new Error("the image exceeds the browser's maximum canvas size");
    save(blob, `${NAME}.png`);
  } catch (error) {
    console.error("Cannot save the diagram as PNG:", error);
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
