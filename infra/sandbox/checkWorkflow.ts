import { StepSettings } from "#events/definition.ts";
import { InvalidScript } from "#http/base/scriptChecker.ts";
import type { ScriptInspection } from "#services/scripting/runner.ts";
import { AnySchema } from "./jsonSchemas.ts";

const MAX_STEPS = 500;
const MAX_NAME = 64;
/** Maximum characters of JSON of all steps' settings, which are stored with the definition. */
const MAX_SETTINGS = 262_144;

/** Settings for `defineStep`. Unknown fields are refused as misspelt. */
const Settings = StepSettings.extend({ input: AnySchema.nullable().default(null) }).strict();

type Workflow = NonNullable<ScriptInspection["workflow"]>;
type Step = NonNullable<Workflow["steps"]>[number];

function parseStep({ name, callable, settings, place }: Step): [string, StepSettings] {
  const refuse = (message: string): never => {
    throw new InvalidScript(`steps.${name.slice(0, MAX_NAME)}${message}`, ...(place ?? []));
  };
  if (name.length < 1 || name.length > MAX_NAME || name === "__proto__")
    return refuse(`: the name of a step has 1 to ${MAX_NAME} characters.`);
  if (!callable)
    return refuse(" is not a function: a step is a function, or the result of defineStep(settings, function).");
  const parsed = Settings.safeParse(settings);
  if (parsed.success) return [name, parsed.data];
  const { path, message } = parsed.error.issues[0]!;
  return refuse(`${path.map((part) => `.${String(part)}`).join("")}: ${message}`);
}

/** Checks the steps of a workflow and their settings. Throws InvalidScript. */
export function checkWorkflow({ runs, steps, lint, wrong_options, catches, ordered }: Workflow) {
  if (!runs) throw new InvalidScript("A workflow exports a function run(ctx, args), and this one does not.");
  if (steps === null) throw new InvalidScript("steps: must be an object of functions.");
  if (steps.length > MAX_STEPS) throw new InvalidScript(`steps: more than ${MAX_STEPS}.`);
  const [wrong] = wrong_options;
  if (wrong) throw new InvalidScript(wrong.message, wrong.line, wrong.column);
  const settings = Object.fromEntries(steps.map(parseStep));
  if (JSON.stringify(settings).length > MAX_SETTINGS)
    throw new InvalidScript(`steps: their settings are longer than ${MAX_SETTINGS} characters of JSON.`);
  return { steps: settings, lint, catches, ...(ordered && { ordered }) };
}
