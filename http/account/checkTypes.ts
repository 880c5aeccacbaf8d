import { z } from "zod";
import { requireBuilder } from "../auth/authenticate.ts";
import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { type CheckedScript, InvalidScript } from "../base/scriptChecker.ts";
import type { TypeCheck } from "../base/typeChecker.ts";
import { source, ScriptType } from "./definitionShape.ts";
import { bodyLimit } from "./definitions.ts";

const Check = z.object({ type: ScriptType, source });
const place = (of: string) => z.int().describe(of);
const Checked = z
  .object({
    errors: z
      .array(
        z.object({
          code: z.int().describe("The number of the TypeScript compiler's message: 2339 is TS2339."),
          message: z.string(),
          line: place("From 1."),
          column: place("From 1."),
          end_line: place("From 1."),
          end_column: place("From 1, after the last character."),
        }),
      )
      .describe("The first 100, in the order of the source. The source can be saved in spite of them."),
    unchecked: z.string().nullable().describe("Why the types were not checked; null if they were."),
  })
  .meta({ title: "CheckedTypes" });

const stepInputs = ({ workflow }: CheckedScript["meta"]): Record<string, object> =>
  Object.fromEntries(
    Object.entries(workflow?.steps ?? {}).flatMap(([name, { input }]) => (input ? [[name, input]] : [])),
  );

async function checkTypes(
  { scripts, types }: Http,
  organization_id: string,
  { type, source: text }: z.infer<typeof Check>,
): Promise<TypeCheck> {
  try {
    const { js, meta } = await scripts.check(organization_id, type, text);
    return await types.checkTypes(organization_id, {
      type,
      source: text,
      has_types: js !== text,
      parameters: meta.parameters,
      step_inputs: stepInputs(meta),
    });
  } catch (error) {
    if (!(error instanceof InvalidScript)) throw error;
    return { errors: [], unchecked: "A save would refuse the source. Correct that first, then its types are checked." };
  }
}

/** Reports type errors while somebody types, for builders and above. Saves nothing; scripts with type errors can still be saved. */
export function typeRoutes(app: App, http: Http): void {
  const schema = {
    tags: ["Scripts"],
    security: [{ session: [] }],
    summary: "Check the types of a source",
    description:
      "Reports the type errors of a source. The types are those of `ctx`, of the arguments (from the JSON Schemas of `meta` and of the steps), of the steps that `run()` calls, and those that the script declares. Plain JavaScript is checked, too. After a minute without checks, the next one takes about a second longer.",
    body: Check,
    response: { 200: Checked },
  };
  app.post("/definitions/check-types", { onRequest: requireBuilder(http), schema, bodyLimit }, ({ caller, body }) =>
    checkTypes(http, caller.organization_id, body),
  );
}
