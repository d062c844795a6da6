/**
 * Whether the control plane responds, and still has the version of the app that the page runs.
 *
 * A request without a response starts probes of `/health`, which end with the first success. Until then the connection
 * is lost: pages show the time of the last response, and neither count nor send anything. Afterwards the control plane
 * may be another version, whose files have other names.
 */
import { useSyncExternalStore } from "react";

export interface Connection {
  isLost: boolean;
  /** Time of the latest response, in milliseconds since the epoch. */
  lastResponseAt: number;
  /** Whether the control plane has another version of the app: parts of the page that are not loaded yet are missing. */
  isOutdated: boolean;
}

const PROBE_TIMEOUT_MS = 1_500;
// Delay after the second failed probe. Doubles with each further one, up to MAX_DELAY_MS.
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 5_000;

let connection: Connection = { isLost: false, lastResponseAt: Date.now(), isOutdated: false };
let recovery: Promise<void> | undefined;
const listeners = new Set<() => void>();

/** Reports a response, whatever its status. */
export function reportResponse(): void {
  // No listener is called: the time is displayed only after the connection is lost.
  connection.lastResponseAt = Date.now();
}

/** Reports a request without a response. Resolves when the control plane responds. */
export function reportNoResponse(): Promise<void> {
  recovery ??= recover().finally(() => {
    recovery = undefined;
  });
  return recovery;
}

/** Resolves when the control plane responds: at once, unless a request had no response. */
export const whenResponding = (): Promise<void> => recovery ?? Promise.resolve();

export const isConnectionLost = (): boolean => connection.isLost;

export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useConnection = (): Connection =>
  useSyncExternalStore(onConnectionChange, () => connection);

async function recover(): Promise<void> {
  // The first probe follows at once: a single failed request is not the loss of the server.
  for (let delay = FIRST_DELAY_MS; !(await responds()); delay = Math.min(MAX_DELAY_MS, delay * 2)) {
    change({ isLost: true });
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  reportResponse();
  change({ isLost: false });
  void checkVersion();
}

async function responds(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    return (await fetch("/health", { cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}

/** Requests the chunk of this module, whose name contains a hash of its content and of the names of all other chunks. */
async function checkVersion(): Promise<void> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const { status } = await fetch(import.meta.url, { method: "HEAD", cache: "no-store", signal });
    change({ isOutdated: status === 404 });
  } catch {
    // Checked again after the next request without a response.
  }
}

function change(next: Partial<Connection>): void {
  const previous = connection;
  connection = { ...previous, ...next };
  const { isLost, isOutdated } = connection;
  if (previous.isLost === isLost && previous.isOutdated === isOutdated) return;
  for (const listener of listeners) listener();
}
