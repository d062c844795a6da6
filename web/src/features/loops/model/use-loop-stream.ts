import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { useScope } from "@/api/scope";

import { eventSource } from "../queries";
import { type LoopActivity, LoopActivityStore } from "./activity";
import { type EventSource, EventWindowStore } from "./event-window";
import { type Latest, LatestStore, LoopStream, type StreamState } from "./loop-stream";
import { type SpendSnapshot, SpendStore } from "./spend";

// Empty stores for the first render, before the effect has created the stream.
const nothing = new Promise<never>(() => undefined);
const noSource: EventSource = { before: () => nothing, after: () => nothing };
const noWindow = new EventWindowStore(noSource);
const noLatest = new LatestStore();
const noSpend = new SpendStore();
const noActivity = new LoopActivityStore();

/** Follows a loop while the component is mounted. Returns its log, usage, activity and connection state. */
export function useLoopStream(
  loopId: string,
  ended: boolean,
): {
  log: EventWindowStore;
  latest: Latest;
  spend: SpendSnapshot;
  activity: LoopActivity;
  state: StreamState;
} {
  const client = useQueryClient();
  const scope = useScope();
  const [state, setState] = useState<StreamState>("connecting");
  const [stream, setStream] = useState<LoopStream>();
  // A ref, so that the end of the loop does not reopen the stream.
  const endedNow = useRef(ended);
  useEffect(() => {
    endedNow.current = ended;
  }, [ended]);

  useEffect(() => {
    const { organization, key } = scope;
    const opened = new LoopStream(organization, loopId, {
      source: eventSource(scope, loopId),
      hasEnded: () => endedNow.current,
      onState: setState,
      onStatusEvent: () => void client.invalidateQueries({ queryKey: key("loops") }),
    });
    setStream(opened);
  }, [scope, loopId, client]);

  // Hidden tabs hold no connection, so that tabs of many loops do not use all that a browser opens to a host.
  const isVisible = usePageVisible();
  useEffect(() => {
    if (!stream || !isVisible) return;
    stream.start();
    return () => stream.stop();
  }, [stream, isVisible]);

  const latest = stream?.latest ?? noLatest;
  const activity = stream?.activity ?? noActivity;
  const spend = stream?.spend ?? noSpend;
  return {
    log: stream?.window ?? noWindow,
    latest: useSyncExternalStore(latest.subscribe, latest.snapshot),
    spend: useSyncExternalStore(spend.subscribe, spend.snapshot),
    activity: useSyncExternalStore(activity.subscribe, activity.snapshot),
    state,
  };
}

function usePageVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState === "visible",
  );
}
