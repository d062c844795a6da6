/** Tabs of the page of a loop, as in its address. */
export const LOOP_TABS = ["output", "plan", "result", "cost"] as const;

export type LoopTab = (typeof LOOP_TABS)[number];
