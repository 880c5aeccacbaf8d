import { STATUS_CODES } from "node:http";
import { readAnswerExample } from "./answerExamples.ts";
import { anyOtherError, describeErrors, errorExamples } from "./describeErrors.ts";
import { BODY_EXAMPLES } from "./examples.ts";

/* Completes the generated API description with what route schemas do not express. */

type Json = Record<string, any>;

const ERROR = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["message", "type", "code"],
      properties: {
        message: { type: "string" },
        type: { type: "string" },
        param: { type: ["string", "null"], description: "The field that is wrong." },
        code: { type: ["string", "null"], description: "Null where there is none, as for 500 and 502." },
      },
    },
  },
};

/** Answers that are streams of Server-Sent Events, always or on request. */
const STREAMS: Record<string, string> = {
  "post /api/openai/v1/chat/completions":
    "With `stream: true`: `chat.completion.chunk` objects, then `data: [DONE]`. A failure is an `error` object and no `[DONE]`.",
  "post /api/agents/{agent_id}/v1/responses":
    "With `stream: true`: events whose `event:` line equals their `type`, numbered by `sequence_number` from 0; the last is `response.completed` or `response.failed`.",
  "get /api/agents/{agent_id}/v1/responses/{id}":
    "With `stream=true`: the events of the response from its start, or after `starting_after`.",
  "get /api/events": "With `Accept: text/event-stream`: each event as it happens; its `id` is the cursor.",
  "get /api/changes": "With `Accept: text/event-stream`: each change as it happens; its `id` is the cursor.",
  "get /api/workflows/runs/{run_id}/events":
    "The events of the run; the `id` of each is the version of the run's stream.",
};
const BYTES = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
/** Other answers that are not JSON. File contents are sent with the file's own media type. */
const CONTENTS: Record<string, Json> = {
  "get /api/openai/v1/files/{id}/content": BYTES,
  "get /api/v1/knowledge/documents/{id}/content": BYTES,
  "get /api/workflows/approvals/{approval_id}/attachments/{file_id}": BYTES,
  "get /api/workflows/approval-links/{link_id}/attachments/{file_id}": BYTES,
  "get /api/workflows/runs/{run_id}/files/{file_id}/content": BYTES,
  "get /api/exports": { "application/x-ndjson": { schema: { type: "string" } } },
  "post /api/exports": { "application/x-ndjson": { schema: { type: "string" } } },
  "get /api/erasures/{id}/certificate": { "application/x-ndjson": { schema: { type: "string" } } },
  "get /api/usage": { "text/csv": { schema: { type: "string" } } },
  "get /api/v1/knowledge/documents/{id}/text": { "text/markdown": { schema: { type: "string" } } },
};
/** Marks an operation whose body is optional; `describeApi` sets it. */
export const OPTIONAL_BODY = "x-optional-body";
const THREADED = /^\/api\/(openai\/v1\/chat\/completions|agents\/\{agent_id\}\/v1\/)/;

const header = (description: string) => ({ description, schema: { type: "string" } });
const REQUEST_ID = { "x-request-id": header("The id of the request, as logs have it.") };
const THREAD_ID = { "x-thread-id": header("The stored thread. Send it on a request to continue the thread.") };

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A unique, stable id from method and path: `getKnowledgeDocumentsById` for GET /api/v1/knowledge/documents/{id}. */
export function operationId(method: string, path: string): string {
  const words = path
    .split("/")
    .filter((segment) => segment !== "" && segment !== "api" && segment !== "v1")
    .map((segment) => (segment.startsWith("{") ? `by_${segment.slice(1, -1)}` : segment));
  return (
    method +
    words
      .flatMap((word) => word.split(/[^a-zA-Z0-9]+/))
      .map(capitalized)
      .join("")
  );
}

/** The content types of an answer besides the JSON in the route's schema. */
function moreContent(name: string): Json {
  const stream = STREAMS[name];
  const events = { "text/event-stream": { schema: { type: "string", description: stream } } };
  return stream === undefined ? (CONTENTS[name] ?? {}) : events;
}

function completeResponses(path: string, method: string, responses: Json): Json {
  const headers = { ...REQUEST_ID, ...(THREADED.test(path) && THREAD_ID) };
  const more = moreContent(`${method} ${path}`);
  const completed = Object.entries<Json>(responses).map(([status, response]) => {
    const content = { ...response["content"], ...(status === "200" && more) };
    const description = response["description"] === "Default Response" ? STATUS_CODES[status] : response["description"];
    const hasContent = Object.keys(content).length > 0;
    return [
      status,
      { ...response, description, ...(hasContent && { content }), headers: { ...response["headers"], ...headers } },
    ];
  });
  return Object.fromEntries(completed);
}

/** Adds an example if the body is JSON. */
function completeBody(name: string, { content, ...body }: Json, isOptional: boolean): Json {
  const json = content["application/json"];
  const withExample = json && { "application/json": { ...json, example: BODY_EXAMPLES[name] } };
  return { ...body, content: { ...content, ...withExample }, ...(isOptional && { required: false }) };
}

function completeOperation(path: string, method: string, { [OPTIONAL_BODY]: isOptional, ...operation }: Json): Json {
  const parameters = (operation["parameters"] ?? []).map((one: Json) =>
    one["name"] === "*" ? { ...one, name: "id" } : one,
  );
  return {
    operationId: operationId(method, path),
    ...operation,
    ...(parameters.length > 0 && { parameters }),
    ...(operation["requestBody"] && {
      requestBody: completeBody(`${method} ${path}`, operation["requestBody"], isOptional === true),
    }),
    responses: completeResponses(path, method, operation["responses"] ?? {}),
  };
}

const lastPart = (ref: string): string => ref.split("/").at(-1)!;

/** The name of a schema: its title, or the title of a list's items. */
function schemaName({ title, type, anyOf, properties }: Json): string | undefined {
  const hasTitle = typeof title === "string" && (typeof type === "string" || Array.isArray(anyOf));
  if (hasTitle) return title;
  const item = type === "object" ? properties?.data?.items?.$ref : undefined;
  return item && `${lastPart(item)}List`;
}

/** Moves named schemas to the components. A schema that differs between requests and answers gets two names. */
function createHoist(schemas: Record<string, Json>) {
  const place = (title: string, schema: Json): string => {
    const name = [title, `${title}Input`].find(
      (one) => !schemas[one] || JSON.stringify(schemas[one]) === JSON.stringify(schema),
    );
    if (name === undefined) throw new Error(`the API description has more than two schemas called ${title}`);
    schemas[name] = schema;
    return name;
  };
  return function hoist(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(hoist);
    if (typeof value !== "object" || value === null) return value;
    const copy: Json = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, hoist(child)]));
    const name = schemaName(copy);
    if (name === undefined) return copy;
    const { title: _, description, ...schema } = copy;
    const ref = { $ref: `#/components/schemas/${place(name, schema)}` };
    return description === undefined ? ref : { ...ref, description };
  };
}

/** Adds the example of each answer's schema by reference to the components. */
function addAnswerExamples(responses: Json, examples: Json): void {
  for (const { content } of Object.values<Json>(responses)) {
    const json = content?.["application/json"];
    const name = json?.schema.$ref && lastPart(json.schema.$ref);
    const value = name && readAnswerExample(name);
    if (value === undefined) continue;
    examples[name] = { value };
    json.examples = { answer: { $ref: `#/components/examples/${name}` } };
  }
}

/** Completes the description: operation ids, errors, headers, streams and named schemas. */
export function completeDescription(document: Json): Json {
  const schemas: Record<string, Json> = { Error: ERROR };
  const examples: Json = {};
  const hoist = createHoist(schemas);
  const paths = Object.entries<Json>(document["paths"]).map(([generated, operations]) => {
    const path = generated.replace("{*}", "{id}");
    const completed = Object.entries<Json>(operations).map(([method, operation]) => {
      const hoisted = hoist(completeOperation(path, method, operation)) as Json;
      addAnswerExamples(hoisted["responses"], examples);
      const responses = { ...hoisted["responses"], ...describeErrors(`${method} ${path}`, REQUEST_ID) };
      return [method, { ...hoisted, responses }];
    });
    return [path, Object.fromEntries(completed)];
  });
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: {
      ...document["components"],
      schemas,
      responses: { Error: anyOtherError(REQUEST_ID) },
      examples: { ...examples, ...errorExamples() },
    },
  };
}
