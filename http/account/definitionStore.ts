import { createHash } from "node:crypto";
import { streamOf } from "#events/ids.ts";
import type { DefinitionRow } from "#projections/definitions/query.ts";
import type { Http } from "../deps.ts";
import { ApiError } from "../errors.ts";
import { InvalidScript, type CheckedScript } from "../scripts.ts";

/** Throws 400 `invalid_definition`, which names line and column. */
export async function checked(
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

/** Keeps what was written and what runs as one blob of the definition; the event names it. */
export async function keepScript(
  { keyring, blobs }: Http,
  definition: { organization_id: string; definition_id: string; wrapped_key: string },
  source: string,
  { js }: CheckedScript,
): Promise<{ blob: string; sha256: string }> {
  const thing = streamOf("definition", definition.definition_id);
  const bytes = Buffer.from(JSON.stringify({ source, js }));
  const blob = await blobs.put(
    `${definition.organization_id}/${thing}`,
    keyring.seal(thing, definition.wrapped_key, bytes),
  );
  return { blob, sha256: createHash("sha256").update(js).digest("hex") };
}

/** What was written; throws a 404 where its bytes are gone. */
export async function sourceOf(
  { keyring, blobs }: Http,
  { id, wrapped_key }: Pick<DefinitionRow, "id" | "wrapped_key">,
  blob: string,
): Promise<string> {
  const sealed = await blobs.get(blob);
  if (!sealed) throw new ApiError("definition_not_found", "The source of this definition is gone.", { param: "id" });
  const opened = keyring.open(streamOf("definition", id), wrapped_key, sealed);
  return (JSON.parse(opened.toString()) as { source: string }).source;
}
