import { stripTypeScriptTypes } from "node:module";
import { parse, type Program } from "acorn";
import { ScriptError } from "#services/scripting/runner.ts";

/** Both count from 1. */
type Position = [line: number, column: number];

function positionAt(source: string, offset: number): Position {
  const before = source.slice(0, offset).split("\n");
  return [before.length, before.at(-1)!.length + 1];
}

/**
 * Reads the position of a syntax error from its stack. Only the lines above the message contain it: the line number, the source
 * lines, and, for a position within one line, marks below it.
 */
function positionInStack(stack: string, source: string): Position | [] {
  const [, number, excerpt] = /^:(\d+)\n([^]*?)\n\n/.exec(stack) ?? [];
  if (number === undefined) return [];
  const line = Number(number);
  const marks = /^( *)\^+$/m.exec(excerpt!)?.[1];
  return [line, 1 + (marks?.length ?? source.split("\n")[line - 1]?.search(/\S|$/) ?? 0)];
}

/** The source without its types; every line keeps its position. */
function stripTypes(source: string): string {
  try {
    return stripTypeScriptTypes(source, { mode: "strip" });
  } catch (error) {
    const { message, code = "", stack = "" } = error as Error & { code?: string };
    // any other error is a crash of the compiler, whose memory deep nesting corrupts
    if (!code.endsWith("_TYPESCRIPT_SYNTAX")) throw error;
    throw new ScriptError(message.split("\n")[0]!, ...positionInStack(stack, source));
  }
}

function parseModule(js: string): Program {
  try {
    return parse(js, { ecmaVersion: "latest", sourceType: "module" });
  } catch (error) {
    const { message, pos } = error as Error & { pos?: number };
    throw new ScriptError(message.replace(/ \(\d+:\d+\)$/, ""), ...positionAt(js, pos ?? 0));
  }
}

/** Offset at which a module exports this name. */
function exportOffset({ body }: Program, name: string): number | undefined {
  for (const node of body) {
    if (node.type !== "ExportNamedDeclaration") continue;
    const { declaration, specifiers } = node;
    const declared = declaration?.type === "VariableDeclaration" ? declaration.declarations.map(({ id }) => id) : [];
    const named = [...declared, ...specifiers.map(({ exported }) => exported)];
    const found = named.find((each) => each.type === "Identifier" && each.name === name);
    if (found) return found.start;
  }
  return undefined;
}

/** Names and offsets of the fields of a top-level object literal. */
function fieldOffsets({ body }: Program, variable: string): [name: string, offset: number][] {
  const declarations = body.flatMap((node) => {
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    return declared?.type === "VariableDeclaration" ? declared.declarations : [];
  });
  const object = declarations.find(({ id }) => id.type === "Identifier" && id.name === variable)?.init;
  if (object?.type !== "ObjectExpression") return [];
  return object.properties.flatMap((one): [string, number][] => {
    if (one.type !== "Property" || one.computed) return [];
    const { key } = one;
    const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : undefined;
    return name === undefined ? [] : [[name, key.start]];
  });
}

/**
 * Compiles a TypeScript or JavaScript module, and locates its export `meta`. Throws ScriptError. After any other error, this thread
 * must not compile again.
 */
export function compile(source: string): {
  js: string;
  meta_at: Position | null;
  meta_fields: Record<string, Position>;
  program: Program;
} {
  const js = stripTypes(source);
  const program = parseModule(js);
  const offset = exportOffset(program, "meta");
  const fields = fieldOffsets(program, "meta").map(([name, at]) => [name, positionAt(js, at)]);
  return {
    js,
    meta_at: offset === undefined ? null : positionAt(js, offset),
    meta_fields: Object.fromEntries(fields),
    program,
  };
}
