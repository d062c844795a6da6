/** Search parameters of the usage page: days of the form `2026-11-27`. */
export interface UsageSearch {
  since?: string;
  until?: string;
}

const isDay = (value: unknown): value is string =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);

/** Returns the valid parameters. */
export const usageSearch = ({ since, until }: Record<string, unknown>): UsageSearch => ({
  ...(isDay(since) && { since }),
  ...(isDay(until) && { until }),
});
