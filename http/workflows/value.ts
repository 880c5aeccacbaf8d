import { streamOf } from "#events/ids.ts";
import type { Value } from "#events/runParts.ts";
import type { Http } from "../deps.ts";

type Needs = Pick<Http, "blobs" | "keyring">;

/** Arguments that are longer go beside the log, in bytes of JSON: a command carries 256 KiB. */
const MAX_IN_COMMAND = 32 * 1024;

const folderOf = (organization_id: string, run_id: string): string => `${organization_id}/${streamOf("run", run_id)}`;

/** Arguments as a command carries them, with the new data key that they were sealed with where they are a blob. */
export async function keepArgs(
  { blobs, keyring }: Needs,
  { organization_id, run_id }: { organization_id: string; run_id: string },
  json: string,
): Promise<{ args: Value; keys?: Record<string, string> }> {
  const bytes = Buffer.from(json);
  if (bytes.length <= MAX_IN_COMMAND) return { args: { json } };
  const thing = streamOf("run", run_id);
  const wrapped = keyring.create(thing);
  const sealed = await keyring.sealLarge(thing, wrapped, bytes);
  const blob = await blobs.put(folderOf(organization_id, run_id), sealed);
  return { args: { blob, bytes: bytes.length }, keys: { [thing]: wrapped } };
}

/** The blobs of a run that did not come to be. */
export const dropArgs = ({ blobs }: Needs, organization_id: string, run_id: string): Promise<void> =>
  blobs.removeAll(folderOf(organization_id, run_id));

export type OpenValue = (value: Value | null | undefined) => Promise<unknown>;

/** Opens values of one run; null where there is none, or none any more. */
export const opener =
  ({ blobs, keyring }: Needs, { id, wrapped_key }: { id: string; wrapped_key: string }): OpenValue =>
  async (value) => {
    if (!value) return null;
    if ("json" in value) return JSON.parse(value.json);
    const sealed = await blobs.get(value.blob);
    if (!sealed) return null;
    return JSON.parse((await keyring.openLarge(streamOf("run", id), wrapped_key, sealed)).toString());
  };
