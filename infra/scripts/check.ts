import { z } from "zod";
import { DEFINITION_NAME } from "#events/definition.ts";
import { SECRET_NAME } from "#events/secret.ts";
import { InvalidScript, type ScriptChecker } from "#http/scripts.ts";
import { ScriptFailed, type Inspected, type ScriptRunner, type ScriptType } from "#services/scripting/runner.ts";
import { checkWorkflow } from "./checkWorkflow.ts";
import { Parameters, RunArguments } from "./parameters.ts";

const ANYTHING = { type: "object", properties: {} };
const Common = z.object({
  type: z.enum(["tool", "workflow"]).optional(),
  name: z.string().regex(DEFINITION_NAME, "must be 1 to 64 letters, digits, _ or -, a letter or _ first").optional(),
  description: z.string().max(4_000).default(""),
  secrets: z.array(z.string().regex(SECRET_NAME, "is no name of a secret")).max(50).default([]),
});
const notHere = (type: string, word: string) => z.undefined({ error: `a ${type} has meta.${word}` }).optional();
/** `meta` as a script exports it; what is left out has an empty value. */
const Exported = {
  tool: Common.extend({ parameters: Parameters.default(ANYTHING) }),
  workflow: Common.extend({ args: RunArguments.default(ANYTHING), parameters: notHere("workflow", "args") }).transform(
    ({ args, ...rest }) => ({ ...rest, parameters: args }),
  ),
};

function metaOf({ meta, meta_at }: Inspected, type: ScriptType) {
  const refuse = (message: string): never => {
    throw new InvalidScript(message, ...(meta_at ?? []));
  };
  const parsed = Exported[type].safeParse(meta ?? {});
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    return refuse(`${["meta", ...path].join(".")}: ${message}`);
  }
  if (parsed.data.type && parsed.data.type !== type)
    return refuse(`meta.type is ${parsed.data.type}, but a ${type} is saved.`);
  return parsed.data;
}

/** Checks scripts as they are saved; they are compiled and evaluated in a runner, where they can do no harm. */
export const createChecker = (runner: Pick<ScriptRunner, "inspect">): ScriptChecker => ({
  async check(organization_id, type, source) {
    const found = await runner.inspect(organization_id, source, type).catch((error: unknown) => {
      if (error instanceof ScriptFailed)
        throw new InvalidScript(error.message, error.line, error.column ?? (error.line && 1));
      throw error;
    });
    const { name, description, parameters, secrets } = metaOf(found, type);
    if (type === "tool" && !found.executes)
      throw new InvalidScript("A tool exports a function execute(args, context), and this one does not.");
    const workflow = found.workflow && checkWorkflow(found.workflow);
    return { js: found.js, name, meta: { description, parameters, secrets, ...(workflow && { workflow }) } };
  },
});
