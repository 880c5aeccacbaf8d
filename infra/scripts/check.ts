import { stripTypeScriptTypes } from "node:module";
import { parse } from "acorn";
import { ScriptMeta } from "#events/definition.ts";
import { InvalidScript, type CheckedScript, type ScriptChecker } from "#http/scripts.ts";
import { ScriptFailed, type ScriptRunner } from "#services/scripting/runner.ts";
import { z } from "zod";

/** `meta` as a script exports it; what is left out has an empty value. */
const Exported = ScriptMeta.partial().extend({
  type: z.enum(["tool", "workflow"]).optional(),
  name: z.string().optional(),
  description: z.string().max(4_000).optional(),
});

const EMPTY = { type: "object", properties: {} };

/** Line and column, from 1, of a place in a text. */
function placeOf(source: string, at: number): [line: number, column: number] {
  const before = source.slice(0, at).split("\n");
  return [before.length, before.at(-1)!.length + 1];
}

/** The source without its types; every line keeps its place. */
function stripped(source: string): string {
  try {
    return stripTypeScriptTypes(source, { mode: "strip" });
  } catch (error) {
    const { message, stack = "" } = error as Error;
    // the place is told by the lines above the message only: number, source line, marks
    const [, line, , marks] = /:(\d+)\n(.*)\n( *)\^/.exec(stack) ?? [];
    throw new InvalidScript(
      message.split("\n")[0]!,
      line ? Number(line) : null,
      marks === undefined ? null : marks.length + 1,
    );
  }
}

/** What no script may hold, and whether `execute` is exported: found before anything is run. */
function checkSyntax(js: string): void {
  try {
    parse(js, { ecmaVersion: "latest", sourceType: "module" });
  } catch (error) {
    const { message, pos } = error as Error & { pos?: number };
    throw new InvalidScript(message.replace(/ \(\d+:\d+\)$/, ""), ...placeOf(js, pos ?? 0));
  }
}

function metaOf(json: string, type: "tool" | "workflow"): z.infer<typeof Exported> {
  const parsed = Exported.safeParse(JSON.parse(json) ?? {});
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new InvalidScript(`meta.${path.join(".")}: ${message}`);
  }
  if (parsed.data.type && parsed.data.type !== type)
    throw new InvalidScript(`meta.type is ${parsed.data.type}, but a ${type} is saved.`);
  return parsed.data;
}

/** Checks scripts as they are saved; what they do when they are evaluated they do in a runner. */
export const createChecker = (runner: Pick<ScriptRunner, "inspect">): ScriptChecker => ({
  async check(type, source): Promise<CheckedScript> {
    const js = stripped(source);
    checkSyntax(js);
    const json = await runner.inspect(js).catch((error: unknown) => {
      if (error instanceof ScriptFailed) throw new InvalidScript(error.message, error.line, error.line && 1);
      throw error;
    });
    const { name, description = "", parameters = EMPTY, secrets = [] } = metaOf(json, type);
    return { js, name, meta: { description, parameters, secrets } };
  },
});
