import { releaseBuffer } from "#events/releaseBuffer.ts";
import type { Blobs, DataKeys, Keyring, Vault } from "#events/vault.ts";

interface VaultParts {
  blobs: Pick<Blobs, "get" | "link" | "put">;
  keyring: Pick<Keyring, "create" | "openLarge" | "sealLarge">;
  dataKeys: DataKeys;
}

export function openVault({ blobs, keyring, dataKeys }: VaultParts): Vault {
  const findKey = async (thing: string) => (await dataKeys.find([thing])).get(thing);
  return {
    createKey: keyring.create,
    findKey,
    async put({ thing, wrapped_key, folder }, bytes) {
      const sealed = await keyring.sealLarge(thing, wrapped_key, bytes);
      try {
        return await blobs.put(folder, sealed);
      } finally {
        releaseBuffer(sealed);
      }
    },
    link: blobs.link,
    async get({ thing, wrapped_key }, blob) {
      const [sealed, key] = await Promise.all([
        blobs.get(blob),
        wrapped_key === undefined ? findKey(thing) : wrapped_key,
      ]);
      if (!sealed || !key) return undefined;
      return keyring.openLarge(thing, key, sealed).catch((cause) => {
        throw new Error(`the blob ${blob} is damaged; restore it from a backup`, { cause });
      });
    },
  };
}
