/* Finds numbers in a text so that they can be compared across formats: grouped, scaled, in other digits. */

/** Dates, and digits with separators. A plain space only separates groups of three digits. */
export const NUMBER =
  /(?<!\p{Nd})\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2}(?!\p{Nd})|(?<![\p{Nd}.,])\p{Nd}{1,3}(?: \p{Nd}{3})+(?!\p{Nd})(?:[.,]\p{Nd}+)?|\p{Nd}+(?:[.,'’\u066b\u066c\u00a0\u2009\u202f]\p{Nd}+)*/gu;
const DATE = /^(?:\d{1,2}\.\d{1,2}\.\d{4}|\d{4}-\d{2}-\d{2})$/;
const SIGNED = /(?:^|[\s(|])[-\u2212]$/;
const ALWAYS_DECIMAL = "\u066b";
const DECIMALS = new Set([".", ",", ALWAYS_DECIMAL]);

/** Words after a number, by the power of ten they add. */
const SCALES: Record<number, string> = {
  3: "thousand thousands tausend k K mil",
  6: "million millions millionen mio mn milliones millones milioni M",
  9: "billion billions bn milliard milliards milliarden mrd miliardi B",
  12: "trillion trillions billionen",
};
/** East Asian scale characters, which follow the digits without a space. */
const ATTACHED_SCALES: Record<string, number> = { 千: 3, 万: 4, 萬: 4, 亿: 8, 億: 8, 만: 4, 억: 8 };
/** Units that must match. Others, such as `m`, are ambiguous. */
const UNITS = [
  "% ٪ ％ percent prozent procent",
  "$ usd dollar dollars",
  "€ eur euro euros",
  "£ gbp",
  "₹ inr rupees",
  "chf",
  "second seconds sec sekunde sekunden secondes segundos",
  "minute minutes min minuten minutos",
  "hour hours hrs stunde stunden heures horas",
  "day days tag tage tagen jours días giorni",
  "week weeks woche wochen semaine semaines semana semanas",
  "month months monat monate monaten mois meses mesi",
  "year years jahr jahre jahren ans années años anni",
  "ms milliseconds",
  "mm millimeters millimetres",
  "cm centimeters centimetres",
  "km kilometers kilometres kilometer",
  "miles mile",
  "mg milligrams",
  "kg kilograms kilogramm",
  "ml milliliters millilitres",
  "kb kib",
  "mb mib",
  "gb gib",
  "tb tib",
  "kw",
  "kwh",
];

const SCALE_BY_WORD = new Map(
  Object.entries(SCALES).flatMap(([power, words]) => words.split(" ").map((word) => [word, Number(power)] as const)),
);
const UNIT_BY_WORD = new Map(UNITS.flatMap((words, unit) => words.split(" ").map((word) => [word, unit] as const)));

/** A number as written in a text. */
export interface FoundNumber {
  text: string;
  /** Without grouping and trailing zeros: `1,234.50` becomes `1234.5`. */
  value: string;
  /** The power of ten that a word adds: 6 for `5 million`. */
  scale: number;
  /** Index of its unit in UNITS; undefined: none. */
  unit: number | undefined;
  isNegative: boolean;
  /** Whether it stands alone in brackets, like negative amounts in accounts. */
  isInBrackets: boolean;
  /** Whether it is a date of digits, such as `12.05.2024`. */
  isDate: boolean;
  /** The parts of a date; or, for a number grouped by spaces, the separate numbers it could be. */
  parts: string[];
}

/** The value of a digit in any script, whose ten digits are consecutive code points. */
const digitValue = (digit: string): string => {
  const code = digit.codePointAt(0)!;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
};

const withoutZeros = (whole: string): string => whole.replace(/^0+(?=\d)/, "");

const decimal = (whole: string, fraction: string): string => {
  const kept = fraction.replace(/0+$/, "");
  return withoutZeros(whole) + (kept === "" ? "" : `.${kept}`);
};

/** `1,234` counts as grouped, `0.125` and `2024.125` do not. */
const isGrouped = (parts: readonly string[]): boolean =>
  parts[0] !== "0" &&
  parts[0]!.length <= 3 &&
  parts.at(-1)!.length === 3 &&
  parts.slice(1).every(({ length }) => length === 2 || length === 3);

/** A number without grouping and trailing zeros. Other things, such as versions, keep their parts. */
function canonical(number: string): string {
  const parts = number.split(/[^\d]/);
  const separators = (number.match(/[^\d]/g) ?? []).map((one) => (/\s/.test(one) ? " " : one));
  const last = separators.at(-1);
  if (last === undefined) return withoutZeros(number);
  const isDecimal = DECIMALS.has(last) && separators.indexOf(last) === separators.length - 1;
  const isOneKind = separators.every((one) => one === last);
  if (isOneKind && last !== ALWAYS_DECIMAL && isGrouped(parts)) return withoutZeros(parts.join(""));
  if (isDecimal && (separators.length === 1 || isGrouped(parts.slice(0, -1))))
    return decimal(parts.slice(0, -1).join(""), parts.at(-1)!);
  return parts.join(".");
}

/** Multiplies a canonical number by a power of ten. */
function timesTen(value: string, power: number): string {
  if (power === 0 || !/^\d+(?:\.\d+)?$/.test(value)) return value;
  const [whole = "", fraction = ""] = value.split(".");
  const digits = power > 0 ? whole + fraction.padEnd(power, "0") : whole.padStart(1 - power, "0") + fraction;
  const point = power > 0 ? whole.length + power : Math.max(whole.length, 1 - power) + power;
  return decimal(digits.slice(0, point), digits.slice(point));
}

/** The scale and unit that follow a number. */
function readSuffix(after: string): { scale: number; unit: number | undefined } {
  const attached = ATTACHED_SCALES[after[0] ?? ""];
  const [whole = "", word = ""] = /^[-\s\u00a0\u202f]?(\p{Script=Latin}+)\.?/u.exec(after) ?? [];
  // single letters are scales only directly after the digits: `$5M`
  const isScale = word.length > 1 || whole.startsWith(word);
  const scale = attached ?? (isScale ? (SCALE_BY_WORD.get(word) ?? SCALE_BY_WORD.get(word.toLowerCase())) : undefined);
  const rest = scale === undefined ? after : after.slice(attached === undefined ? whole.length : 1);
  const [, unit = ""] = /^[-\s\u00a0\u202f]?(\p{Script=Latin}+|[%٪％$€£₹])/u.exec(rest) ?? [];
  return { scale: scale ?? 0, unit: UNIT_BY_WORD.get(unit.toLowerCase()) };
}

/** The unit before a number: `$5`, `EUR 5`. */
const readPrefix = (before: string): number | undefined =>
  UNIT_BY_WORD.get(
    (/([$€£₹]|(?<!\p{L})(?:USD|EUR|GBP|CHF|INR))[\s\u00a0\u202f]?$/u.exec(before)?.[1] ?? "").toLowerCase(),
  );

/** UTF-16 units around a number that are examined. */
const AROUND = 30;

const toFound = (text: string, written: string, start: number): FoundNumber => {
  const end = start + written.length;
  const before = text.slice(Math.max(0, start - AROUND), start);
  const after = text.slice(end, end + AROUND);
  const digits = written.replace(/\p{Nd}/gu, digitValue);
  const isNegative = SIGNED.test(before);
  const isDate = DATE.test(digits);
  const { scale, unit = readPrefix(before.replace(/[-\u2212]$/, "")) } = readSuffix(after);
  return {
    text: isNegative ? `-${written}` : written,
    value: canonical(digits),
    scale,
    unit,
    isNegative,
    isInBrackets: before.endsWith("(") && after.startsWith(")"),
    isDate,
    parts: isDate || written.includes(" ") ? digits.split(/[ .-]/).map(canonical) : [],
  };
};

export const findNumbers = (text: string): FoundNumber[] =>
  [...text.matchAll(NUMBER)].map(({ 0: written, index }) => toFound(text, written, index));

/** The numbers of a passage. */
export interface NumberIndex {
  has(number: FoundNumber): boolean;
}

/** `in millions`, `(Mio. €)`, `EUR million`. */
const HEADER = /(?<=(?<!\p{L})(?:in|en|em|USD|EUR|GBP|CHF)\s{1,3}|[($€£|]\s{0,3})\p{Script=Latin}{2,}/giu;

/** Scales that a text declares for all its numbers: a table of amounts says `in millions` once. */
const namedScales = (text: string): Set<number> =>
  new Set([...text.matchAll(HEADER)].flatMap(([word]) => SCALE_BY_WORD.get(word.toLowerCase()) ?? []));

/** A key that is equal for a date with its parts in any order. */
const dateKey = ({ parts }: FoundNumber): string => parts.toSorted().join(" ");

/** Whether two numbers match. Units matter only if both are known; a negative number needs a negative one. */
const agree = (claimed: FoundNumber, found: FoundNumber): boolean =>
  (claimed.unit === undefined || found.unit === undefined || claimed.unit === found.unit) &&
  (!claimed.isNegative || found.isNegative || found.isInBrackets);

/** Finds the numbers of a passage, so that a claimed number is looked up by its value, in any notation. */
export function indexNumbers(text: string): NumberIndex {
  const found = findNumbers(text);
  const byValue = Map.groupBy(found, ({ value, scale }) => timesTen(value, scale));
  const dates = new Set(found.filter(({ isDate }) => isDate).map(dateKey));
  const spaced = new Set(found.flatMap(({ isDate, parts }) => (isDate ? [] : parts)));
  const scales = found.length > 0 ? namedScales(text) : new Set<number>();
  const hasValue = (value: string, claimed: FoundNumber): boolean =>
    byValue.get(value)?.some((one) => agree(claimed, one)) ?? false;
  /** Whether the passage has the number without a scale, below a header that scales it. */
  const hasBare = (value: string, claimed: FoundNumber): boolean =>
    byValue.get(value)?.some((one) => one.scale === 0 && agree(claimed, one)) ?? false;
  return {
    has(claimed) {
      const { value, scale, isDate, parts } = claimed;
      const whole = timesTen(value, scale);
      if (hasValue(whole, claimed) || spaced.has(whole) || (isDate && dates.has(dateKey(claimed)))) return true;
      if ([...scales].some((named) => hasBare(timesTen(whole, -named), claimed))) return true;
      return parts.length > 0 && parts.every((part) => byValue.has(part) || spaced.has(part));
    },
  };
}
