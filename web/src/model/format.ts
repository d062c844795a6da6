/** Formats numbers, amounts and times for display. */

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat("en");
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** Formats a time relative to `now`: `3m ago`, or `just now` below one minute. */
export function ago(iso: string, now: number): string {
  const past = Date.parse(iso) - now;
  for (const [unit, size] of STEPS) {
    if (Math.abs(past) >= size) return relative.format(Math.round(past / size), unit);
  }
  return "just now";
}

/** Formats milliseconds as `42 s`, `3 min 05 s` or `1 h 02 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
}

/** Returns how long a loop ran or has been running. `undefined` before its start. */
export function loopDuration(
  loop: { startedAt?: string | null; completedAt?: string | null },
  now: number,
): string | undefined {
  if (!loop.startedAt) return undefined;
  const end = loop.completedAt ? Date.parse(loop.completedAt) : now;
  return duration(end - Date.parse(loop.startedAt));
}

export const count = (n: number): string => (n < 10_000 ? plain.format(n) : compact.format(n));
export const exact = (n: number): string => plain.format(n);
export const moment = (iso: string): string => dateTime.format(new Date(iso));

export function money(usd: number): string {
  return usd > 0 && usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

/** Size of a file, for example `12.3 kB`. */
export function fileSize(bytes: number): string {
  const format = (value: number, unit: string) =>
    new Intl.NumberFormat("en", { style: "unit", unit, maximumSignificantDigits: 3 }).format(value);
  if (bytes < 1_000) return format(bytes, "byte");
  return bytes < 1_000_000
    ? format(bytes / 1_000, "kilobyte")
    : format(bytes / 1_000_000, "megabyte");
}
