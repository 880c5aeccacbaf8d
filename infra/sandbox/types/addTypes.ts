import ts from "typescript-5";
import type { TypedScript } from "#http/base/typeChecker.ts";
import { schemaType } from "./schemaType.ts";

/*
 * Before the check, adds types to parameters that the service passes: of `run(ctx, args)`, `execute(args, context)` and the
 * functions of steps. So scripts are checked without annotations.
 */

type Function = ts.FunctionLikeDeclaration;
/** The types of the first parameters; undefined for a parameter that stays unchanged. */
type ParameterTypes = (string | undefined)[];

const RUN_CONTEXT = 'import("svc:workflow").RunContext';
const STEP_CONTEXT = 'import("svc:workflow").StepContext';

/** A text that is inserted into the source at an offset. */
export interface Insertion {
  at: number;
  text: string;
}

const isFunction = (node: ts.Node | undefined): node is Function =>
  node !== undefined &&
  (ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node));

/** The top-level declarations of a module, by name. */
function findDeclared({ statements }: ts.SourceFile, name: string): ts.Node | undefined {
  for (const statement of statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) return statement;
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: declared, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(declared) && declared.text === name) return initializer;
  }
  return undefined;
}

const withoutCasts = (node: ts.Node | undefined): ts.Node | undefined =>
  node && (ts.isSatisfiesExpression(node) || ts.isAsExpression(node) || ts.isParenthesizedExpression(node))
    ? withoutCasts(node.expression)
    : node;

/** The function of a step, which `defineStep(settings, function)` may wrap. */
function stepFunction(property: ts.ObjectLiteralElementLike): Function | undefined {
  if (ts.isMethodDeclaration(property)) return property;
  if (!ts.isPropertyAssignment(property)) return undefined;
  const value = withoutCasts(property.initializer);
  const inner = value && ts.isCallExpression(value) ? withoutCasts(value.arguments[1]) : value;
  return isFunction(inner) ? inner : undefined;
}

function stepsOf(file: ts.SourceFile): [name: string, step: Function][] {
  const steps = withoutCasts(findDeclared(file, "steps"));
  if (!steps || !ts.isObjectLiteralExpression(steps)) return [];
  return steps.properties.flatMap((property): [string, Function][] => {
    const step = stepFunction(property);
    const { name } = property;
    const isNamed = name && (ts.isIdentifier(name) || ts.isStringLiteral(name));
    return step && isNamed ? [[name.text, step]] : [];
  });
}

function insertType(parameter: ts.ParameterDeclaration, type: string, hasTypes: boolean): Insertion | undefined {
  const { name, questionToken, dotDotDotToken, initializer } = parameter;
  if (parameter.type || dotDotDotToken || initializer || ts.getJSDocType(parameter)) return undefined;
  if (hasTypes) return { at: (questionToken ?? name).end, text: `: ${type}` };
  // the name of a property could end the comment
  return { at: name.getStart(), text: `/** @type {${type.includes("*/") ? "any" : type}} */ ` };
}

function insertTypes(node: Function, types: ParameterTypes, hasTypes: boolean): Insertion[] {
  // `args => …` has no place for a type
  if (
    ts.isArrowFunction(node) &&
    !node
      .getText()
      .replace(/^async\s*/, "")
      .startsWith("(")
  )
    return [];
  return types.flatMap((type, n) => {
    const parameter = node.parameters[n];
    return (type && parameter && insertType(parameter, type, hasTypes)) || [];
  });
}

/** The types to insert into a source, in source order. */
export function findInsertions(file: ts.SourceFile, script: TypedScript): Insertion[] {
  const { type, has_types, step_inputs } = script;
  const [entry, entryTypes] =
    type === "tool" ? ["execute", ["Svc.Args", "Svc.ToolContext"]] : ["run", [RUN_CONTEXT, "Svc.Args"]];
  const typed: [Function, ParameterTypes][] = stepsOf(file).map(([name, step]) => [
    step,
    [Object.hasOwn(step_inputs, name) ? schemaType(step_inputs[name]) : "any", STEP_CONTEXT],
  ]);
  const main = withoutCasts(findDeclared(file, entry));
  if (isFunction(main)) typed.push([main, entryTypes]);
  return typed.flatMap(([node, types]) => insertTypes(node, types, has_types)).toSorted((a, b) => a.at - b.at);
}

/** The source with all insertions, which are in source order. */
export function insertAll(source: string, insertions: Insertion[]): string {
  let written = "";
  let at = 0;
  for (const insertion of insertions) {
    written += source.slice(at, insertion.at) + insertion.text;
    ({ at } = insertion);
  }
  return written + source.slice(at);
}

/** Converts an offset in the output of `insertAll` to one in the source. */
export function toSourceOffset(offset: number, insertions: Insertion[]): number {
  let shift = 0;
  for (const { at, text } of insertions) {
    if (at + shift >= offset) break;
    shift += Math.min(text.length, offset - at - shift);
  }
  return offset - shift;
}
