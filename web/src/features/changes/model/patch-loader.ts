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

/** The patch of a content of a file, named by its key: empty without a visible difference. */
export type PatchState = { key: string } & ({ patch: string } | { error: unknown });

/** Limits of a request. The gateway accepts 40 paths, and a rename has two. */
const MAX_FILES = 20;
const MAX_LINES = 2_000;

/** Its value contains the patch of each path that was loaded last: of an earlier content until the next one is loaded. */
export class PatchLoader extends Store<ReadonlyMap<string, PatchState>> {
  readonly #load: (paths: string[]) => Promise<LoopPatches>;
  /** By path. */
  readonly #queue = new Map<string, PatchFile>();
  /** The key of the content that was requested last, by path. */
  readonly #requested = new Map<string, string>();
  #isLoading = false;

  constructor(load: (paths: string[]) => Promise<LoopPatches>) {
    super(new Map());
    this.#load = load;
  }

  /** Requests a patch unless it is the one that was requested last. */
  want(file: PatchFile): void {
    if (this.#requested.get(file.path) === file.key) return;
    this.#requested.set(file.path, file.key);
    this.#queue.set(file.path, file);
    // After the other files of the same render.
    if (!this.#isLoading) queueMicrotask(() => void this.#loadNext());
  }

  /** Requests a patch whose request failed again. */
  retry(file: PatchFile): void {
    this.#requested.delete(file.path);
    this.#set([file], () => undefined);
    this.want(file);
  }

  async #loadNext(): Promise<void> {
    const batch = this.#batch();
    if (this.#isLoading || batch.length === 0) return;
    this.#isLoading = true;
    for (const { path } of batch) this.#queue.delete(path);
    try {
      const paths = batch.flatMap(({ path, oldPath }) => (oldPath ? [path, oldPath] : [path]));
      const { patches, remaining } = await this.#load(paths);
      const loaded = new Map(patches.map(({ path, patch }) => [path, patch]));
      const missing = new Set(remaining);
      const done = batch.filter(({ path }) => !missing.has(path) || loaded.has(path));
      this.#set(done, ({ key, path }) => ({ key, patch: loaded.get(path) ?? "" }));
      for (const file of batch.filter((file) => !done.includes(file)))
        if (this.#isWanted(file)) this.#queue.set(file.path, file);
    } catch (error) {
      const wanted = batch.filter((file) => this.#isWanted(file));
      this.#set(wanted, ({ key }) => ({ key, error }));
    } finally {
      this.#isLoading = false;
    }
    void this.#loadNext();
  }

  /** Returns whether no other content of the file was requested later. */
  #isWanted({ key, path }: PatchFile): boolean {
    return this.#requested.get(path) === key;
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
      if (state) patches.set(file.path, state);
      else patches.delete(file.path);
    }
    this.set(patches);
  }
}
