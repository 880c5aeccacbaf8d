import { Validator } from "@seriousme/openapi-schema-validator";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { HttpDeps } from "#http/base/deps.ts";
import { buildServer } from "#http/server.ts";

/* What `/openapi.json` must say of every route, beyond being valid OpenAPI 3.1: clients are generated from it. */

/** The parts of the document that the rules read. */
type ApiDescription = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
};
interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { required?: boolean };
  responses: Record<string, { $ref?: string; content?: unknown }>;
}

/** Bodies that a request may leave out. */
const OPTIONAL_BODIES = new Set([
  "post /api/workflows/approvals/{approval_id}/links",
  "post /api/workflows/hooks/{hook_token}",
  "post /api/workflows/runs/{run_id}/cancel",
  "post /api/workflows/runs/{run_id}/fork",
  "post /api/workflows/{id}/triggers/{trigger_id}/rotate",
]);
const ERROR = "#/components/responses/Error";

/** The description as the service serves it. No request is made, so nothing but the settings has to be there. */
export async function readApiDescription(): Promise<ApiDescription> {
  const settings = { SERVICE_NAME: "svc", BASE_URL: "http://127.0.0.1:8080", TRUST_PROXY: [], BUS_PREFIX: "svc" };
  const listeners = { onHealed() {}, onProjected() {}, onCommitted() {} };
  const requestPlaces = { acquire: async () => {}, release() {} };
  const server = { requestPlaces, logger: pino({ level: "silent" }), registry: new Registry(), lastUses: {} };
  const deps = { settings, ...listeners, ...server };
  const app = await buildServer(deps as unknown as HttpDeps);
  await app.ready();
  const served = JSON.stringify(app.swagger());
  await app.close();
  return JSON.parse(served) as ApiDescription;
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

const resolves = (document: unknown, ref: string): boolean =>
  ref
    .replace(/^#\//, "")
    .split("/")
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document) !== undefined;

/** Every fault of a description, in words. */
export async function findFaults(document: ApiDescription): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  const operations = operationsOf(document);
  const ids = operations.map(([, { operationId }]) => operationId);
  return [
    ...(valid ? [] : [`not valid OpenAPI 3.1: ${JSON.stringify(errors)}`]),
    ...ids.filter((id, n) => ids.indexOf(id) !== n).map((id) => `operationId ${id} stands twice`),
    ...operations.flatMap(([name, one]) => [...operationFaults(name, one)].map((fault) => `${name}: ${fault}`)),
    ...refsIn(document)
      .filter((ref) => !resolves(document, ref))
      .map((ref) => `${ref} is not there`),
  ];
}
