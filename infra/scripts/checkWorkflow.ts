import { StepSettings } from "#events/definition.ts";
import { InvalidScript } from "#http/scripts.ts";
import type { Inspected } from "#services/scripting/runner.ts";
import { AnySchema } from "./parameters.ts";

const MOST_STEPS = 500;
const LONGEST_NAME = 64;
/** Characters of JSON of what all steps say of themselves: it is kept with the definition. */
const LONGEST = 262_144;

/** As `defineStep` takes it: what it does not know is a mistake in writing. */
const Settings = StepSettings.extend({ input: AnySchema.nullable().default(null) }).strict();

type Workflow = NonNullable<Inspected["workflow"]>;
type Step = NonNullable<Workflow["steps"]>[number];

function settingsOf({ name, callable, settings, place }: Step): [string, StepSettings] {
  const refuse = (message: string): never => {
    throw new InvalidScript(`steps.${name.slice(0, LONGEST_NAME)}${message}`, ...(place ?? []));
  };
  if (name.length < 1 || name.length > LONGEST_NAME || name === "__proto__")
    return refuse(`: the name of a step has 1 to ${LONGEST_NAME} characters.`);
  if (!callable) return refuse(" is no function: a step is one, or what defineStep(settings, function) gives.");
  const parsed = Settings.safeParse(settings);
  if (parsed.success) return [name, parsed.data];
  const { path, message } = parsed.error.issues[0]!;
  return refuse(`${path.map((part) => `.${String(part)}`).join("")}: ${message}`);
}

/** The steps of a workflow with their settings, and what a reader of the code would warn of. Throws InvalidScript. */
export function checkWorkflow({ runs, steps, lint, catches }: Workflow) {
  if (!runs) throw new InvalidScript("A workflow exports a function run(ctx, args), and this one does not.");
  if (steps === null) throw new InvalidScript("steps: must be an object of functions.");
  if (steps.length > MOST_STEPS) throw new InvalidScript(`steps: more than ${MOST_STEPS}.`);
  const settings = Object.fromEntries(steps.map(settingsOf));
  if (JSON.stringify(settings).length > LONGEST)
    throw new InvalidScript(`steps: their settings are longer than ${LONGEST} characters of JSON.`);
  return { steps: settings, lint, catches };
}
