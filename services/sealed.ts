import type { Blobs, DataKeys, Keyring } from "#events/ports.ts";
import type { Target } from "./send.ts";

export interface SealedDeps {
  blobs: Pick<Blobs, "get" | "put">;
  keyring: Pick<Keyring, "openLarge" | "sealLarge">;
  dataKeys: DataKeys;
}

/** The blobs of one document or extraction, opened and sealed with its data key. */
export interface SealedBlobs {
  /** Throws where the blob is gone. */
  get(key: string): Promise<Buffer>;
  put(plain: Uint8Array): Promise<string>;
}

/** Undefined once it was erased. */
export async function sealedBlobs(deps: SealedDeps, target: Target): Promise<SealedBlobs | undefined> {
  const { stream, organization_id } = target;
  const wrapped = (await deps.dataKeys.find([stream])).get(stream);
  if (wrapped === undefined) return undefined;
  return {
    async get(key) {
      const sealed = await deps.blobs.get(key);
      if (!sealed) throw new Error(`the blob ${key} is gone`);
      return deps.keyring.openLarge(stream, wrapped, sealed);
    },
    async put(plain) {
      const sealed = await deps.keyring.sealLarge(stream, wrapped, plain);
      return deps.blobs.put(`${organization_id}/${stream}`, sealed);
    },
  };
}
