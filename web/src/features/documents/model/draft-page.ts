/** Page of the drafts on a plan: its edited text, and its review. */
export const draftPage = (planId: string): string => `plans/${planId}`;
