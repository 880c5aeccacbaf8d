import type { Blobs, DataKeys, Keyring } from "#events/ports.ts";

export interface Stores {
  blobs: Blobs;
  keyring: Keyring;
  keys: DataKeys;
  folder: string;
}

/** Opens a blob; undefined when the bytes or their key are gone. */
export async function opened(
  { blobs, keyring, keys }: Stores,
  { blob, thing }: { blob: string; thing: string },
): Promise<Buffer | undefined> {
  const sealed = await blobs.get(blob);
  const wrapped = (await keys.find([thing])).get(thing);
  return sealed && wrapped ? keyring.open(thing, wrapped, sealed) : undefined;
}
