import type { AnyNode, CallExpression, Pattern, Program } from "acorn";
import { declaresSteps, isNamed } from "./signalCalls.ts";
import { propertyName } from "./staticValue.ts";
import { walkSyntax } from "./walkSyntax.ts";

/** Whose context it certainly is; undefined for a parameter named ctx of any other function. */
type Owner = "step" | "run" | undefined;

/** A call on a context: `agents.run` for `ctx.agents.run(…)`. */
export interface StepCallSite {
  name: string;
  call: CallExpression;
  owner: Owner;
}

/** Names that a parameter declares, each with its path in the argument. */
function declaredNames(pattern: Pattern | undefined, path: readonly string[] = []): [name: string, path: string[]][] {
  if (pattern?.type === "Identifier") return [[pattern.name, [...path]]];
  if (pattern?.type === "AssignmentPattern") return declaredNames(pattern.left, path);
  if (pattern?.type !== "ObjectPattern") return [];
  return pattern.properties.flatMap((one) => {
    const name = one.type === "Property" ? propertyName(one) : undefined;
    return one.type === "Property" && name !== undefined ? declaredNames(one.value, [...path, name]) : [];
  });
}

/** Whether a function is a step: a field of `steps`, or what `defineStep` gets. */
function isStep(ancestors: readonly AnyNode[]): boolean {
  const parent = ancestors.at(-1);
  if (parent?.type === "CallExpression") return isNamed(parent.callee, "defineStep");
  return parent?.type === "Property" && declaresSteps(ancestors.at(-3) ?? parent);
}

/** Whether a function is `run`, declared or assigned. */
const isRun = (node: AnyNode, parent: AnyNode | undefined): boolean =>
  (node.type === "FunctionDeclaration" && isNamed(node.id, "run")) ||
  (parent?.type === "VariableDeclarator" && isNamed(parent.id, "run"));

function ownerOf(node: AnyNode, at: number, outer: readonly AnyNode[]): Owner {
  if (at === 1 && isStep(outer)) return "step";
  return at === 0 && isRun(node, outer.at(-1)) ? "run" : undefined;
}

/** The path of a name in a context; undefined if it is not from a context. Any parameter named ctx is a context. */
function pathInContext(name: string, ancestors: readonly AnyNode[]): { path: string[]; owner: Owner } | undefined {
  for (let n = ancestors.length - 1; n >= 0; n--) {
    const node = ancestors[n]!;
    const isFunction =
      node.type === "ArrowFunctionExpression" ||
      node.type === "FunctionExpression" ||
      node.type === "FunctionDeclaration";
    if (!isFunction) continue;
    const at = node.params.findIndex((param) => declaredNames(param).some(([declared]) => declared === name));
    if (at < 0) continue;
    const owner = ownerOf(node, at, ancestors.slice(0, n));
    if (!owner && !(name === "ctx" && isNamed(node.params[at], "ctx"))) return undefined;
    const [, path] = declaredNames(node.params[at]).find(([declared]) => declared === name)!;
    return { path, owner };
  }
  return undefined;
}

/** `["ctx", "agents", "run"]` for the callee of `ctx.agents.run(…)`. */
function calleePath(callee: AnyNode): string[] | undefined {
  if (callee.type === "Identifier") return [callee.name];
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") return undefined;
  const path = calleePath(callee.object);
  return path && [...path, callee.property.name];
}

/** All calls of steps and `run()` on their contexts. */
export function findStepCalls(program: Program): StepCallSite[] {
  const found: StepCallSite[] = [];
  walkSyntax(program, (node, ancestors) => {
    if (node.type !== "CallExpression") return;
    const [root, ...path] = calleePath(node.callee) ?? [];
    const before = root === undefined ? undefined : pathInContext(root, ancestors);
    if (before) found.push({ name: [...before.path, ...path].join("."), call: node, owner: before.owner });
  });
  return found;
}
