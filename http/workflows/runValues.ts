import { blobFolder, streamName } from "#events/ids.ts";
import type { StoredValue } from "#events/runParts.ts";
import type { Http } from "../base/deps.ts";

/** Bytes of JSON. Longer arguments become a blob, because a command may have 256 KiB. */
const MAX_INLINE_BYTES = 32 * 1024;

/** Arguments as a command carries them. Where they are a blob, `keys` has the new data key that it is sealed with. */
export async function storeArgs(
  { vault }: Pick<Http, "vault">,
  { organization_id, run_id }: { organization_id: string; run_id: string },
  json: string,
): Promise<{ args: StoredValue; keys?: Record<string, string> }> {
  const bytes = Buffer.from(json);
  if (bytes.length <= MAX_INLINE_BYTES) return { args: { json } };
  const thing = streamName("run", run_id);
  const wrapped_key = vault.createKey(thing);
  const blob = await vault.put({ thing, wrapped_key, folder: blobFolder(organization_id, thing) }, bytes);
  return { args: { blob, bytes: bytes.length }, keys: { [thing]: wrapped_key } };
}

/** Deletes the blobs of a run that was not started. */
export const deleteArgs = ({ blobs }: Pick<Http, "blobs">, organization_id: string, run_id: string): Promise<void> =>
  blobs.removeAll(blobFolder(organization_id, streamName("run", run_id)));

export type OpenValue = (value: StoredValue | null | undefined) => Promise<unknown>;

/** Reads stored values of one run. Null for none, and for one that has been deleted. */
export const createOpenValue =
  ({ vault }: Pick<Http, "vault">, { id, wrapped_key }: { id: string; wrapped_key: string }): OpenValue =>
  async (value) => {
    if (!value) return null;
    if ("json" in value) return JSON.parse(value.json);
    const json = await vault.get({ thing: streamName("run", id), wrapped_key }, value.blob);
    return json ? JSON.parse(json.toString()) : null;
  };
