/** Search parameters of pages that show a plan. */
export interface PlanSearch {
  /** Version to show, by default the current one. */
  version?: number;
  /** Version to compare it with. */
  compare?: number;
  /** Whether the text is edited. */
  edit?: boolean;
}

export function planSearch({ version, compare, edit }: Record<string, unknown>): PlanSearch {
  return {
    ...(isVersion(version) && { version }),
    ...(isVersion(compare) && { compare }),
    ...(edit === true && { edit }),
  };
}

const isVersion = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0;
