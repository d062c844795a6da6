/**
 * Loads the patches of files when they are needed: files that are requested together share a request, and at most one
 * request is in progress, so that the next one contains the files that are displayed by then.
 */
import type { LoopPatches } from "@/api/types";
import { Store } from "@/model/store";

export interface PatchFile {
  /** Changes with the content of the file. */
  key: string;
  path: string;
  oldPath?: string;
  /** Lines that the patch changes, from which its size is estimated. */
  lines: number;
}

/** The patch of a file: empty without a visible difference. */
export type PatchState = { patch: string } | { error: unknown };

/** Limits of a request. The gateway accepts 40 paths, and a rename has two. */
const MAX_FILES = 20;
const MAX_LINES = 2_000;

/** Its value contains the loaded patches by key. */
export class PatchLoader extends Store<ReadonlyMap<string, PatchState>> {
  readonly #load: (paths: string[]) => Promise<LoopPatches>;
  readonly #queue = new Map<string, PatchFile>();
  readonly #known = new Set<string>();
  #isLoading = false;

  constructor(load: (paths: string[]) => Promise<LoopPatches>) {
    super(new Map());
    this.#load = load;
  }

  /** Requests a patch unless it is loaded or requested. */
  want(file: PatchFile): void {
    if (this.#known.has(file.key)) return;
    this.#known.add(file.key);
    this.#queue.set(file.key, file);
    // After the other files of the same render.
    if (!this.#isLoading) queueMicrotask(() => void this.#loadNext());
  }

  /** Requests a patch whose request failed again. */
  retry(file: PatchFile): void {
    this.#known.delete(file.key);
    this.#set([file], () => undefined);
    this.want(file);
  }

  async #loadNext(): Promise<void> {
    const batch = this.#batch();
    if (this.#isLoading || batch.length === 0) return;
    this.#isLoading = true;
    for (const { key } of batch) this.#queue.delete(key);
    try {
      const paths = batch.flatMap(({ path, oldPath }) => (oldPath ? [path, oldPath] : [path]));
      const { patches, remaining } = await this.#load(paths);
      const loaded = new Map(patches.map(({ path, patch }) => [path, patch]));
      const missing = new Set(remaining);
      const done = batch.filter(({ path }) => !missing.has(path) || loaded.has(path));
      this.#set(done, ({ path }) => ({ patch: loaded.get(path) ?? "" }));
      for (const file of batch.filter((file) => !done.includes(file)))
        this.#queue.set(file.key, file);
    } catch (error) {
      this.#set(batch, () => ({ error }));
    } finally {
      this.#isLoading = false;
    }
    void this.#loadNext();
  }

  #batch(): PatchFile[] {
    const batch: PatchFile[] = [];
    let lines = 0;
    for (const file of this.#queue.values()) {
      lines += file.lines;
      if (batch.length === MAX_FILES || (batch.length > 0 && lines > MAX_LINES)) break;
      batch.push(file);
    }
    return batch;
  }

  #set(files: PatchFile[], stateOf: (file: PatchFile) => PatchState | undefined): void {
    const patches = new Map(this.snapshot());
    for (const file of files) {
      const state = stateOf(file);
      if (state) patches.set(file.key, state);
      else patches.delete(file.key);
    }
    this.set(patches);
  }
}
