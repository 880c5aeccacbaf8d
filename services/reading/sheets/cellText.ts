import { SSF, type CellObject } from "@e965/xlsx";

const two = (number: number): string => String(number).padStart(2, "0");

/** Whether a format shows a date, not only a time or a duration. */
const showsDay = (format: string): boolean => /d/i.test(format.replace(/\[[^\]]*\]|"[^"]*"|\\./g, ""));

/** 2026-03-02, with the time of day if the format shows it; undefined after the year 9999, as of a number that is no date. */
const isoDate = (serial: number, format: string, date1904: boolean): string | undefined => {
  const date = SSF.parse_date_code(serial, { date1904 });
  if (!date) return undefined;
  const { y, m, d, H, M, S } = date;
  const day = `${y}-${two(m)}-${two(d)}`;
  if (!/h/i.test(format)) return day;
  return `${day} ${two(H)}:${two(M)}${/s/i.test(format) ? `:${two(Math.floor(S))}` : ""}`;
};

/** All digits of a number without a format; its displayed text has only eleven. */
const plainNumber = (value: number): string =>
  String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(15)));

/**
 * Whether the displayed text says more than the number: a unit, a currency, a percentage, a time, or words, as LibreOffice shows truth
 * values, which it stores as numbers.
 */
const saysMore = (shown: string): boolean =>
  shown !== "" && (!/\d/.test(shown) || /[%‰:\p{L}\p{Sc}]/u.test(shown.replace(/\dE[+-]?\d/i, "")));

/** How the library displays the built-in dates of East Asian versions of Excel, without their format. */
const BUILT_IN_DATE = /^\d{1,2}\/\d{1,2}\/\d\d$/;

/**
 * The format of a cell. For LibreOffice cells that have the style of their column, the library does not know it, and takes a date
 * with a time for a day.
 */
const formatOf = (format: unknown, shown: string): string => {
  if (typeof format !== "string") return BUILT_IN_DATE.test(shown) ? "m/d/yy" : "General";
  const time = format === "m/d/yy" ? /\d:\d\d(:\d\d)?/.exec(shown) : null;
  return time ? `${format} h:mm${time[1] ? ":ss" : ""}` : format;
};

const numberText = ({ v, w, z }: CellObject, date1904: boolean): string => {
  const value = Number(v);
  const shown = w?.trim() ?? "";
  const format = formatOf(z, shown);
  if (format === "General") return saysMore(shown) ? shown : plainNumber(value);
  if (SSF.is_date(format) && showsDay(format) && value >= 1)
    return isoDate(value, format, date1904) ?? plainNumber(value);
  return shown || plainNumber(value);
};

/** The displayed text of a cell, with dates in ISO format; "" for an empty cell. */
export const cellText = (cell: CellObject, date1904: boolean): string => {
  if (cell.t === "n") return numberText(cell, date1904);
  if (cell.t === "z") return "";
  if (cell.t === "b") return cell.v ? "TRUE" : "FALSE";
  return (cell.t === "e" ? cell.w : String(cell.v ?? ""))?.trim() ?? "";
};
