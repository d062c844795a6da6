import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import { type SpendSnapshot, SpendStore } from "@/loops/spend";

import { LoopStream, type StreamState } from "./loop-stream";
import { LineStore, type LineSnapshot } from "./output-lines";
import { type LoopActivity, LoopActivityStore } from "./activity";

const nothing = new LineStore();
const noSpend = new SpendStore();
const noActivity = new LoopActivityStore();

/** The output of a loop and the state of its connection, for as long as a page shows it. */
export function useLoopStream(
  loopId: string,
  ended: boolean,
): { output: LineSnapshot; spend: SpendSnapshot; activity: LoopActivity; state: StreamState } {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  const [stream, setStream] = useState<LoopStream>();
  const endedNow = useRef(ended);
  useEffect(() => {
    endedNow.current = ended;
  }, [ended]);

  useEffect(() => {
    const opened = new LoopStream(loopId, {
      hasEnded: () => endedNow.current,
      onState: setState,
      onStatusEvent: () => void client.invalidateQueries({ queryKey: ["loops"] }),
    });
    setStream(opened);
    opened.start();
    return () => opened.stop();
  }, [loopId, client]);

  const lines = stream?.lines ?? nothing;
  const activity = stream?.activity ?? noActivity;
  const spend = stream?.spend ?? noSpend;
  return {
    output: useSyncExternalStore(lines.subscribe, lines.snapshot),
    spend: useSyncExternalStore(spend.subscribe, spend.snapshot),
    activity: useSyncExternalStore(activity.subscribe, activity.snapshot),
    state,
  };
}
