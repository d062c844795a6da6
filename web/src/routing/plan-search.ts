/** Search parameters of pages that show a plan. */
export interface PlanSearch {
  /** Version to show, by default the current one. */
  version?: number | undefined;
  /** Version to compare it with. */
  compare?: number | undefined;
  /** Whether the text is edited. */
  edit?: boolean | undefined;
  /** Id of the comment to show. */
  comment?: string;
}

const COMMENT = /^[\w-]{1,100}$/;

export function planSearch({
  version,
  compare,
  edit,
  comment,
}: Record<string, unknown>): PlanSearch {
  return {
    ...(isVersion(version) && { version }),
    ...(isVersion(compare) && { compare }),
    ...(edit === true && { edit }),
    ...(typeof comment === "string" && COMMENT.test(comment) && { comment }),
  };
}

const isVersion = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0;
