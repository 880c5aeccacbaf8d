import { createHash } from "node:crypto";
import { blobFolder, streamName } from "#events/ids.ts";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { requireStorage } from "../base/storageLimits.ts";
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

/**
 * Stores the source and the compiled code as one sealed blob. The event names the blob and the hash of the code. Throws 413
 * `storage_limit_reached`: every version is kept.
 */
export async function storeScript(
  http: Pick<Http, "vault" | "stored" | "settings">,
  definition: { organization_id: string; definition_id: string; wrapped_key: string },
  source: string,
  { js }: CheckedScript,
): Promise<{ blob: string; sha256: string; size_bytes: number }> {
  const { organization_id, definition_id, wrapped_key } = definition;
  const thing = streamName("definition", definition_id);
  const folder = blobFolder(organization_id, thing);
  const script = Buffer.from(JSON.stringify({ source, js }));
  await requireStorage(http, organization_id, { bytes: script.length, param: "source" });
  const blob = await http.vault.put({ thing, wrapped_key, folder }, script);
  return { blob, sha256: createHash("sha256").update(js).digest("hex"), size_bytes: script.length };
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
