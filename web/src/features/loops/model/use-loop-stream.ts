import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { useScope } from "@/api/scope";

import { type LoopActivity, LoopActivityStore } from "./activity";
import { LoopStream, type StreamState } from "./loop-stream";
import { LineStore, type LineSnapshot } from "./output-lines";
import { type SpendSnapshot, SpendStore } from "./spend";

// Empty stores for the first render, before the effect has created the stream.
const noLines = new LineStore();
const noSpend = new SpendStore();
const noActivity = new LoopActivityStore();

/** Follows a loop while the component is mounted. Returns its output, usage, activity and connection state. */
export function useLoopStream(
  loopId: string,
  ended: boolean,
): { output: LineSnapshot; spend: SpendSnapshot; activity: LoopActivity; state: StreamState } {
  const client = useQueryClient();
  const { organization, key } = useScope();
  const [state, setState] = useState<StreamState>("connecting");
  const [stream, setStream] = useState<LoopStream>();
  // A ref, so that the end of the loop does not reopen the stream.
  const endedNow = useRef(ended);
  useEffect(() => {
    endedNow.current = ended;
  }, [ended]);

  useEffect(() => {
    const opened = new LoopStream(organization, loopId, {
      hasEnded: () => endedNow.current,
      onState: setState,
      onStatusEvent: () => void client.invalidateQueries({ queryKey: key("loops") }),
    });
    setStream(opened);
  }, [organization, loopId, client, key]);

  // Hidden tabs hold no connection, so that tabs of many loops do not use all that a browser opens to a host.
  const isVisible = usePageVisible();
  useEffect(() => {
    if (!stream || !isVisible) return;
    stream.start();
    return () => stream.stop();
  }, [stream, isVisible]);

  const lines = stream?.lines ?? noLines;
  const activity = stream?.activity ?? noActivity;
  const spend = stream?.spend ?? noSpend;
  return {
    output: useSyncExternalStore(lines.subscribe, lines.snapshot),
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
