import type { AnyNode, CallExpression, Program } from "acorn";
import type { z } from "zod";
import { SECRET_NAME } from "#events/secret.ts";
import { FETCH_METHODS, STEP_INPUTS, type PlatformCall } from "#services/workflows/stepInputs.ts";
import { isUncertainAt, keyAt, nodeAt, propertyName, readValue, UNKNOWN } from "./staticValue.ts";
import { findStepCalls, type StepCallSite } from "./stepCallSites.ts";

/** A part of a call that can never work as written. */
export interface Fault {
  message: string;
  node: AnyNode;
}

/** By function of a step's context. */
const INPUTS: Record<string, PlatformCall> = {
  chat: "chat",
  "agents.run": "agent",
  "knowledge.search": "search",
  "knowledge.read": "read",
  "knowledge.push": "push",
  "knowledge.remove": "remove",
  "files.save": "save_file",
  "files.read": "read_file",
};
/** The members of contexts (examples/workflow.d.ts). */
const FUNCTIONS = {
  step: [
    "agents.run",
    "chat",
    "fetch",
    "files.read",
    "files.save",
    "knowledge.push",
    "knowledge.read",
    "knowledge.remove",
    "knowledge.search",
    "log",
    "secrets.get",
    "tools.call",
  ],
  run: [
    "agent",
    "awaitApproval",
    "complete",
    "continueAs",
    "log",
    "now",
    "runStep",
    "runStepMany",
    "sleep",
    "sleepUntil",
    "startRun",
    "uuid",
    "waitForEvent",
    "waitForRun",
  ],
};
const VALUES = ["runId", "stepId", "attempt", "idempotencyKey", "runAs", "NonRetryableError", "args", "headers"];
const OBJECTS = new Set(FUNCTIONS.step.flatMap((name) => (name.includes(".") ? name.split(".")[0]! : [])));
/** A function of the other context has its own warning. */
const MEMBERS = new Set([...FUNCTIONS.step, ...FUNCTIONS.run, ...VALUES, ...OBJECTS]);

const FETCH_OPTIONS = ["method", "headers", "body"];
/** Maximum characters of a name in a message. */
const MAX_SHOWN = 100;

const listed = (names: readonly string[]): string => names.join(", ");
const fieldPath = (path: readonly PropertyKey[]): string =>
  path.map((part, n) => (typeof part === "number" ? `[${part}]` : `${n > 0 ? "." : ""}${String(part)}`)).join("");

/** Fields that the input does not have. */
function unknownFields(name: string, issues: readonly z.core.$ZodIssue[], known: string[], input: AnyNode): Fault[] {
  return issues.flatMap((issue) =>
    issue.code !== "unrecognized_keys"
      ? []
      : issue.keys.map((key) => {
          const field = fieldPath([...issue.path, key.slice(0, MAX_SHOWN)]);
          const there = issue.path.length === 0 ? `; there are ${listed(known)}` : "";
          return { message: `${name}: ${field} is not an option${there}.`, node: keyAt(input, [...issue.path, key]) };
        }),
  );
}

/** What the platform would refuse of an input's literals. A misspelt field explains a missing one. */
function inputFaults(name: string, what: PlatformCall, input: AnyNode): Fault[] {
  const value = readValue(input);
  const issues = STEP_INPUTS[what].safeParse(value).error?.issues ?? [];
  const unknown = unknownFields(name, issues, Object.keys(STEP_INPUTS[what].shape), input);
  if (unknown.length > 0) return unknown;
  return issues
    .filter(({ path }) => !isUncertainAt(value, path))
    .map(({ path, message }) => {
      const field = path.length > 0 ? `${fieldPath(path)}: ` : "";
      return { message: `${name}: ${field}${message}.`, node: nodeAt(input, path) };
    });
}

function toolFaults({ arguments: [tool, args] }: CallExpression): Fault[] {
  const place = (path: readonly PropertyKey[]): AnyNode => (path[0] === "args" ? args! : tool!);
  const value = { name: tool && readValue(tool), args: args && readValue(args) };
  if (!tool) return [];
  return (STEP_INPUTS.tool.safeParse(value).error?.issues ?? [])
    .filter(({ path }) => !isUncertainAt(value, path))
    .map(({ path, message }) => ({ message: `tools.call: ${fieldPath(path)}: ${message}.`, node: place(path) }));
}

function addressFaults(node: AnyNode): Fault[] {
  const value = readValue(node);
  const url = typeof value === "string" ? URL.parse(value) : undefined;
  const isAddress = value === UNKNOWN || (url && /^https?:$/.test(url.protocol));
  return isAddress ? [] : [{ message: "fetch: the address must be an http or https address.", node }];
}

function fetchFaults({ arguments: [address, init] }: CallExpression): Fault[] {
  const found = address ? addressFaults(address) : [];
  if (init?.type !== "ObjectExpression") return found;
  for (const property of init.properties) {
    const option = property.type === "Property" ? propertyName(property) : undefined;
    if (property.type !== "Property" || option === undefined) continue;
    const { value } = property;
    const method = option === "method" ? readValue(value) : UNKNOWN;
    if (!FETCH_OPTIONS.includes(option))
      found.push({
        message: `fetch: ${option.slice(0, MAX_SHOWN)} is not an option; there are ${listed(FETCH_OPTIONS)}.`,
        node: property,
      });
    else if (method !== UNKNOWN && !FETCH_METHODS.some((known) => known === method))
      found.push({ message: `fetch: method: must be one of ${listed(FETCH_METHODS)}.`, node: value });
    else if (option === "body" && (value.type === "ObjectExpression" || value.type === "ArrayExpression"))
      found.push({ message: "fetch: body: must be a string; JSON.stringify makes one.", node: value });
  }
  return found;
}

function secretFaults({ arguments: [node] }: CallExpression): Fault[] {
  const value = node ? readValue(node) : UNKNOWN;
  const isName = value === UNKNOWN || (typeof value === "string" && SECRET_NAME.test(value));
  return isName ? [] : [{ message: "secrets.get: is not the name of a secret.", node: node! }];
}

/** A function that no context has. Values such as `runId` have methods of their own. */
function unknownFunction({ name, call, owner }: StepCallSite): Fault[] {
  const [first = "", second] = name.split(".");
  const called = second !== undefined && OBJECTS.has(first) ? `${first}.${second}` : first;
  if (!owner || MEMBERS.has(called)) return [];
  const message = `ctx.${called.slice(0, MAX_SHOWN)} does not exist; there are ${listed(FUNCTIONS[owner])}.`;
  return [{ message, node: call }];
}

function faultsOf({ name, call }: StepCallSite): Fault[] {
  if (name === "fetch") return fetchFaults(call);
  if (name === "secrets.get") return secretFaults(call);
  if (name === "tools.call") return toolFaults(call);
  const what = Object.hasOwn(INPUTS, name) ? INPUTS[name]! : undefined;
  const [input] = call.arguments;
  return what && input ? inputFaults(name, what, input) : [];
}

/** Unknown functions and options of contexts, and literals that they never accept. */
export const findStepFaults = (program: Program): Fault[] =>
  findStepCalls(program).flatMap((site) => [...unknownFunction(site), ...faultsOf(site)]);
