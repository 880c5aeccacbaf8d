import { Validator as SchemaValidator, type Schema } from "@cfworker/json-schema";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describeApi } from "#http/describeApi.ts";
import { BODY_EXAMPLES } from "#http/meta/examples.ts";

/* Rules for `/openapi.json` beyond valid OpenAPI 3.1, because clients are generated from it. */

/** The parts of the document that the rules read. */
type ApiDescription = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: { name: string; in: string }[];
  security?: unknown[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { $ref?: string; content?: Record<string, Answer> }>;
}

interface Answer {
  schema: Schema & { $ref?: string };
  examples?: Record<string, { $ref: string } | { value: unknown }>;
}

/** Bodies that requests may omit. */
const OPTIONAL_BODIES = new Set([
  "post /api/workflows/approvals/{approval_id}/links",
  "post /api/workflows/hooks/{hook_token}",
  "post /api/workflows/runs/{run_id}/cancel",
  "post /api/workflows/runs/{run_id}/fork",
  "post /api/workflows/{id}/triggers/{trigger_id}/rotate",
]);
const ERROR = "#/components/responses/Error";

/** The description as the service serves it. */
export async function readApiDescription(): Promise<ApiDescription> {
  const settings = { SERVICE_NAME: "svc", BASE_URL: "http://127.0.0.1:8080", BUS_PREFIX: "svc" };
  return JSON.parse((await describeApi(settings)).openapi.toString()) as ApiDescription;
}

const operationsOf = ({ paths }: ApiDescription): [name: string, operation: Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, Operation] => [`${method} ${path}`, one]),
  );

function* parameterFaults(name: string, { parameters = [] }: Operation): Generator<string> {
  const inPath = [...name.matchAll(/\{([^}]*)\}/g)].map(([, one = ""]) => one);
  const odd = inPath.find((one) => !/^\w+$/.test(one));
  if (odd !== undefined) yield `the parameter {${odd}} of the path is no word`;
  const described = parameters.filter((one) => one.in === "path").map((one) => one.name);
  for (const one of inPath) if (!described.includes(one)) yield `the parameter ${one} is not described`;
  for (const one of described) if (!inPath.includes(one)) yield `the path has no parameter ${one}`;
}

function* answerFaults({ responses }: Operation): Generator<string> {
  if (responses["default"]?.$ref !== ERROR) yield "the error is not described";
  const statuses = Object.keys(responses);
  if (!statuses.some((status) => status.startsWith("2"))) yield "no answer is described";
  for (const [status, { content }] of Object.entries(responses))
    if (status !== "204" && status !== "default" && content === undefined) yield `the answer ${status} has no content`;
}

/** The examples of an answer; undefined for one that is missing. */
const examplesOf = ({ examples = {} }: Answer, document: ApiDescription): unknown[] =>
  Object.values(examples).map((one) =>
    "value" in one ? one.value : (lookUp(document, one.$ref) as { value?: unknown } | undefined)?.value,
  );

/** Each JSON answer must have a named schema, from which clients name their types, and examples. */
function* namedAnswerFaults({ responses }: Operation, document: ApiDescription): Generator<string> {
  for (const [status, { content }] of Object.entries(responses)) {
    const json = content?.["application/json"];
    if (!json) continue;
    if (json.schema.$ref === undefined) yield `the answer ${status} has no name; give its schema a title`;
    const examples = examplesOf(json, document);
    if (examples.length === 0 || examples.includes(undefined))
      yield `the answer ${status} has no example; test/docs/answers.drill.test.ts and errors.drill.test.ts say how to make it`;
    else for (const one of examples) yield* misfits(`the example of the answer ${status}`, json.schema, one, document);
  }
}

const hasAny = ({ responses }: Operation, ...statuses: string[]): boolean => statuses.some((one) => one in responses);

/** Errors that every route must describe: for a refused credential, a missing thing, and an invalid body. */
function* refusalFaults(name: string, operation: Operation): Generator<string> {
  const missing = (what: string) =>
    `${what} has no example; WRITE_ANSWERS=1 npm run drill -- test/docs/errors makes it`;
  if (operation.security && !hasAny(operation, "401", "404")) yield missing("the refusal of a credential");
  if (name.includes("{") && !hasAny(operation, "400", "404")) yield missing("the answer to an unknown id");
  if (operation.requestBody && !hasAny(operation, "400", "401", "404", "409")) yield missing("the refusal of a body");
}

function* operationFaults(name: string, operation: Operation): Generator<string> {
  const { operationId = "", summary = "", requestBody } = operation;
  if (!/^[a-z]+[A-Z]\w*$/.test(operationId))
    yield `operationId ${JSON.stringify(operationId)} is no name in camel case`;
  if (!/\S/.test(summary)) yield "there is no summary";
  if ((requestBody?.required === false) !== OPTIONAL_BODIES.has(name))
    yield "says of its body that it may be left out, or must not be; compare OPTIONAL_BODIES";
  yield* parameterFaults(name, operation);
  yield* answerFaults(operation);
}

const refsIn = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, child]) =>
        name === "$ref" && typeof child === "string" ? [child] : refsIn(child),
      )
    : [];

const lookUp = (document: unknown, ref: string): unknown =>
  ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);

/** Replaces references by their schemas. */
function inline(value: unknown, document: ApiDescription): unknown {
  if (Array.isArray(value)) return value.map((one) => inline(one, document));
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) return inline(lookUp(document, String(value.$ref)), document);
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, inline(child, document)]));
}

/** The fields that a body's schema names; undefined if it allows any. */
function fieldsOf(schema: Record<string, any>): string[] | undefined {
  const one = (schema["anyOf"] as Record<string, any>[] | undefined)?.find(({ type }) => type === "object") ?? schema;
  return one["properties"] && Object.keys(one["properties"]);
}

function* misfits(what: string, schema: Schema, example: unknown, document: ApiDescription): Generator<string> {
  const whole = inline(schema, document) as Schema | undefined;
  // a broken reference is reported as a fault of its own
  if (!whole) return;
  const { errors } = new SchemaValidator(whole, "2020-12").validate(example);
  for (const { instanceLocation, error } of errors.slice(-1))
    yield `${what} does not fit its schema at ${instanceLocation}: ${error}`;
}

function* exampleFaults({ requestBody }: Operation, document: ApiDescription): Generator<string> {
  const json = requestBody?.content["application/json"];
  if (!json) return;
  const { example } = json;
  if (example === undefined) return yield "the body has no example; add one to BODY_EXAMPLES";
  const schema = inline(json.schema, document) as Record<string, any>;
  yield* misfits("the example of the body", schema, example, document);
  const known = fieldsOf(schema);
  for (const field of Object.keys(example as object))
    if (known && !known.includes(field)) yield `the example of the body has the unknown field ${field}`;
}

/** All faults of a description, as text. */
export async function findFaults(document: ApiDescription): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  const operations = operationsOf(document);
  const ids = operations.map(([, { operationId }]) => operationId);
  return [
    ...(valid ? [] : [`not valid OpenAPI 3.1: ${JSON.stringify(errors)}`]),
    ...ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => `operationId ${id} stands twice`),
    ...operations.flatMap(([name, one]) =>
      [
        ...operationFaults(name, one),
        ...refusalFaults(name, one),
        ...exampleFaults(one, document),
        ...namedAnswerFaults(one, document),
      ].map((fault) => `${name}: ${fault}`),
    ),
    ...Object.keys(BODY_EXAMPLES)
      .filter((name) => !operations.some(([one, { requestBody }]) => one === name && requestBody))
      .map((name) => `BODY_EXAMPLES has an example of ${name}, which takes no body`),
    ...refsIn(document)
      .filter((ref) => lookUp(document, ref) === undefined)
      .map((ref) => `${ref} is not there`),
  ];
}
