import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { mapInSlices } from "#events/slices.ts";
import { downloadHeaders } from "../base/downloadHeaders.ts";
import { reserveAnswerBytes } from "../base/sendFile.ts";

/** Maximum groups per file. Larger organizations choose a shorter period. */
export const MAX_CSV_ROWS = 100_000;

/** Spreadsheets execute a cell that starts like this as a formula, and end users choose their own names. */
const FORMULA = /^[=+\-@\t\r]/;

type Cell = string | number | null | undefined;

function toCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const toLine = (cells: Cell[]): string => `${cells.map(toCell).join(",")}\r\n`;

/** The last line of a file that lacks groups, so that nobody takes it for the whole. */
const cutLine = (columns: string[], listed: number, total: number): string =>
  toLine(columns.map((_, n) => (n === 0 ? `${listed} of ${total} groups: choose a shorter period` : null)));

/**
 * Writes CSV (RFC 4180) with a header line. `total`: all groups; if there are more than rows, a last line says so. Lets other
 * work run between lines.
 */
export async function toCsv(columns: string[], rows: Record<string, Cell>[], total: number): Promise<string> {
  const lines = await mapInSlices(rows, (row) => toLine(columns.map((column) => row[column])));
  const end = rows.length < total ? cutLine(columns, rows.length, total) : "";
  return toLine(columns) + lines.join("") + end;
}

/** Sends a CSV, whose bytes count until the client has read them. Throws 429 `too_many_bytes`, and Unavailable. */
export function sendCsv(request: FastifyRequest, reply: FastifyReply, csv: string): FastifyReply {
  reserveAnswerBytes(request, reply, Buffer.byteLength(csv));
  return reply
    .headers(downloadHeaders({ mime_type: "text/csv; charset=utf-8", filename: "usage.csv" }))
    .send(Readable.from([csv]));
}
