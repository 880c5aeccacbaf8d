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
/** Promises that may reject although the run does not fail: an agent's turn, and promises of the author's own. */
const REJECTING_NAMES = /^(agent|reject)$/;
const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

const isRun = (node: AnyNode, parent: AnyNode | undefined): boolean =>
  (node.type === "FunctionDeclaration" && isNamed(node.id, "run")) ||
  (parent?.type === "VariableDeclarator" && isNamed(parent.id, "run"));

/** Whether a branch that is handed to `Promise.all` may fail here: a `throw` of `run()` itself is in no branch. */
function mayFailBranch(node: AnyNode, ancestors: readonly AnyNode[]): boolean {
  const text = textOf(node);
  if (typeof text === "string" && REJECTING_NAMES.test(text)) return true;
  if (node.type !== "ThrowStatement") return false;
  const outer = ancestors.findIndex(({ type }) => FUNCTIONS.test(type));
  const isNested = ancestors.slice(outer + 1).some(({ type }) => FUNCTIONS.test(type));
  return outer >= 0 && (isNested || !isRun(ancestors[outer]!, ancestors[outer - 1]));
}

/**
 * Whether code outside the steps uses one of RACE_NAMES, or `all` and branches that may fail while others wait. Then answers reach
 * `run()` in the order of the log (ADR 58).
 */
export function mayRaceCalls(program: Program): boolean {
  let races = false;
  let joins = false;
  let fails = false;
  walkSyntax(program, (node, ancestors) => {
    if (races || isWithinSteps(ancestors)) return;
    const text = textOf(node);
    races = typeof text === "string" && RACE_NAMES.test(text);
    joins ||= text === "all";
    fails ||= mayFailBranch(node, ancestors);
  });
  return races || (joins && fails);
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
