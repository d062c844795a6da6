/** Starts EXECUTE on a plan, after a confirmation that says what it does. */
import { useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { Suspense, useRef, useState } from "react";

import { documentQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Document, RepoRef } from "@/api/types";
import { useRequestKey } from "@/drafts/use-request-key";
import { lazyPart } from "@/ui/lazy-view";
import { useOpenLoop } from "@/routing/use-open-loop";
import { Button } from "@/ui/button";
import { usePageActions } from "@/ui/page-actions";
import { useShortcut } from "@/ui/shortcuts";

import { answersText } from "../model/change-request";
import { draftPage } from "../model/draft-page";
import { openQuestions } from "../model/open-questions";
import { type ReviewDraft, useReview } from "../model/use-review";
import { useRunDocument } from "../run-document";
import { StartError } from "./start-error";

const ExecuteConfirmation = lazyPart(() => import("./execute-confirmation"), "ExecuteConfirmation");

/** For pages that do not show the plan: loads it. */
export function ExecuteButton({
  slug,
  repo,
  orgSlug,
}: {
  slug: string;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  const { data: plan } = useQuery(documentQuery(useScope(), slug));
  return (
    // The page stays visible until the draft is loaded.
    <Suspense fallback={<LoadingButton />}>
      {plan ? <LoadedButton plan={plan} repo={repo} orgSlug={orgSlug} /> : <LoadingButton />}
    </Suspense>
  );
}

function LoadingButton() {
  return (
    <Button variant="primary" busy>
      Execute
    </Button>
  );
}

function LoadedButton(props: {
  plan: Document;
  repo: RepoRef | null | undefined;
  orgSlug: string;
}) {
  return <ExecutePlan {...props} review={useReview(props.plan.id)} />;
}

/** The answers to open questions are sent with the start. */
export function ExecutePlan({
  plan,
  repo,
  orgSlug,
  review,
}: {
  plan: Document;
  repo: RepoRef | null | undefined;
  orgSlug: string;
  review: ReviewDraft;
}) {
  const [confirming, setConfirming] = useState(false);
  const run = useRunDocument(useRequestKey(draftPage(plan.id), "execute"), review.removeSent);
  const openLoop = useOpenLoop(orgSlug, plan.slug);
  const isExecuted = plan.loops.some(
    ({ command, status }) => command === "EXECUTE" && status === "COMPLETED",
  );
  const label = isExecuted ? "Execute again" : "Execute";
  const button = useRef<HTMLButtonElement>(null);
  // A single key must not start a loop, which costs money.
  useShortcut({ keys: "e", label: "Go to Execute", where: "page" }, () => button.current?.focus());
  usePageActions([{ label, run: () => setConfirming(true) }]);
  const execute = () => {
    setConfirming(false);
    review.send({ ...review.review, comments: [] });
    const prompt = answersText(review.review, openQuestions(plan.content));
    run.mutate(
      {
        documentId: plan.slug,
        command: "execute",
        version: plan.currentVersion,
        content: plan.content,
        ...(prompt !== "" && { prompt }),
        ...(repo && { repo }),
      },
      openLoop(),
    );
  };
  return (
    <>
      <Button
        ref={button}
        data-due
        variant="primary"
        busy={run.isPending}
        onClick={() => setConfirming(true)}
      >
        {!run.isPending && <Play aria-hidden />}
        {label}
      </Button>
      <Suspense>
        {confirming && (
          <ExecuteConfirmation
            plan={plan}
            repo={repo}
            review={review}
            isExecuted={isExecuted}
            label={label}
            onCancel={() => setConfirming(false)}
            onConfirm={execute}
          />
        )}
      </Suspense>
      {run.error && <StartError title="The plan was not executed" error={run.error} />}
    </>
  );
}
