import { getLineInfo, type AnyNode, type ObjectExpression, type Program } from "acorn";
import {
  APPROVAL_OPTIONS,
  InvalidOption,
  parseApprovalOptions,
  parseDuration,
  parseTime,
} from "./workflows/callOptions.ts";
import { checkNextArgs, parseMatch, parseOnParentEnd, parseThreadId, parseVars } from "./workflows/linkCalls.ts";
import { findSignalCalls, type SignalCall } from "./signalCalls.ts";
import { isUncertain, propertyName, readValue } from "./staticValue.ts";
import { findStepFaults, type Fault } from "./wrongStepCalls.ts";

/** A call that can never work as written. Line and column count from 1. */
export interface WrongOption {
  message: string;
  line: number;
  column: number;
}

type Check = (value: unknown) => string | undefined;

const oneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value as string) ? undefined : `must be ${values.map((one) => JSON.stringify(one)).join(" or ")}`;
const isKey: Check = (value) =>
  typeof value === "string" || typeof value === "number" ? undefined : "must be a string or a number";
const isConcurrency: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 50
    ? undefined
    : "must be a whole number from 1 to 50";
/** Checks a value as the call does at run time, but shortens the message. */
const asParsed =
  (parse: (value: unknown) => unknown, before: RegExp): Check =>
  (value) => {
    try {
      parse(value);
      return undefined;
    } catch (error) {
      if (!(error instanceof InvalidOption)) throw error;
      return error.message.replace(before, "").replace(/\.$/, "");
    }
  };
const asTime = (parse: (what: string, value: unknown) => unknown): Check =>
  asParsed((value) => parse("", value), /^: /);
/** Each option is checked alone. An escalation needs assignees, which the call may have. */
const BESIDE: Record<string, object> = { escalate: { assignees: [{ role: "owner" }] } };
const asApproval = (option: string): Check =>
  asParsed(
    (value) => parseApprovalOptions("a", { ...BESIDE[option], [option]: value }),
    new RegExp(`^awaitApproval: (${option}:? )?`),
  );

const ON_ERROR = oneOf("fail", "return");
const APPROVAL_CHECKS: Record<string, Check> = {
  ...Object.fromEntries(APPROVAL_OPTIONS.map((name) => [name, asApproval(name)])),
  key: isKey,
};

/** By function: the index of its options argument, and their checks. */
const OPTIONS: Record<string, { at: number; checks: Record<string, Check> }> = {
  runStep: { at: 2, checks: { key: isKey, onError: ON_ERROR } },
  runStepMany: { at: 2, checks: { key: isKey, onError: ON_ERROR, concurrency: isConcurrency } },
  awaitApproval: { at: 1, checks: APPROVAL_CHECKS },
  startRun: { at: 2, checks: { key: isKey, on_parent_end: asParsed(parseOnParentEnd, /^startRun: on_parent_end /) } },
  waitForRun: { at: 1, checks: { key: isKey, timeout: asTime(parseDuration) } },
  waitForEvent: {
    at: 1,
    checks: { key: isKey, timeout: asTime(parseDuration), match: asParsed(parseMatch, /^waitForEvent: match /) },
  },
  agent: {
    at: 2,
    checks: {
      key: isKey,
      onError: ON_ERROR,
      vars: asParsed(parseVars, /^agent: vars /),
      thread_id: asParsed(parseThreadId, /^agent: thread_id /),
    },
  },
  sleep: { at: 1, checks: { key: isKey } },
  sleepUntil: { at: 1, checks: { key: isKey } },
};
/** Checks of the first argument. */
const FIRST: Record<string, Check> = {
  sleep: asTime(parseDuration),
  sleepUntil: asTime(parseTime),
  continueAs: asParsed((value) => checkNextArgs(JSON.stringify(value)), /^continueAs: /),
};

/** The problem of a literal value. Computed values are checked at run time, and null counts as absent. */
function checkWritten(node: AnyNode, check: Check): string | undefined {
  const value = readValue(node);
  return value === null || isUncertain(value) ? undefined : check(value);
}

function optionFaults(name: string, options: ObjectExpression, checks: Record<string, Check>): Fault[] {
  return options.properties.flatMap((property): Fault[] => {
    const option = property.type === "Property" ? propertyName(property) : undefined;
    if (property.type !== "Property" || option === undefined) return [];
    const check = Object.hasOwn(checks, option) ? checks[option]! : undefined;
    if (!check) {
      const known = Object.keys(checks).join(", ");
      return [{ message: `${name}: ${option.slice(0, 100)} is not an option; there are ${known}.`, node: property }];
    }
    const wrong = checkWritten(property.value, check);
    return wrong === undefined ? [] : [{ message: `${name}: ${option}: ${wrong}.`, node: property.value }];
  });
}

function faultsOf({ name, call }: SignalCall): Fault[] {
  const found: Fault[] = [];
  const [first] = call.arguments;
  const wrong = first && FIRST[name] && checkWritten(first, FIRST[name]);
  if (wrong !== undefined) found.push({ message: `${name}: ${wrong}.`, node: first! });
  const known = OPTIONS[name];
  const options = known && call.arguments[known.at];
  if (options?.type === "ObjectExpression") found.push(...optionFaults(name, options, known!.checks));
  return found;
}

/** Unknown options in calls of `run()` and of steps, and literals that they never accept. */
export function findWrongOptions(program: Program, js: string): WrongOption[] {
  return [...findSignalCalls(program).flatMap(faultsOf), ...findStepFaults(program)]
    .toSorted((a, b) => a.node.start - b.node.start)
    .map(({ message, node }) => {
      const { line, column } = getLineInfo(js, node.start);
      return { message, line, column: column + 1 };
    });
}
