import type { AnyNode, CallExpression, Pattern, Program } from "acorn";
import { declaresSteps, isNamed } from "./signalCalls.ts";
import { propertyName } from "./staticValue.ts";
import { walkSyntax } from "./walkSyntax.ts";

/** A call of the context of a step: `agents.run` for `ctx.agents.run(…)`. */
export interface StepCallSite {
  name: string;
  call: CallExpression;
}

/** Names that a parameter declares, with their path in what is passed. */
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

/** The path of a name in the context of a step; undefined when it is something else. A parameter called ctx is a context. */
function pathInContext(name: string, ancestors: readonly AnyNode[]): string[] | undefined {
  for (let n = ancestors.length - 1; n >= 0; n--) {
    const node = ancestors[n]!;
    const isFunction =
      node.type === "ArrowFunctionExpression" ||
      node.type === "FunctionExpression" ||
      node.type === "FunctionDeclaration";
    if (!isFunction) continue;
    const at = node.params.findIndex((param) => declaredNames(param).some(([declared]) => declared === name));
    if (at < 0) continue;
    const isContext =
      (at === 1 && isStep(ancestors.slice(0, n))) || (name === "ctx" && isNamed(node.params[at], "ctx"));
    return isContext ? declaredNames(node.params[at]).find(([declared]) => declared === name)![1] : undefined;
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

/** Calls that steps make of their context. */
export function findStepCalls(program: Program): StepCallSite[] {
  const found: StepCallSite[] = [];
  walkSyntax(program, (node, ancestors) => {
    if (node.type !== "CallExpression") return;
    const [root, ...path] = calleePath(node.callee) ?? [];
    const before = root === undefined ? undefined : pathInContext(root, ancestors);
    if (before) found.push({ name: [...before, ...path].join("."), call: node });
  });
  return found;
}
