/** Tabs of the page of a loop, as in its address. */
export const LOOP_TABS = ["output", "changes", "plan", "result", "cost"] as const;

export type LoopTab = (typeof LOOP_TABS)[number];
