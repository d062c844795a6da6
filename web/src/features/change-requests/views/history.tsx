/** What happened to a change request, newest first, and the command that packs everything about its last loop. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { useScope } from "@/api/scope";
import type { ChangeRequestDetail, HistoryEntry } from "@/api/types";
import { ago, moment } from "@/model/format";
import { usePullRequestHref } from "@/model/pull-request";
import { useNow } from "@/ui/clock";
import { CommandLine } from "@/ui/command-line";
import { DocumentLink } from "@/ui/document-link";
import { Loaded } from "@/ui/loaded";
import { Panel } from "@/ui/panel";

import { actorOf, historyText, loopOf, messageOf } from "../model/history";
import { historyQuery } from "../queries";
import { LoadingRows } from "./loading-list";

export function History({ request, orgSlug }: { request: ChangeRequestDetail; orgSlug: string }) {
  const query = useQuery(historyQuery(useScope(), request.document.slug));
  const now = useNow(30_000);
  const [last] = request.loops;
  return (
    <div className="space-y-7">
      <Loaded query={query} pending={<LoadingRows />}>
        {(entries) => (
          <Panel>
            <ol aria-label="History" className="divide-y divide-line">
              {entries.map((entry, at) => (
                <Entry key={`${entry.at} ${at}`} entry={entry} orgSlug={orgSlug} now={now} />
              ))}
            </ol>
          </Panel>
        )}
      </Loaded>
      {last && (
        <section>
          <h2 className="mb-2 font-medium">Support bundle</h2>
          <p className="mb-2 max-w-[70ch] text-pretty text-ink-2">
            On the machine of the last loop, this command packs its record, output, timings and
            settings into one file. Recognized secrets are redacted, and nothing is uploaded.
          </p>
          <CommandLine text={`loopgate support-bundle ${last.id}`} label="Copy the command" />
        </section>
      )}
    </div>
  );
}

function Entry({ entry, orgSlug, now }: { entry: HistoryEntry; orgSlug: string; now: number }) {
  const actor = actorOf(entry);
  const message = messageOf(entry);
  const loopId = loopOf(entry);
  return (
    <li className="px-4 py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <p className="min-w-0 flex-1 basis-56 wrap-anywhere">
          {actor !== undefined && (
            <>
              <bdi className="font-medium">{actor}</bdi>{" "}
            </>
          )}
          {historyText(entry)}
          {entry.kind === "version" && (
            <>
              : <DocumentLink document={entry.document} orgSlug={orgSlug} />
            </>
          )}
          {"url" in entry && <PullRequestLink url={entry.url} />}
          {loopId !== undefined && (
            <>
              {" · "}
              <Link
                to="/$orgSlug/loops/$loopId"
                params={{ orgSlug, loopId }}
                className="text-accent underline"
              >
                Loop
              </Link>
            </>
          )}
        </p>
        <time dateTime={entry.at} title={moment(entry.at)} className="text-sm text-ink-3">
          {ago(entry.at, now)}
        </time>
      </div>
      {message !== undefined && (
        <p dir="auto" className="mt-1 border-l-2 border-line pl-3 wrap-anywhere text-ink-2">
          {message}
        </p>
      )}
    </li>
  );
}

function PullRequestLink({ url }: { url: string }) {
  const href = usePullRequestHref(url);
  if (!href) return null;
  return (
    <>
      {" · "}
      <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
        Open
      </a>
    </>
  );
}
