/** Numbers, durations, sizes and times as people read them. Unknown values are a dash. */

export const unknown = "–";
const joined = "\u00a0"; // Between a number and its unit: no line ends there.

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** At most `digits` significant digits: 0.6123, 12 500, 1.2e-7. */
export function number(value, digits = 4) {
  if (!isNumber(value)) return value === null || value === undefined ? unknown : String(value);
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e9)) return trimmed(value.toExponential(digits - 1).split("e")[0]) + `e${Math.floor(Math.log10(size))}`;
  if (Number.isInteger(value) || size >= 10 ** digits) return grouped(Math.round(value));
  return trimmed(value.toPrecision(digits));
}

function grouped(whole) {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** 82 ms, 0.61 s, 41 s, 13 min 32 s, 2 h 5 min, 3 d 4 h. */
export function duration(seconds) {
  if (!isNumber(seconds)) return unknown;
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds === 0) return `0${joined}s`;
  if (seconds < 0.1) return `${number(seconds * 1000, 2)}${joined}ms`;
  if (seconds < 10) return `${number(seconds, 2)}${joined}s`;
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole}${joined}s`;
  if (whole < 7200) return pair(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  if (minutes < 2880) return pair(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return pair(Math.floor(hours / 24), "d", hours % 24, "h");
}

function pair(large, of, small, and) {
  return [large, of, ...(small ? [small, and] : [])].join(joined);
}

export function bytes(count) {
  if (!isNumber(count)) return unknown;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  let value = count;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${number(value, 3)}${joined}${units[at]}`;
}

export function percent(share) {
  return isNumber(share) ? `${number(share * 100, share < 0.1 ? 2 : 3)}${joined}%` : unknown;
}

/** The time of day, with the date where that is another day than `now_s`. */
export function clock(unix_s, now_s = Date.now() / 1000) {
  if (!isNumber(unix_s)) return unknown;
  const [at, now] = [new Date(unix_s * 1000), new Date(now_s * 1000)];
  const two = (value) => String(value).padStart(2, "0");
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return at.toDateString() === now.toDateString() ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

export function counted(count, one, several = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : several}`;
}

/** 1st, 2nd, 3rd, 4th, 11th, 21st. */
export const ordinal = (count) => `${count}${(count % 100 - count % 10 !== 10 && ["", "st", "nd", "rd"][count % 10]) || "th"}`;

const units_of_words = /(\d) (?=(?:ms|s|min|h|d|%|B|kB|MB|GB|TB|seconds|minutes|hours)(?![\w/]))/g;

/** The driver's words, as a sentence begins. */
export function sentence(words) {
  return words.charAt(0).toUpperCase() + words.slice(1).replace(units_of_words, `$1${joined}`);
}

/** The best trial, its value, and what of its configuration was searched. */
export function bestWords({ best, metric }) {
  return [best.trial, `${metric} ${number(best.value)}`, ...Object.entries(best.searched ?? {}).map(([name, of]) => `${name} ${value(of)}`)].join(", ");
}

/** Any value of a configuration or a metric, in one line. */
export function value(of) {
  if (typeof of === "number") return number(of);
  if (of === null || of === undefined) return unknown;
  return typeof of === "object" ? JSON.stringify(of) : String(of);
}
