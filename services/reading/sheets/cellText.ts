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

const numberText = ({ v, w, z }: CellObject, date1904: boolean): string => {
  const value = Number(v);
  const format = typeof z === "string" ? z : "General";
  // LibreOffice stores truth values as numbers that are displayed as words
  if (format === "General") return w && !/\d/.test(w) ? w : plainNumber(value);
  if (SSF.is_date(format) && showsDay(format) && value >= 1)
    return isoDate(value, format, date1904) ?? plainNumber(value);
  return w?.trim() || plainNumber(value);
};

/** The displayed text of a cell, with dates in ISO format; "" for an empty cell. */
export const cellText = (cell: CellObject, date1904: boolean): string => {
  if (cell.t === "n") return numberText(cell, date1904);
  if (cell.t === "z") return "";
  if (cell.t === "b") return cell.v ? "TRUE" : "FALSE";
  return (cell.t === "e" ? cell.w : String(cell.v ?? ""))?.trim() ?? "";
};
