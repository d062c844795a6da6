import { useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, useMemo, useRef, useState } from "react";

import type { ChangedFile, LoopDetail, RepositoryChanges } from "@/api/types";
import {
  type AddressChange,
  type ChangesAddress,
  lineOf,
  rangeOf,
} from "@/routing/changes-address";
import { lazyView } from "@/ui/lazy-view";
import { Notice } from "@/ui/panel";

import { useReportOpenFindings, useReviewOfChanges } from "../finding-queries";
import { CardStates, CardStateStore } from "../model/card-state";
import type { LineRange } from "../model/comments";
import { isCurrent } from "../model/content-key";
import { noteId } from "../model/diff-file";
import { diffFiles, placeOfNote } from "../model/diff-files";
import { neighbour, type ShownFinding } from "../model/findings";
import { firstChange } from "../model/patch-lines";
import type { PatchState } from "../model/patch-loader";
import { filesOf, fileTree } from "../model/tree";
import { useDiffScroll } from "../model/use-diff-scroll";
import { usePatches } from "../model/use-patches";
import { useFindings } from "../model/use-findings";
import { useHeldWhilePressed } from "../model/use-held-while-pressed";
import { useOnAction } from "../model/use-on-action";
import { useReview } from "../model/use-review";
import { useViewed } from "../model/use-viewed";
import { useCommentLines } from "../review-queries";
import { DiffNote } from "./diff-note";
import { FileHeader } from "./file-header";
import { FileTree } from "./file-tree";
import { FindingBar } from "./finding-bar";
import { FindingList } from "./finding-list";
import { FinishReview } from "./finish-review";
import { ImageNote } from "./image-note";

const DiffView = lazyView(() => import("./diff-view"), "DiffView");
const FindingCard = lazyView(() => import("./finding-card"), "FindingCard");
const ReviewerPanel = lazyView(() => import("./reviewer-panel"), "ReviewerPanel");

/** Number of context lines with which a patch contains the whole file. */
const WHOLE_FILE = 10_000_000;

/** Whether the diff is next to the tree of files, not below it: Tailwind's `lg`. */
const isBesideTree = window.matchMedia("(width >= 64rem)");

/** The changed files of a repository: their tree, and their diff with the comments of the person. */
export function RepositoryDiff({
  loop,
  repository,
  repositories,
  address,
  onAddress,
  toolbar,
}: {
  loop: LoopDetail;
  repository: RepositoryChanges;
  /** All changes of the loop. */
  repositories: readonly RepositoryChanges[];
  address: ChangesAddress;
  onAddress: (address: AddressChange) => void;
  toolbar: ReactNode;
}) {
  const { orgSlug } = useParams({ from: "/$orgSlug" });
  const page = `changes/${loop.document?.slug ?? loop.id}`;
  const viewed = useViewed(page, repository.name);
  const review = useReview(loop, page);
  const canComment = loop.document != null;
  const [isWhole, setIsWhole] = useState(false);
  const [ignoresSpace, setIgnoresSpace] = useState(false);
  const [cardStates] = useState(() => new CardStateStore());
  // Files that the person opened or closed. The others are open unless they were viewed or are generated.
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());

  const tree = useMemo(() => fileTree(repository.files), [repository.files]);
  const ordered = useMemo(() => filesOf(tree), [tree]);
  const byPath = useMemo(() => new Map(ordered.map((file) => [file.path, file])), [ordered]);
  const comparison = {
    ...rangeOf({ ...address, repo: repository.name }),
    repository: repository.name,
  };
  const { patchOf, want, retry } = usePatches(loop, {
    ...comparison,
    ...(isWhole && { context: WHOLE_FILE }),
    ...(ignoresSpace && { ignoreWhiteSpace: true }),
  });
  const [focused, setFocused] = useState(address.comment ?? address.finding);
  const focus = { focused, setFocused };

  const isOpen = (file: ChangedFile) =>
    toggled.get(file.path) ??
    (file.path === shownPath || !(viewed.isViewed(file) || file.generated !== undefined));
  const setOpen = (file: ChangedFile, open: boolean) =>
    setToggled((others) => new Map(others).set(file.path, open));
  const comments = useMemo(() => [...review.sent, ...review.drafts], [review.sent, review.drafts]);
  // The gateway returns the contents of images for the whole comparison only.
  const showsImages = address.range === undefined;
  const located = useCommentLines(loop, comparison, byPath, comments);
  const changes = useReviewOfChanges(loop, repository);
  const findings = useFindings(changes.groups, loop, review, focus);
  const hasReview = changes.review !== undefined || changes.groups.length > 0;
  const known = changes.areFindingsLoaded && hasReview ? findings.all : undefined;
  useReportOpenFindings(loop, repository.name, known);
  const linkedComment = comments.find(
    ({ id, repository: name }) => id === address.comment && name === repository.name,
  );
  const linkedFinding = findings.shown.find(({ id }) => id === address.finding);
  const shownPath = linkedComment?.path ?? linkedFinding?.first.path ?? address.file;
  const hasCurrentLines = comparison.commit === undefined;
  // The comment that requests the fix of a finding repeats its text.
  const added = new Set(findings.shown.map(findings.commentId));
  const drafts = review.drafts.filter(({ id }) => !added.has(id));
  const [files, onPressed] = useHeldWhilePressed(
    diffFiles(ordered, repository.name, patchOf, isOpen, { ...review, drafts }, located, {
      findings: findings.shown,
      hasCurrentLines,
      showsImages,
    }),
  );
  const hasLines = (path: string) =>
    files.some(({ file, state }) => file.path === path && state !== undefined);
  const outside = findings.shown.filter(({ first: { path = "" } }) => !byPath.has(path));
  const showCommit = (commit: string) =>
    onAddress({ repo: repository.name, range: `commit:${commit}` });

  const viewer = useRef<HTMLDivElement>(null);
  const target = address.file === undefined ? undefined : byPath.get(address.file);
  const line = lineOf(address);
  const noted =
    linkedComment || linkedFinding
      ? placeOfNote(files, linkedComment?.id ?? linkedFinding?.id)
      : line;
  // The note that got the focus before the lines of its file were loaded. That of the address stays in view without it.
  const [held, setHeld] = useState<string>();
  const heldPlace = held === undefined ? undefined : placeOfNote(files, held);
  const scroll = useDiffScroll(
    shownPath === undefined
      ? undefined
      : {
          path: shownPath,
          line: noted?.line,
          side: noted?.side,
          isLoaded: hasLines(shownPath),
        },
    heldPlace && { ...heldPlace, isLoaded: hasLines(heldPlace.path) },
  );
  // What arrives later must not move the view or the focus of a person who has continued.
  useOnAction(() => {
    scroll.release();
    setFocused(undefined);
  });

  const ordinals = new Map(ordered.map(({ path }, index) => [path, index]));
  const positionOf = ({ first: { path = "", line = 0, isOutdated } }: ShownFinding) =>
    [ordinals.get(path) ?? -1, isOutdated ? 0 : line] as const;
  const [current, setCurrent] = useState<string>();
  const goToFinding = (step: 1 | -1) => {
    const next = neighbour(findings.shown, positionOf, current, step);
    if (!next) return;
    const { path = "", line, isOutdated } = next.first;
    const isAtLine = line !== undefined && !isOutdated && hasCurrentLines;
    setCurrent(next.id);
    setFocused(next.id);
    const file = byPath.get(path);
    if (!file) return;
    setOpen(file, true);
    scroll.scrollTo({ path });
    onAddress({
      repo: repository.name,
      finding: next.id,
      file: path,
      line: isAtLine ? `R${line}` : undefined,
    });
  };
  const openForm = (path: string, lines?: LineRange) => {
    review.open({ repository: repository.name, path, ...(lines && { lines }) });
    // Only what is in view is rendered, and can get the focus.
    if (lines) scroll.scrollTo({ path, line: lines.to, side: lines.side }, "nearest");
  };
  const renderFinding = (finding: ShownFinding) =>
    changes.target && (
      // The viewer numbers the notes of a file: without the key, the next finding would get the state of a removed one.
      <Suspense key={finding.id} fallback={<div className="skeleton h-24" aria-hidden />}>
        <FindingCard
          finding={finding}
          findings={findings}
          target={changes.target}
          loop={loop}
          comparison={comparison}
          page={page}
        />
      </Suspense>
    );

  const isFindingMissing =
    address.finding !== undefined &&
    changes.areFindingsLoaded &&
    !findings.all.some(({ id }) => id === address.finding);

  const counts = new Map<string, number>();
  for (const { repository: name, path } of review.drafts)
    if (name === repository.name) counts.set(path, (counts.get(path) ?? 0) + 1);
  const viewedCount = ordered.filter(viewed.isViewed).length;

  return (
    <CardStates value={cardStates}>
      <Suspense fallback={<div className="skeleton h-11 rounded-md" aria-hidden />}>
        <ReviewerPanel loop={loop} repository={repository} changes={changes} />
      </Suspense>
      {toolbar}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <Toggle label="Whole files" isOn={isWhole} onChange={setIsWhole} />
        <Toggle label="Ignore white space" isOn={ignoresSpace} onChange={setIgnoresSpace} />
        <FindingBar findings={findings} onStep={goToFinding} />
        <span className="ml-auto text-ink-3 tabular-nums" role="status">
          {viewedCount} of {ordered.length} viewed
        </span>
        {canComment && (
          <FinishReview
            loop={loop}
            repositories={repositories}
            review={review}
            page={page}
            orgSlug={orgSlug}
          />
        )}
      </div>
      {isFindingMissing && (
        <Notice title="The finding of this address cannot be shown">
          A later review has not reported it.
        </Notice>
      )}
      <FindingList findings={outside} renderFinding={renderFinding} />
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
              scroll.scrollTo({ path: file.path });
              if (!isBesideTree.matches) viewer.current?.scrollIntoView();
            }}
          />
        </nav>
        <div
          ref={viewer}
          className="h-[calc(100dvh-9rem)] min-h-96 scroll-mt-48"
          onPointerDownCapture={onPressed}
        >
          <Suspense fallback={<div className="skeleton h-full rounded-md" aria-hidden />}>
            <DiffView
              files={files}
              isSplit={address.view === "split"}
              selected={
                target &&
                line && { path: target.path, side: line.side, from: line.line, to: line.line }
              }
              handle={scroll.handle}
              onRendered={scroll.onRendered}
              onResized={scroll.onResized}
              onHiddenInput={scroll.scrollTo}
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
                      onComment={
                        canComment
                          ? () => {
                              setOpen(file, true);
                              openForm(path, firstLines(file, patchOf(file)));
                            }
                          : undefined
                      }
                    />
                  )
                );
              }}
              renderNote={(note, path) => {
                const file = byPath.get(path);
                if (!file) return undefined;
                if (note.kind === "image")
                  return <ImageNote loop={loop} repository={repository} file={file} />;
                return (
                  <div
                    role="presentation"
                    className="contents"
                    onFocus={() => {
                      const id = noteId(note);
                      const isAddressed = id === (address.comment ?? address.finding);
                      setHeld(hasLines(path) || isAddressed ? undefined : id);
                    }}
                    onBlur={() => setHeld(undefined)}
                  >
                    {note.kind === "finding" ? (
                      renderFinding(note.finding)
                    ) : (
                      <DiffNote
                        key={note.kind === "form" ? review.place?.opening : note.comment.id}
                        note={note}
                        page={page}
                        loop={loop}
                        comparison={comparison}
                        file={file}
                        review={review}
                        focus={focus}
                        onCommit={showCommit}
                      />
                    )}
                  </div>
                );
              }}
              onComment={canComment ? openForm : undefined}
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
    </CardStates>
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

/** Returns the first changed line of a file; undefined if it has none, or is not loaded. */
function firstLines(file: ChangedFile, state: PatchState | undefined): LineRange | undefined {
  const isLoaded = isCurrent(file, state) && "patch" in state;
  const first = isLoaded ? firstChange(state.patch) : undefined;
  return first && { side: first.side, from: first.line, to: first.line };
}
