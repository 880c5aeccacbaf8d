import { stripTypeScriptTypes } from "node:module";
import { parse, type Program } from "acorn";
import { ScriptFailed } from "#services/scripting/runner.ts";

type Place = [line: number, column: number];

/** Line and column, from 1, of a place in a text. */
function placeOf(source: string, at: number): Place {
  const before = source.slice(0, at).split("\n");
  return [before.length, before.at(-1)!.length + 1];
}

/** The place is told by the lines above the message only: its number, lines of the source, and marks below where it is in one line. */
function placeIn(stack: string, source: string): Place | [] {
  const [, number, shown] = /^:(\d+)\n([^]*?)\n\n/.exec(stack) ?? [];
  if (number === undefined) return [];
  const line = Number(number);
  const marks = /^( *)\^+$/m.exec(shown!)?.[1];
  return [line, 1 + (marks?.length ?? source.split("\n")[line - 1]?.search(/\S|$/) ?? 0)];
}

/** The source without its types; every line keeps its place. */
function stripped(source: string): string {
  try {
    return stripTypeScriptTypes(source, { mode: "strip" });
  } catch (error) {
    const { message, code = "", stack = "" } = error as Error & { code?: string };
    // anything else is the compiler's own end: what nests too deep leaves its memory broken
    if (!code.endsWith("_TYPESCRIPT_SYNTAX")) throw error;
    throw new ScriptFailed(message.split("\n")[0]!, ...placeIn(stack, source));
  }
}

function parsed(js: string): Program {
  try {
    return parse(js, { ecmaVersion: "latest", sourceType: "module" });
  } catch (error) {
    const { message, pos } = error as Error & { pos?: number };
    throw new ScriptFailed(message.replace(/ \(\d+:\d+\)$/, ""), ...placeOf(js, pos ?? 0));
  }
}

/** Where a module exports something by this name. */
function exportOf({ body }: Program, name: string): number | undefined {
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

/** A TypeScript or JavaScript module as it will run, and where its `meta` stands. Throws ScriptFailed; after anything else this thread compiles no more. */
export function compile(source: string): { js: string; meta_at: Place | null; program: Program } {
  const js = stripped(source);
  const program = parsed(js);
  const at = exportOf(program, "meta");
  return { js, meta_at: at === undefined ? null : placeOf(js, at), program };
}
