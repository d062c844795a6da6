/** Files for a request: images, and texts in UTF-8. */
import { v7 as uuidV7 } from "uuid";

export interface RequestFile {
  id: string;
  name: string;
  type: string;
  content: Blob;
}

export const MAX_FILES = 10;
export const MAX_BYTES = 10 * 1024 * 1024;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const TEXT_TYPE = "text/plain";
const MAX_NAME_CHARS = 200;

/** The limits, for the person. */
export const FILE_LIMITS =
  "Images (PNG, JPEG, GIF, WebP) and text files, at most 10, with 10 MiB in total.";

export interface AddedFiles {
  files: RequestFile[];
  /** Why files were not added. */
  problems: string[];
}

/** Adds files to those of a request. What exceeds a limit is left out, and named. */
export async function addFiles(files: RequestFile[], added: readonly File[]): Promise<AddedFiles> {
  const result: AddedFiles = { files: [...files], problems: [] };
  for (const file of added) {
    const problem = await problemOf(file, result.files);
    if (problem === undefined) {
      const type = IMAGE_TYPES.includes(file.type) ? file.type : TEXT_TYPE;
      const name = freeName(file.name, result.files);
      result.files.push({ id: uuidV7(), name, type, content: file });
    } else result.problems.push(`${file.name} was not attached: ${problem}`);
  }
  return result;
}

async function problemOf(file: File, files: RequestFile[]): Promise<string | undefined> {
  if (files.length >= MAX_FILES) return `there are already ${MAX_FILES} files.`;
  const bytes = files.reduce((sum, { content }) => sum + content.size, 0);
  if (bytes + file.size > MAX_BYTES) return "all files together may have at most 10 MiB.";
  if (file.type.startsWith("image/")) {
    return IMAGE_TYPES.includes(file.type) ? undefined : "images must be PNG, JPEG, GIF or WebP.";
  }
  return (await isText(file)) ? undefined : "it is neither an image nor a text.";
}

/** Browsers know the type of few text files by their names: the content decides. */
async function isText(file: File): Promise<boolean> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return !text.includes("\u0000");
  } catch {
    return false;
  }
}

/** Pasted images are all called `image.png`. */
function freeName(name: string, files: RequestFile[]): string {
  const short = name.slice(-MAX_NAME_CHARS);
  const dot = short.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [short.slice(0, dot), short.slice(dot)] : [short, ""];
  let candidate = short;
  for (let count = 2; files.some((file) => file.name === candidate); count += 1)
    candidate = `${stem}-${count}${extension}`;
  return candidate;
}

/** A file as the control plane receives it. */
export async function encodeFile({ name, type, content }: RequestFile) {
  const bytes = new Uint8Array(await content.arrayBuffer());
  let binary = "";
  // In parts: a call has a limited number of arguments.
  const PART = 0x8000;
  for (let at = 0; at < bytes.length; at += PART)
    binary += String.fromCharCode(...bytes.subarray(at, at + PART));
  return { filename: name, mimeType: type, content: btoa(binary) };
}
