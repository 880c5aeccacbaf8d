import { retryWhileDiskFull } from "./retryWhileUnavailable.ts";
import { blobFolder } from "#events/ids.ts";
import type { Vault } from "#events/vault.ts";
import type { CommandTarget } from "./send.ts";

export interface VaultDeps {
  vault: Pick<Vault, "findKey" | "get" | "put">;
}

/** The blobs of one document, extraction or run. */
export interface ThingBlobs {
  /** Throws if the blob was removed. */
  get(key: string): Promise<Buffer>;
  put(bytes: Uint8Array): Promise<string>;
}

/**
 * Undefined if the thing was erased. The data key is looked up once, unless it is given by somebody who finds out in another way
 * whether the thing still exists.
 */
export async function openThingBlobs(
  { vault }: VaultDeps,
  { stream, organization_id, wrapped_key: given }: CommandTarget & { wrapped_key?: string | undefined },
): Promise<ThingBlobs | undefined> {
  const wrapped_key = given ?? (await vault.findKey(stream));
  if (wrapped_key === undefined) return undefined;
  const owner = { thing: stream, wrapped_key, folder: blobFolder(organization_id, stream) };
  return {
    async get(key) {
      const bytes = await vault.get(owner, key);
      if (!bytes) throw new Error(`the blob ${key} was removed`);
      return bytes;
    },
    put: (bytes) => retryWhileDiskFull(() => vault.put(owner, bytes)),
  };
}
