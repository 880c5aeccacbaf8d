import { STATUS_CODES } from "node:http";
import type { ErrorExamples } from "#http/meta/errorExamples.ts";
import { createTidy } from "../answers/tidy.ts";

/* Refusals of a running service, each once for an operation. */

export interface Refusal {
  /** `method path` of the API description. */
  operation: string;
  status: number;
  body: any;
}

/** `POST /api/agents/{id}` as the description names it. */
export const operationOf = (route: string): string => {
  const [method = "", path = ""] = route.split(" ");
  return `${method.toLowerCase()} ${path}`;
};

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Names for bodies: `error_forbidden`, and `error_forbidden_2` for another one with this code. */
function createNames() {
  const examples: Record<string, object> = {};
  const names = new Map<string, string>();
  const nameOf = (label: string, body: object): string => {
    const text = JSON.stringify(body);
    const known = names.get(text);
    if (known !== undefined) return known;
    let name = `error_${label}`;
    for (let n = 2; name in examples; n++) name = `error_${label}_${n}`;
    names.set(text, name);
    examples[name] = body;
    return name;
  };
  return { examples, nameOf };
}

/** The first refusal of each kind, without what differs between two runs. Equal ones are kept once. */
export function toExamples(refusals: Refusal[]): ErrorExamples {
  const found: Record<string, Record<string, Record<string, object>>> = {};
  for (const { operation, status, body } of refusals) {
    // an error without a code is named by its status
    const code = body.error.code ?? `status_${status}`;
    const ofStatus = ((found[operation] ??= {})[status] ??= {});
    ofStatus[code] ??= createTidy()(body) as object;
  }
  const { examples, nameOf } = createNames();
  const operations = Object.entries(sorted(found)).map(([operation, statuses]) => {
    const named = Object.entries(sorted(statuses)).map(([status, codes]) => [
      status,
      Object.entries(sorted(codes)).map(([code, body]) => nameOf(code, body)),
    ]);
    return [operation, Object.fromEntries(named)];
  });
  return { examples: sorted(examples), operations: Object.fromEntries(operations) };
}

/** Whether a body is the error object of the API. */
export const isRefusal = (status: number, body: any): boolean =>
  status >= 400 && status in STATUS_CODES && typeof body?.error?.message === "string";
