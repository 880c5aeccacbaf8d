import { z } from "zod";
import { DEFINITION_NAME } from "#events/definition.ts";
import { SECRET_NAME } from "#events/secret.ts";
import { InvalidScript, type ScriptChecker } from "#http/base/scriptChecker.ts";
import { ScriptError, type ScriptInspection, type ScriptRunner, type ScriptType } from "#services/scripting/runner.ts";
import { checkWorkflow } from "./checkWorkflow.ts";
import { Parameters, RunArguments } from "./jsonSchemas.ts";

const ANY_OBJECT = { type: "object", properties: {} };
const Common = z.object({
  type: z.enum(["tool", "workflow"]).optional(),
  name: z.string().regex(DEFINITION_NAME, "must be 1 to 64 letters, digits, _ or -, a letter or _ first").optional(),
  description: z.string().max(4_000).default(""),
  secrets: z.array(z.string().regex(SECRET_NAME, "is not the name of a secret")).max(50).default([]),
});
/** Refuses a field that only the other type of script has. */
const replacedBy = (type: string, field: string) => z.undefined({ error: `a ${type} has meta.${field}` }).optional();
/** `meta` as a script exports it, with defaults for what it leaves out. */
const ExportedMeta = {
  tool: Common.extend({ parameters: Parameters.default(ANY_OBJECT) }).strict(),
  workflow: Common.extend({
    args: RunArguments.default(ANY_OBJECT),
    parameters: replacedBy("workflow", "args"),
  })
    .strict()
    .transform(({ args, ...rest }) => ({ ...rest, parameters: args })),
};

/** The field for arguments in `meta`, by script type; the other one is a mistake. */
const FIELDS = { tool: "parameters", workflow: "args" };

function parseMeta({ meta, meta_at, meta_fields }: ScriptInspection, type: ScriptType) {
  const refuse = (message: string, field?: PropertyKey): never => {
    const place = Object.hasOwn(meta_fields, field ?? "") ? meta_fields[String(field)] : undefined;
    throw new InvalidScript(message, ...(place ?? meta_at ?? []));
  };
  const parsed = ExportedMeta[type].safeParse(meta ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues as [z.core.$ZodIssue];
    if (issue.code === "unrecognized_keys") {
      const [field = ""] = issue.keys;
      const known = `type, name, description, ${FIELDS[type]} and secrets`;
      return refuse(`meta.${field.slice(0, 100)}: is unknown; meta of a ${type} has ${known}.`, field);
    }
    return refuse(`${["meta", ...issue.path].join(".")}: ${issue.message}`, issue.path[0]);
  }
  if (parsed.data.type && parsed.data.type !== type)
    return refuse(`meta.type is ${parsed.data.type}, but a ${type} is saved.`);
  return parsed.data;
}

/** Checks scripts when they are saved. The runner compiles and evaluates them in a sandbox. */
export const createScriptChecker = (runner: Pick<ScriptRunner, "inspect">): ScriptChecker => ({
  async check(organization_id, type, source) {
    const found = await runner.inspect(organization_id, source, type).catch((error: unknown) => {
      if (error instanceof ScriptError)
        throw new InvalidScript(error.message, error.line, error.column ?? (error.line && 1));
      throw error;
    });
    const { name, description, parameters, secrets } = parseMeta(found, type);
    if (type === "tool" && !found.executes)
      throw new InvalidScript("A tool exports a function execute(args, context), and this one does not.");
    const workflow = found.workflow && checkWorkflow(found.workflow);
    return { js: found.js, name, meta: { description, parameters, secrets, ...(workflow && { workflow }) } };
  },
});
