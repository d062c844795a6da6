/** Saves a drawing as a file of the person. */

const NAME = "mermaid-diagram";
/** Pixels of the picture for each of the drawing. */
const PICTURE_SCALE = 2;

/** The drawing as an address that an image can show. */
export function imageAddress(svg: SVGSVGElement): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialise(svg))}`;
}

function serialise(svg: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(svg);
}

export function saveSvg(svg: SVGSVGElement): void {
  save(new Blob([serialise(svg)], { type: "image/svg+xml" }), `${NAME}.svg`);
}

/** Saves a picture; a browser that cannot make one says so in its console. */
export async function savePng(svg: SVGSVGElement, background: string): Promise<void> {
  try {
    const image = new Image();
    image.src = imageAddress(svg);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = svg.viewBox.baseVal.width * PICTURE_SCALE;
    canvas.height = svg.viewBox.baseVal.height * PICTURE_SCALE;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser draws no pictures");
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
    if (!blob) throw new Error("the picture is too large");
    save(blob, `${NAME}.png`);
  } catch (error) {
    console.error("The diagram was not saved as a picture:", error);
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
