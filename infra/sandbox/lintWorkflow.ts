import { getLineInfo, type AnyNode, type Program } from "acorn";
import type { ScriptMeta } from "#events/definition.ts";
import {
  declaresSteps,
  findSignalCalls,
  isFloating,
  isNamed,
  literalValue,
  methodCall,
  type SignalCall,
} from "./signalCalls.ts";
import { nodeAt, readValue } from "./staticValue.ts";
import { walkSyntax } from "./walkSyntax.ts";
import { parseDuration } from "./workflows/callOptions.ts";

export type LintWarning = NonNullable<ScriptMeta["workflow"]>["lint"][number];

interface Finding {
  code: string;
  message: string;
  node: AnyNode;
}

const STEP_FUNCTIONS = new Set(["runStep", "runStepMany"]);
const LOOPS = new Set(["ForStatement", "ForInStatement", "ForOfStatement", "WhileStatement", "DoWhileStatement"]);
const MAX_WARNINGS = 100;

/** Code around a call that catches its signal. Each code is reported once per call. */
function caughtSignal({ name, call, ancestors }: SignalCall): Finding[] {
  const found = new Map<string, Finding>();
  const warn = (code: string, message: string): void => void found.set(code, { code, message, node: call });
  ancestors.forEach((outer, n) => {
    const inner = ancestors[n + 1] ?? call;
    if (outer.type === "TryStatement" && outer.block === inner) {
      if (outer.handler) warn("caught_signal", `catch swallows the signal of ${name}(): catch inside the step.`);
      if (outer.finalizer) warn("finally_at_signal", `finally runs each time that ${name}() suspends run().`);
    }
    if (outer.type !== "CallExpression") return;
    const method = methodCall(outer);
    if (!method) return;
    if (outer.callee === inner) {
      const handlesRejection = method.name === "catch" || (method.name === "then" && outer.arguments.length > 1);
      if (handlesRejection)
        warn("caught_signal", `.${method.name}() swallows the signal of ${name}(): catch inside the step.`);
      if (method.name === "finally")
        warn("finally_at_signal", `.finally() runs each time that ${name}() suspends run().`);
    }
  });
  return [...found.values()];
}

function notAwaited(signal: SignalCall): Finding[] {
  if (!isFloating(signal)) return [];
  const message = `${signal.name}() is not awaited: run() continues without its result.`;
  return [{ code: "not_awaited", message, node: signal.call }];
}

/** An expression that elsewhere gives a new value each time, but in `run()` the same one on every tick. */
function frozenExpression(node: AnyNode): string | undefined {
  if (node.type === "NewExpression")
    return isNamed(node.callee, "Date") && node.arguments.length === 0 ? "new Date()" : undefined;
  if (node.type !== "CallExpression") return undefined;
  const method = methodCall(node);
  if (method?.name === "now" && isNamed(method.object, "Date")) return "Date.now()";
  return method?.name === "random" && isNamed(method.object, "Math") ? "Math.random()" : undefined;
}

function frozenValues({ name, call }: SignalCall): Finding[] {
  if (!STEP_FUNCTIONS.has(name)) return [];
  const found: Finding[] = [];
  for (const argument of call.arguments.slice(1))
    walkSyntax(argument, (node) => {
      const expression = frozenExpression(node);
      const message = `${expression} is the same on every tick of a run. Use now(label) or uuid(label), or call it in the step.`;
      if (expression) found.push({ code: "frozen_value", message, node });
    });
  return found;
}

/** Whether the options of a call contain a key, or may do so at run time. */
function mayHaveKey(options: AnyNode | undefined): boolean {
  if (!options) return false;
  if (options.type !== "ObjectExpression") return true;
  return options.properties.some((one) => one.type === "SpreadElement" || one.computed || isNamed(one.key, "key"));
}

function equalSleeps(signals: SignalCall[]): Finding[] {
  const seen = new Set<string>();
  return signals.flatMap(({ name, call, ancestors }) => {
    const time = literalValue(call.arguments[0]);
    if ((name !== "sleep" && name !== "sleepUntil") || time === undefined || mayHaveKey(call.arguments[1])) return [];
    const text = `${name}(${JSON.stringify(time)})`;
    const isRepeated = seen.has(text) || ancestors.some(({ type }) => LOOPS.has(type));
    seen.add(text);
    const message = `${text} is called again and returns at once: the same sleep has ended already. Give it a key.`;
    return isRepeated ? [{ code: "equal_sleep", message, node: call }] : [];
  });
}

function unknownStep({ name, call }: SignalCall, steps: readonly string[]): Finding[] {
  const step = literalValue(call.arguments[0]);
  if (!STEP_FUNCTIONS.has(name) || typeof step !== "string" || steps.includes(step)) return [];
  const message = `There is no step ${JSON.stringify(step.slice(0, 100))}.`;
  return [{ code: "unknown_step", message, node: call.arguments[0]! }];
}

/** Milliseconds of a literal duration. */
function literalDuration(node: AnyNode): number | undefined {
  try {
    return parseDuration("", readValue(node));
  } catch {
    return undefined;
  }
}

/** Reminders and escalations at a time when the approval has expired. */
function lateTimes({ name, call }: SignalCall): Finding[] {
  const options = call.arguments[1];
  if (name !== "awaitApproval" || options?.type !== "ObjectExpression") return [];
  const expiry = literalDuration(nodeAt(options, ["expires_in"]));
  return [["remind_after"], ["escalate", "after"]].flatMap((path) => {
    const node = nodeAt(options, path);
    const ms = literalDuration(node);
    if (ms === undefined || expiry === undefined || ms < expiry) return [];
    const message = `${path.join(".")} must be less than expires_in: the approval has expired by then.`;
    return [{ code: "late_time", message, node }];
  });
}

function signalInStep({ name, call, ancestors }: SignalCall): Finding[] {
  const message = `${name}() is called by run(), not by a step.`;
  return ancestors.some(declaresSteps) ? [{ code: "signal_in_step", message, node: call }] : [];
}

/** Likely mistakes of a workflow; none of them prevents saving. `steps`: the names of its steps. Lines and columns count from 1. */
export function lintWorkflow(program: Program, js: string, steps: readonly string[]): LintWarning[] {
  const signals = findSignalCalls(program);
  const found = [
    ...signals.flatMap((signal) => {
      const inStep = signalInStep(signal);
      if (inStep.length > 0) return inStep;
      const ofArguments = [...frozenValues(signal), ...unknownStep(signal, steps), ...lateTimes(signal)];
      return [...caughtSignal(signal), ...notAwaited(signal), ...ofArguments];
    }),
    ...equalSleeps(signals),
  ];
  return found
    .toSorted((a, b) => a.node.start - b.node.start)
    .slice(0, MAX_WARNINGS)
    .map(({ code, message, node }) => {
      const { line, column } = getLineInfo(js, node.start);
      return { code, message, line, column: column + 1 };
    });
}
