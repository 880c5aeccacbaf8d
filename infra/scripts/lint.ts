import { getLineInfo, type AnyNode, type CallExpression, type Program } from "acorn";
import type { ScriptMeta } from "#events/definition.ts";
import { walk } from "./walk.ts";

export type Lint = NonNullable<ScriptMeta["workflow"]>["lint"][number];

/** Calls of `run()` that suspend it by a signal (spec: Workflow run status, rule 4). */
const SIGNALS = new Set(["runStep", "runStepMany", "awaitApproval", "complete", "sleep", "sleepUntil"]);
const STEPS = new Set(["runStep", "runStepMany"]);
const LOOPS = new Set(["ForStatement", "ForInStatement", "ForOfStatement", "WhileStatement", "DoWhileStatement"]);
const GATHERS = new Set(["allSettled", "race", "any"]);
const MOST = 100;

interface Found {
  code: string;
  message: string;
  node: AnyNode;
}
/** A signal call and where it stands. */
interface Signal {
  name: string;
  call: CallExpression;
  above: AnyNode[];
}

const isNamed = (node: AnyNode | null | undefined, name: string): boolean =>
  node?.type === "Identifier" && node.name === name;

/** `object.name(…)`, not computed. */
function methodOf(call: CallExpression): { object: AnyNode; name: string } | undefined {
  const { callee } = call;
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  return { object: callee.object, name: callee.property.name };
}

/** Names that the calls and the context go by in this module: as they are, as they were imported, as `run` calls its context. */
function namesIn(program: Program): { calls: Map<string, string>; contexts: Set<string> } {
  const calls = new Map([...SIGNALS].map((name) => [name, name]));
  const contexts = new Set(["ctx"]);
  walk(program, (node) => {
    if (node.type === "ImportSpecifier" && node.imported.type === "Identifier" && SIGNALS.has(node.imported.name))
      calls.set(node.local.name, node.imported.name);
    const isRun = node.type === "FunctionDeclaration" && isNamed(node.id, "run");
    const [first] = isRun ? node.params : [];
    if (first?.type === "Identifier") contexts.add(first.name);
  });
  return { calls, contexts };
}

function signalsIn(program: Program): Signal[] {
  const { calls, contexts } = namesIn(program);
  const found: Signal[] = [];
  walk(program, (node, above) => {
    if (node.type !== "CallExpression") return;
    const method = methodOf(node);
    const ofContext = method?.object.type === "Identifier" && contexts.has(method.object.name);
    const name = node.callee.type === "Identifier" ? calls.get(node.callee.name) : ofContext ? method.name : undefined;
    if (name !== undefined && SIGNALS.has(name)) found.push({ name, call: node, above: [...above] });
  });
  return found;
}

/** What takes a signal on its way out of `run()`. */
function caught({ name, call, above }: Signal): Found[] {
  const found = new Map<string, Found>();
  const warn = (code: string, message: string): void => void found.set(code, { code, message, node: call });
  above.forEach((outer, n) => {
    const inner = above[n + 1] ?? call;
    if (outer.type === "TryStatement" && outer.block === inner) {
      if (outer.handler) warn("caught_signal", `catch swallows the signal of ${name}(): catch inside the step.`);
      if (outer.finalizer) warn("finally_at_signal", `finally runs each time that ${name}() suspends run().`);
    }
    if (outer.type !== "CallExpression") return;
    const method = methodOf(outer);
    if (!method) return;
    if (outer.callee === inner) {
      const takesFailure = method.name === "catch" || (method.name === "then" && outer.arguments.length > 1);
      if (takesFailure)
        warn("caught_signal", `.${method.name}() swallows the signal of ${name}(): catch inside the step.`);
      if (method.name === "finally")
        warn("finally_at_signal", `.finally() runs each time that ${name}() suspends run().`);
    } else if (isNamed(method.object, "Promise") && GATHERS.has(method.name))
      warn("caught_signal", `Promise.${method.name}() swallows the signal of ${name}(): use Promise.all().`);
  });
  return [...found.values()];
}

function notAwaited({ name, call, above }: Signal): Found[] {
  const outer = above.at(-1);
  const isVoid = outer?.type === "UnaryExpression" && outer.operator === "void";
  if (outer?.type !== "ExpressionStatement" && !isVoid) return [];
  return [{ code: "not_awaited", message: `${name}() is not awaited: run() goes on without it.`, node: call }];
}

/** What comes out differently each time elsewhere, and is frozen in `run()`. */
function frozenIn(node: AnyNode): string | undefined {
  if (node.type === "NewExpression")
    return isNamed(node.callee, "Date") && node.arguments.length === 0 ? "new Date()" : undefined;
  if (node.type !== "CallExpression") return undefined;
  const method = methodOf(node);
  if (method?.name === "now" && isNamed(method.object, "Date")) return "Date.now()";
  return method?.name === "random" && isNamed(method.object, "Math") ? "Math.random()" : undefined;
}

function frozen({ name, call }: Signal): Found[] {
  if (!STEPS.has(name)) return [];
  const found: Found[] = [];
  for (const argument of call.arguments.slice(1))
    walk(argument, (node) => {
      const what = frozenIn(node);
      const message = `${what} is the same on every tick of a run: it stands for no time or chance of its own.`;
      if (what) found.push({ code: "frozen_value", message, node });
    });
  return found;
}

const literalOf = (node: AnyNode | undefined): unknown => (node?.type === "Literal" ? node.value : undefined);

/** Whether the options of a call, the last of its arguments, name a key (or cannot be read). */
function mayHaveKey(options: AnyNode | undefined): boolean {
  if (!options) return false;
  if (options.type !== "ObjectExpression") return true;
  return options.properties.some((one) => one.type === "SpreadElement" || one.computed || isNamed(one.key, "key"));
}

function equalSleeps(signals: Signal[]): Found[] {
  const seen = new Set<string>();
  return signals.flatMap(({ name, call, above }) => {
    const time = literalOf(call.arguments[0]);
    if ((name !== "sleep" && name !== "sleepUntil") || time === undefined || mayHaveKey(call.arguments[1])) return [];
    const what = `${name}(${JSON.stringify(time)})`;
    const again = seen.has(what) || above.some(({ type }) => LOOPS.has(type));
    seen.add(what);
    const message = `${what} again waits for the time that has passed already: give it a key.`;
    return again ? [{ code: "equal_sleep", message, node: call }] : [];
  });
}

function unknownStep({ name, call }: Signal, steps: readonly string[]): Found[] {
  const step = literalOf(call.arguments[0]);
  if (!STEPS.has(name) || typeof step !== "string" || steps.includes(step)) return [];
  const message = `There is no step ${JSON.stringify(step.slice(0, 100))}.`;
  return [{ code: "unknown_step", message, node: call.arguments[0]! }];
}

const isSteps = (node: AnyNode): boolean => node.type === "VariableDeclarator" && isNamed(node.id, "steps");

function nested({ name, call, above }: Signal): Found[] {
  const message = `${name}() is called by run(), not by a step.`;
  return above.some(isSteps) ? [{ code: "signal_in_step", message, node: call }] : [];
}

/**
 * What a reader of a workflow would warn of; nothing of it refuses the script. `steps`: the names of its steps. Lines and
 * columns count from 1.
 */
export function lint(program: Program, js: string, steps: readonly string[]): Lint[] {
  const signals = signalsIn(program);
  const found = [
    ...signals.flatMap((signal) => {
      const inStep = nested(signal);
      if (inStep.length > 0) return inStep;
      return [...caught(signal), ...notAwaited(signal), ...frozen(signal), ...unknownStep(signal, steps)];
    }),
    ...equalSleeps(signals),
  ];
  return found
    .toSorted((a, b) => a.node.start - b.node.start)
    .slice(0, MOST)
    .map(({ code, message, node }) => {
      const { line, column } = getLineInfo(js, node.start);
      return { code, message, line, column: column + 1 };
    });
}

const TAKES_SIGNALS = /catch|finally|allSettled|^race$|^any$/;

/** The steps of the module; a variable within `run()` may have that name, too. */
const isWithinSteps = (above: readonly AnyNode[]): boolean => {
  const at = above.findIndex(isSteps);
  return at >= 0 && above.slice(1, at).every(({ type }) => /^(ExportNamed|Variable)Declaration$/.test(type));
};

/** A word that stands for `then`, unless it is that of `promise.then(work)`: what else is done with it may take a failure. */
function isOddThen(node: AnyNode, above: readonly AnyNode[]): boolean {
  if (!isNamed(node, "then") && literalOf(node) !== "then") return false;
  const [outer, call] = [above.at(-1), above.at(-2)];
  if (call?.type !== "CallExpression" || call.callee !== outer || methodOf(call)?.name !== "then") return true;
  return call.arguments.length > 1 || call.arguments.some(({ type }) => type === "SpreadElement");
}

/**
 * Whether code outside of the steps may act on a signal on its way out of `run()`, however it got there, or goes on without
 * waiting for what a call comes to: what such a `run()` does depends on when it is suspended. A mere name that could do so counts.
 */
export function mayCatch(program: Program): boolean {
  let found = signalsIn(program).some((signal) => notAwaited(signal).length > 0);
  walk(program, (node, above) => {
    if (found || isWithinSteps(above)) return;
    const name =
      node.type === "Identifier" ? node.name : node.type === "TemplateElement" ? node.value.raw : literalOf(node);
    found =
      node.type === "CatchClause" ||
      (node.type === "TryStatement" && node.finalizer != null) ||
      isOddThen(node, above) ||
      (typeof name === "string" && TAKES_SIGNALS.test(name));
  });
  return found;
}

/** Where each step stands in `export const steps = {…}`: line and column, from 1. */
export function stepPlaces(program: Program, js: string): Record<string, [line: number, column: number]> {
  const places: [string, [number, number]][] = [];
  walk(program, (node, above) => {
    if (node.type !== "Property" || node.computed || !isSteps(above.at(-2) ?? node)) return;
    const { key } = node;
    const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : undefined;
    const { line, column } = getLineInfo(js, key.start);
    if (name !== undefined) places.push([name, [line, column + 1]]);
  });
  return Object.fromEntries(places);
}
