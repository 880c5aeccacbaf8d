import { createHash } from "node:crypto";
import { blobFolder, streamName } from "#events/ids.ts";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { InvalidScript, type CheckedScript } from "../base/scriptChecker.ts";

/** Compiles and checks a script. Throws 400 `invalid_definition` with the line and column of the fault. */
export async function checkScript(
  http: Http,
  organization_id: string,
  type: DefinitionRow["type"],
  source: string,
): Promise<CheckedScript> {
  try {
    return await http.scripts.check(organization_id, type, source);
  } catch (error) {
    if (!(error instanceof InvalidScript)) throw error;
    const place = error.line === null ? "" : ` (line ${error.line}, column ${error.column})`;
    throw new ApiError("invalid_definition", `source: ${error.message}${place}`, { param: "source" });
  }
}

/** Stores the source and the compiled code as one sealed blob. The event names the blob and the hash of the code. */
export async function storeScript(
  { vault }: Pick<Http, "vault">,
  definition: { organization_id: string; definition_id: string; wrapped_key: string },
  source: string,
  { js }: CheckedScript,
): Promise<{ blob: string; sha256: string }> {
  const { organization_id, definition_id, wrapped_key } = definition;
  const thing = streamName("definition", definition_id);
  const folder = blobFolder(organization_id, thing);
  const blob = await vault.put({ thing, wrapped_key, folder }, Buffer.from(JSON.stringify({ source, js })));
  return { blob, sha256: createHash("sha256").update(js).digest("hex") };
}

/** Reads the source of a version. Throws 404 `definition_not_found` if its blob was deleted meanwhile. */
export async function readSource(
  { vault }: Pick<Http, "vault">,
  { id, wrapped_key }: Pick<DefinitionRow, "id" | "wrapped_key">,
  blob: string,
): Promise<string> {
  const script = await vault.get({ thing: streamName("definition", id), wrapped_key }, blob);
  if (!script) throw new ApiError("definition_not_found", "The definition has been deleted.", { param: "id" });
  return (JSON.parse(script.toString()) as { source: string }).source;
}
