import { STATUS_CODES } from "node:http";
import { createTidy } from "../answers/tidy.ts";

/* Refusals of a running service, each once for an operation. */

export interface Refused {
  /** `method path` of the API description. */
  operation: string;
  status: number;
  body: any;
}

/** By operation, by status, by code: bodies. `none` stands for no code. */
export type ErrorExamples = Record<string, Record<string, Record<string, object>>>;

/** `POST /api/agents/{id}` as the description names it. */
export const operationOf = (route: string): string => {
  const [method = "", path = ""] = route.split(" ");
  return `${method.toLowerCase()} ${path}`;
};

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** The first refusal of each kind, without what differs between two runs. */
export function toExamples(refusals: Refused[]): ErrorExamples {
  const found: ErrorExamples = {};
  for (const { operation, status, body } of refusals) {
    const code = body.error.code ?? "none";
    const ofStatus = ((found[operation] ??= {})[status] ??= {});
    ofStatus[code] ??= createTidy()(body) as object;
  }
  return sorted(
    Object.fromEntries(
      Object.entries(found).map(([operation, statuses]) => [
        operation,
        sorted(Object.fromEntries(Object.entries(statuses).map(([status, codes]) => [status, sorted(codes)]))),
      ]),
    ),
  );
}

/** Whether a body is the error object of the API. */
export const isRefusal = (status: number, body: any): boolean =>
  status >= 400 && status in STATUS_CODES && typeof body?.error?.message === "string";
