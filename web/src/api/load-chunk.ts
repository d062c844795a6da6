import { reportNoResponse } from "./connection";

/**
 * Imports a chunk of the app. If that fails, imports it again when the control plane responds.
 *
 * Rejects if it fails again: after an update, the server has no chunks of the version that the page runs.
 */
export async function loadChunk<Chunk>(load: () => Promise<Chunk>): Promise<Chunk> {
  try {
    return await load();
  } catch {
    await reportNoResponse();
  }
  return load().catch((cause: unknown) => {
    // Another message than the browser's, for which the router would reload the window.
    throw new Error("Loopgate was updated. Reload the page to continue.", { cause });
  });
}
