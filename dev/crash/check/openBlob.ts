import type { Blobs, DataKeys, Keyring } from "#events/vault.ts";

export interface Stores {
  blobs: Blobs;
  keyring: Keyring;
  keys: DataKeys;
  folder: string;
}

/** Opens a blob; undefined if the bytes or their key are gone. */
export async function openBlob(
  { blobs, keyring, keys }: Stores,
  { blob, thing, wrapped_key }: { blob: string; thing: string; wrapped_key?: string },
): Promise<Buffer | undefined> {
  const sealed = await blobs.get(blob);
  const wrapped = wrapped_key ?? (await keys.find([thing])).get(thing);
  return sealed && wrapped ? keyring.open(thing, wrapped, sealed) : undefined;
}
