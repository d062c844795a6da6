/** A plan to judge: its text with comments, questions, versions, judges, and the decision about it. */
import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { type ReactNode, Suspense, useCallback, useRef, useState } from "react";

import { useScope } from "@/api/scope";
import type { Document } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { Outline } from "@/markdown/outline";
import { lazyView } from "@/ui/lazy-view";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy-button";
import { Notice, Panel, Skeleton } from "@/ui/panel";

import type { PlanComment, SentComment } from "../model/change-request";
import { sentCommentId, useLinkedComment } from "../model/comment-links";
import { openQuestions } from "../model/open-questions";
import type { PassageAnchor } from "../model/text-anchor";
import { useChangedLines } from "../model/use-changed-lines";
import { useReview } from "../model/use-review";
import { useSentComments } from "../model/use-sent-comments";
import { useVersions } from "../model/use-versions";
import { documentVersionQuery, useRefreshAfterLoops } from "../queries";
import { CommentList } from "./comment-list";
import { DecisionBar } from "./decision-bar";
import { DocumentSkeleton } from "./document-skeleton";
import { PlanText } from "./plan-text";
import { QuestionFields } from "./question-fields";
import { CompareSelect, VersionSelect } from "./version-select";

const PlanEditor = lazyView(() => import("./plan-editor"), "PlanEditor");
// Only a version that a request for changes created has answers.
const CommentAnswers = lazyView(() => import("./comment-answers"), "CommentAnswers");
const JudgesView = lazyView(() => import("./judges-view"), "JudgesView");
const Comparison = lazyView(() => import("./comparison"), "Comparison");

interface PlanStageProps {
  plan: Document;
  orgSlug: string;
  /** What the page shows below the comments. */
  aside?: ReactNode;
}

/** For pages whose search parameters contain those of `planSearch`. */
export function PlanStage(props: PlanStageProps) {
  return (
    <Suspense fallback={<DocumentSkeleton />}>
      <LoadedStage key={props.plan.id} {...props} />
    </Suspense>
  );
}

// The same array for all renders of a version without comments.
const NO_COMMENTS: PlanComment[] = [];

function LoadedStage({ plan, orgSlug, aside }: PlanStageProps) {
  const article = useRef<HTMLElement>(null);
  const { shown, compared, isCurrent, isEdited, show } = useVersions(plan);
  const review = useReview(plan.id);
  useRefreshAfterLoops(plan);
  const [added, setAdded] = useState<string>();
  const [missing, setMissing] = useState<string[]>([]);
  const before = useQuery({
    ...documentVersionQuery(useScope(), plan.id, shown.version - 1),
    enabled: shown.version > 1,
  });
  const changedLines = useChangedLines(before.data?.content, shown.content);
  const comment = (anchor?: PassageAnchor) => setAdded(review.addComment(anchor));
  const questions = isCurrent ? openQuestions(shown.content) : [];
  const createdBy = plan.versions.find(({ version }) => version === shown.version)?.loopId;
  const sent = useSentComments(createdBy ?? undefined);
  const updateMissing = useCallback(
    (ids: string[]) => setMissing((known) => (known.join() === ids.join() ? known : ids)),
    [],
  );
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,56rem)_minmax(16rem,1fr)]">
        <Panel>
          <div className="flex flex-wrap items-center gap-2 border-b border-line py-1.5 pr-2 pl-4">
            <VersionSelect
              versions={plan.versions}
              current={plan.currentVersion}
              chosen={shown.version}
              onChoose={(version) => show({ version })}
            />
            <CompareSelect
              versions={plan.versions}
              shown={shown.version}
              compared={compared?.version}
              onChoose={(compare) => show({ version: shown.version, ...(compare && { compare }) })}
            />
            {isCurrent && !isEdited && (
              <Button size="sm" variant="quiet" onClick={() => show({ edit: true })}>
                <Pencil aria-hidden />
                Edit
              </Button>
            )}
            <CopyButton text={shown.content} label="Copy as Markdown" />
          </div>
          {isEdited ? (
            <Suspense fallback={<Skeleton className="m-4 h-96" />}>
              <PlanEditor plan={plan} onClose={() => show({})} />
            </Suspense>
          ) : compared ? (
            <Suspense fallback={<Skeleton className="m-4 h-96" />}>
              <Comparison
                before={{ name: `Version ${compared.version}`, text: compared.content }}
                after={{ name: `Version ${shown.version}`, text: shown.content }}
              />
            </Suspense>
          ) : (
            <>
              <ChangesNote
                count={changedLines.size}
                before={shown.version - 1}
                onCompare={() => show({ version: shown.version, compare: shown.version - 1 })}
              />
              <PlanText
                article={article}
                text={shown.content}
                changedLines={changedLines}
                comments={isCurrent ? review.review.comments : NO_COMMENTS}
                onComment={isCurrent ? comment : undefined}
                onMissing={updateMissing}
              />
            </>
          )}
        </Panel>
        {/* Stays next to the passage that the user comments on. */}
        <div className="space-y-8 lg:sticky lg:top-20 lg:-mx-1 lg:max-h-[calc(100dvh-11rem)] lg:overflow-y-auto lg:px-1 lg:pb-1">
          {!isCurrent && (
            <Notice
              title={`Version ${shown.version} is not current`}
              action={
                <Button size="sm" onClick={() => show({})}>
                  Show version {plan.currentVersion}
                </Button>
              }
            >
              Comments and answers are about the current version.
            </Notice>
          )}
          {sent && <MissingComment sent={sent} />}
          <DraftNotice draft={review.draft} />
          <QuestionFields questions={questions} review={review} />
          {isCurrent && (
            <CommentList
              review={review}
              added={added}
              missing={missing}
              article={article}
              onAddGeneral={() => comment()}
            />
          )}
          {sent && (
            <Suspense fallback={<Skeleton className="h-24" />}>
              <CommentAnswers comments={sent} content={shown.content} version={shown.version} />
            </Suspense>
          )}
          <Suspense fallback={null}>
            <JudgesView
              key={shown.version}
              plan={plan}
              version={shown.version}
              article={article}
              review={isCurrent ? review : undefined}
            />
          </Suspense>
          {aside}
          <Outline article={article} text={shown.content} />
        </div>
      </div>
      {isCurrent && !isEdited && (
        <DecisionBar plan={plan} orgSlug={orgSlug} questions={questions} review={review} />
      )}
    </>
  );
}

/** Says that the comment of the address is none of the displayed version. */
function MissingComment({ sent }: { sent: SentComment[] }) {
  const linked = useLinkedComment();
  if (linked === undefined || sent.some(({ number }) => sentCommentId(number) === linked))
    return null;
  return (
    <Notice title="The comment of this address cannot be shown">
      This version answers no such comment.
    </Notice>
  );
}

/** How many passages differ from the version before. */
function ChangesNote({
  count,
  before,
  onCompare,
}: {
  count: number;
  before: number;
  onCompare: () => void;
}) {
  if (count === 0) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 text-sm text-ink-2">
      <span aria-hidden className="h-4 border-s-3 border-run" />
      <span className="flex-1">
        {count === 1 ? "1 passage is" : `${count} passages are`} new or changed since version{" "}
        {before}.
      </span>
      <Button size="sm" onClick={onCompare}>
        Compare
      </Button>
    </p>
  );
}
