// Sizes, counts and durations in the units people use.

const KILO = 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** `87 B`, `10.2 kB`, `3.4 MB`: as pg_size_pretty names them, with one decimal below 100. */
export function formatSize(bytes: number): string {
  if (bytes < KILO) return `${bytes} B`;
  if (bytes < KILO * KILO) return `${shortDecimal(bytes / KILO)} kB`;
  if (bytes < KILO * KILO * KILO) return `${shortDecimal(bytes / KILO / KILO)} MB`;
  return `${shortDecimal(bytes / KILO / KILO / KILO)} GB`;
}

/** `1 change`, `12,345 changes`. */
export function formatCounted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${formatCount(count)} ${noun}s`;
}

/** `12 ms`, `3.4 s`, `5 min`, `7 h`, `12 days`, `3 years`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${shortDecimal(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  if (ms < 2 * YEAR) return `${Math.floor(ms / DAY)} days`;
  return `${Math.floor(ms / YEAR)} years`;
}

/** `12,345` */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function shortDecimal(n: number): string {
  return n < 99.95 ? n.toFixed(1) : String(Math.round(n));
}
