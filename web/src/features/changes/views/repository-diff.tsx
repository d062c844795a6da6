import { useParams } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from "react";

import { loadChunk } from "@/api/load-chunk";
import type { ChangedFile, LoopDetail, RepositoryChanges } from "@/api/types";
import {
  type AddressChange,
  type ChangesAddress,
  lineOf,
  rangeOf,
} from "@/routing/changes-address";

import { diffFiles } from "../model/diff-files";
import { filesOf, fileTree } from "../model/tree";
import { usePatches } from "../model/use-patches";
import { useReview } from "../model/use-review";
import { useViewed } from "../model/use-viewed";
import { DiffNote } from "./diff-note";
import type { DiffHandle } from "./diff-view";
import { FileHeader } from "./file-header";
import { FileTree } from "./file-tree";
import { FinishReview } from "./finish-review";

const DiffView = lazy(() => loadChunk(() => import("./diff-view")));

/** Number of context lines with which a patch contains the whole file. */
const WHOLE_FILE = 10_000_000;

/** The changed files of a repository: their tree, and their diff with the comments of the person. */
export function RepositoryDiff({
  loop,
  repository,
  address,
  onAddress,
  toolbar,
}: {
  loop: LoopDetail;
  repository: RepositoryChanges;
  address: ChangesAddress;
  onAddress: (address: AddressChange) => void;
  toolbar: ReactNode;
}) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const page = `changes/${loop.document?.slug ?? loop.id}`;
  const viewed = useViewed(page, repository.name);
  const review = useReview(page);
  const [isWhole, setIsWhole] = useState(false);
  const [ignoresSpace, setIgnoresSpace] = useState(false);
  // Files that the person opened or closed. The others are open unless they were viewed or are generated.
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());

  const tree = useMemo(() => fileTree(repository.files), [repository.files]);
  const ordered = useMemo(() => filesOf(tree), [tree]);
  const byPath = useMemo(() => new Map(ordered.map((file) => [file.path, file])), [ordered]);
  const { patchOf, want, retry } = usePatches(loop, {
    ...rangeOf({ ...address, repo: repository.name }),
    repository: repository.name,
    ...(isWhole && { context: WHOLE_FILE }),
    ...(ignoresSpace && { ignoreWhiteSpace: true }),
  });
  const isOpen = (file: ChangedFile) =>
    toggled.get(file.path) ??
    (file.path === address.file || !(viewed.isViewed(file) || file.generated !== undefined));
  const setOpen = (file: ChangedFile, open: boolean) =>
    setToggled((others) => new Map(others).set(file.path, open));
  const files = diffFiles(ordered, repository.name, patchOf, isOpen, review);

  const handle = useRef<DiffHandle>(null);
  const target = address.file === undefined ? undefined : byPath.get(address.file);
  const isTargetLoaded = target !== undefined && patchOf(target) !== undefined;
  const line = lineOf(address);
  const [lineNumber, side] = [line?.line, line?.side];
  useEffect(() => {
    if (address.file === undefined) return;
    handle.current?.scrollTo(
      isTargetLoaded && lineNumber !== undefined
        ? {
            type: "line",
            id: address.file,
            lineNumber,
            side: side === "old" ? "deletions" : "additions",
            align: "center",
          }
        : { type: "item", id: address.file, align: "start" },
    );
  }, [address.file, isTargetLoaded, lineNumber, side]);

  const counts = new Map<string, number>();
  for (const { repository: name, path } of review.comments)
    if (name === repository.name) counts.set(path, (counts.get(path) ?? 0) + 1);
  const viewedCount = ordered.filter(viewed.isViewed).length;

  return (
    <>
      {toolbar}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <Toggle label="Whole files" isOn={isWhole} onChange={setIsWhole} />
        <Toggle label="Ignore white space" isOn={ignoresSpace} onChange={setIgnoresSpace} />
        <span className="ml-auto text-ink-3 tabular-nums" role="status">
          {viewedCount} of {ordered.length} viewed
        </span>
        <FinishReview
          loop={loop}
          repository={repository}
          review={review}
          page={page}
          orgSlug={orgSlug}
        />
      </div>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
        <nav
          aria-label="Changed files"
          className="max-h-48 overflow-y-auto lg:max-h-[calc(100dvh-9rem)]"
        >
          <FileTree
            nodes={tree}
            current={address.file}
            isViewed={viewed.isViewed}
            commentCounts={counts}
            onOpen={(file) => {
              setOpen(file, true);
              onAddress({ file: file.path, line: undefined });
              handle.current?.scrollTo({ type: "item", id: file.path, align: "start" });
            }}
          />
        </nav>
        <div className="h-[calc(100dvh-9rem)] min-h-96">
          <Suspense fallback={<div className="skeleton h-full rounded-md" aria-hidden />}>
            <DiffView
              files={files}
              isSplit={address.view === "split"}
              selected={
                target &&
                line && { path: target.path, side: line.side, from: line.line, to: line.line }
              }
              handle={handle}
              renderHeader={(path) => {
                const file = byPath.get(path);
                return (
                  file && (
                    <FileHeader
                      file={file}
                      state={patchOf(file)}
                      isOpen={isOpen(file)}
                      isViewed={viewed.isViewed(file)}
                      onNeeded={() => want(file)}
                      onRetry={() => retry(file)}
                      onToggle={() => setOpen(file, !isOpen(file))}
                      onViewed={(isViewed) => {
                        viewed.mark(file, isViewed);
                        setOpen(file, !isViewed);
                      }}
                      onComment={() => {
                        setOpen(file, true);
                        review.openAtFirstChange(repository.name, path, patchOf(file));
                      }}
                    />
                  )
                );
              }}
              renderNote={(note, path) => {
                const file = byPath.get(path);
                return (
                  file && (
                    <DiffNote
                      note={note}
                      page={page}
                      repository={repository.name}
                      path={path}
                      state={patchOf(file)}
                      review={review}
                    />
                  )
                );
              }}
              onComment={(path, lines) => review.open({ repository: repository.name, path, lines })}
              onLine={(path, { side: lineSide, to }) =>
                onAddress({
                  repo: repository.name,
                  file: path,
                  line: `${lineSide === "old" ? "L" : "R"}${to}`,
                })
              }
            />
          </Suspense>
        </div>
      </div>
    </>
  );
}

function Toggle({
  label,
  isOn,
  onChange,
}: {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <label className="flex items-center gap-1.5">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
        className="accent-accent"
      />
      {label}
    </label>
  );
}
