import type { AnyNode, CallExpression, Program } from "acorn";
import { walkSyntax } from "./walkSyntax.ts";

/** Functions that suspend `run()` with a signal (spec: Workflow run status, rule 4). */
const SIGNAL_FUNCTIONS = new Set([
  "runStep",
  "runStepMany",
  "awaitApproval",
  "startRun",
  "waitForRun",
  "waitForEvent",
  "agent",
  "complete",
  "continueAs",
  "sleep",
  "sleepUntil",
]);

/** A call of a signal function, with its ancestors in the syntax tree, the nearest last. */
export interface SignalCall {
  name: string;
  call: CallExpression;
  ancestors: AnyNode[];
}

export const isNamed = (node: AnyNode | null | undefined, name: string): boolean =>
  node?.type === "Identifier" && node.name === name;

export const literalValue = (node: AnyNode | undefined): unknown => (node?.type === "Literal" ? node.value : undefined);

/** Object and name of a call like `object.name(…)`; undefined for every other call. */
export function methodCall(call: CallExpression): { object: AnyNode; name: string } | undefined {
  const { callee } = call;
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  return { object: callee.object, name: callee.property.name };
}

/** Local names of the signal functions, which a module may rename when importing, and of the context of `run`. */
function localNames(program: Program): { functions: Map<string, string>; contexts: Set<string> } {
  // authors have their own functions named agent, so that one only counts if imported
  const globals = [...SIGNAL_FUNCTIONS].filter((name) => name !== "agent");
  const functions = new Map(globals.map((name) => [name, name]));
  const contexts = new Set(["ctx"]);
  walkSyntax(program, (node) => {
    if (
      node.type === "ImportSpecifier" &&
      node.imported.type === "Identifier" &&
      SIGNAL_FUNCTIONS.has(node.imported.name)
    )
      functions.set(node.local.name, node.imported.name);
    const isRun = node.type === "FunctionDeclaration" && isNamed(node.id, "run");
    const [first] = isRun ? node.params : [];
    if (first?.type === "Identifier") contexts.add(first.name);
  });
  return { functions, contexts };
}

/** The calls of `ctx` methods and imported functions that suspend `run()`, in source order. */
export function findSignalCalls(program: Program): SignalCall[] {
  const { functions, contexts } = localNames(program);
  const found: SignalCall[] = [];
  walkSyntax(program, (node, ancestors) => {
    if (node.type !== "CallExpression") return;
    const method = methodCall(node);
    const isOfContext = method?.object.type === "Identifier" && contexts.has(method.object.name);
    const name =
      node.callee.type === "Identifier" ? functions.get(node.callee.name) : isOfContext ? method.name : undefined;
    if (name !== undefined && SIGNAL_FUNCTIONS.has(name)) found.push({ name, call: node, ancestors: [...ancestors] });
  });
  return found;
}

/** Whether nothing waits for the result of the call. */
export function isFloating({ ancestors }: SignalCall): boolean {
  const parent = ancestors.at(-1);
  return parent?.type === "ExpressionStatement" || (parent?.type === "UnaryExpression" && parent.operator === "void");
}

/** Whether a node is the declaration of a variable `steps`. */
export const declaresSteps = (node: AnyNode): boolean =>
  node.type === "VariableDeclarator" && isNamed(node.id, "steps");
