import { STATUS_CODES } from "node:http";
import { errorBody, internalError, type ApiError } from "../base/errors.ts";
import { readErrorExamples } from "./errorExamples.ts";

/* The errors of each operation, each with the answer of a running service. */

type Json = Record<string, any>;
const SCHEMA = { $ref: "#/components/schemas/Error" };
/** The example of an error without a code is called so. */
const NO_CODE = "none";

/** "invalid_session", "404": what an example is called within its answer. */
const nameOf = (status: string, code: string): string => (code === NO_CODE ? `status_${status}` : code);

/** Bodies that several operations answer are components, named for their code; the others stand where they belong. */
function shareExamples() {
  const counts = new Map<string, number>();
  const texts = Object.values(readErrorExamples()).flatMap((statuses) =>
    Object.values(statuses).flatMap((codes) => Object.values(codes).map((body) => JSON.stringify(body))),
  );
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const examples: Json = {};
  const names = new Map<string, string>();
  return {
    examples,
    place(name: string, body: object): Json {
      const text = JSON.stringify(body);
      if ((counts.get(text) ?? 0) < 2) return { value: body };
      let shared = names.get(text);
      for (let n = 1; shared === undefined; n++) {
        const free = n === 1 ? `error_${name}` : `error_${name}_${n}`;
        if (!(free in examples)) shared = free;
      }
      names.set(text, shared);
      examples[shared] = { value: body };
      return { $ref: `#/components/examples/${shared}` };
    },
  };
}

/** What an error of the service itself looks like. */
const exampleOf = (error: ApiError) => ({ value: errorBody(error) });

/** For the API description. `headers`: those of every answer. */
export function describeErrors(headers: Json) {
  const { examples, place } = shareExamples();
  return {
    /** Examples that several operations share. */
    examples,
    /** The answer that no operation lists. */
    anyOther: {
      description:
        "Any other answer: [every code and what to do about it](/docs/reference/errors). 408, 429, 500 and 503 may answer every request.",
      headers,
      content: { "application/json": { schema: SCHEMA, examples: { status_500: exampleOf(internalError(undefined)) } } },
    },
    /** By status: the answers of an operation other than success. */
    responsesOf(operation: string): Json {
      const statuses = Object.entries(readErrorExamples()[operation] ?? {}).map(([status, codes]) => {
        const named = Object.entries(codes).map(([code, body]) => {
          const name = nameOf(status, code);
          return [name, place(name, body)];
        });
        const content = { "application/json": { schema: SCHEMA, examples: Object.fromEntries(named) } };
        return [status, { description: STATUS_CODES[status], headers, content }];
      });
      return { ...Object.fromEntries(statuses), default: { $ref: "#/components/responses/Error" } };
    },
  };
}
