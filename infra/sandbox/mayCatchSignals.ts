import type { AnyNode, Program } from "acorn";
import { declaresSteps, findSignalCalls, isFloating, isNamed, literalValue, methodCall } from "./signalCalls.ts";
import { walkSyntax } from "./walkSyntax.ts";

/** Names of functions that handle a rejection. */
const HANDLER_NAMES = /catch|finally|allSettled|^race$|^any$/;

/** Whether a node is inside the module's steps. A variable `steps` within `run()` does not count. */
function isWithinSteps(ancestors: readonly AnyNode[]): boolean {
  const at = ancestors.findIndex(declaresSteps);
  return at >= 0 && ancestors.slice(1, at).every(({ type }) => /^(ExportNamed|Variable)Declaration$/.test(type));
}

/** Whether a node uses `then` other than in `promise.then(work)`, because any other use may handle a rejection. */
function isSuspiciousThen(node: AnyNode, ancestors: readonly AnyNode[]): boolean {
  if (!isNamed(node, "then") && literalValue(node) !== "then") return false;
  const [member, call] = [ancestors.at(-1), ancestors.at(-2)];
  if (call?.type !== "CallExpression" || call.callee !== member || methodCall(call)?.name !== "then") return true;
  return call.arguments.length > 1 || call.arguments.some(({ type }) => type === "SpreadElement");
}

function textOf(node: AnyNode): unknown {
  if (node.type === "Identifier") return node.name;
  return node.type === "TemplateElement" ? node.value.raw : literalValue(node);
}

function mayCatch(node: AnyNode, ancestors: readonly AnyNode[]): boolean {
  if (node.type === "CatchClause" || (node.type === "TryStatement" && node.finalizer != null)) return true;
  const text = textOf(node);
  return isSuspiciousThen(node, ancestors) || (typeof text === "string" && HANDLER_NAMES.test(text));
}

/** Functions of `Promise` whose result depends on the order of answers, or that also wait for failures. */
const RACE_NAMES = /^(race|any|allSettled)$/;

/** Whether code outside the steps uses one of them: then answers reach `run()` in the order of the log (ADR 58). */
export function mayRaceCalls(program: Program): boolean {
  let found = false;
  walkSyntax(program, (node, ancestors) => {
    const text = textOf(node);
    found ||= typeof text === "string" && RACE_NAMES.test(text) && !isWithinSteps(ancestors);
  });
  return found;
}

/**
 * Whether code outside the steps may catch a signal on its way out of `run()`, or continues without awaiting a call. The result of
 * such a `run()` depends on when it is suspended. Errs on the safe side: using a name that could handle a signal is enough.
 */
export function mayCatchSignals(program: Program): boolean {
  let found = findSignalCalls(program).some(isFloating);
  walkSyntax(program, (node, ancestors) => {
    found ||= !isWithinSteps(ancestors) && mayCatch(node, ancestors);
  });
  return found;
}
