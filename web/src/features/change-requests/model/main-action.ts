/** The one main action of a change request, which its header shows on every stage. */
import type { ChangeRequest } from "@/api/types";

import { isActiveState, needOf } from "./states";
import { type ChangeRequestTab, tabOf } from "./tabs";

export type MainAction =
  /** Opens the stage on which the action is due. */
  | { kind: "open"; tab: ChangeRequestTab; label: string }
  /** Moves the focus to the control on the open stage. */
  | { kind: "focus"; label: string }
  | { kind: "stop" };

type Standing = Pick<ChangeRequest, "state" | "stage" | "attention">;

/** Returns whether a loop is active and needs no person. */
export const isStoppable = ({ state, attention }: Standing): boolean =>
  attention == null && isActiveState(state);

/**
 * A decision of the person has precedence over an active loop, and that over an open pull request. There is no action where
 * the stage has the button itself and shows it at all times: Execute below a plan, and those of a pull request.
 */
export function mainAction(request: Standing, tab: ChangeRequestTab): MainAction | undefined {
  const due = tabOf(request);
  if (request.attention) {
    const { action: label } = needOf(request.attention);
    if (tab !== due) return { kind: "open", tab: due, label };
    return due === "plan" ? undefined : { kind: "focus", label };
  }
  if (isStoppable(request)) return { kind: "stop" };
  return request.state === "pull_request_open" && tab !== due
    ? { kind: "open", tab: due, label: "See the pull request" }
    : undefined;
}
