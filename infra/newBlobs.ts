import { createSizedCache } from "#events/sizedCache.ts";
import type { Blobs } from "#events/vault.ts";

/** Bytes of a blob up to which it is kept: reading a longer one costs little beside the work on it. */
const MAX_BLOB = 64 * 1024;
/** Bytes of all kept blobs. */
const MAX_KEPT = 8 * 1024 * 1024;
/** What an entry takes beside its bytes. */
const ENTRY = 1_024;
/** Maximum age, because another process may remove the blob. */
const MAX_AGE_MS = 10_000;

interface NewBlob {
  sealed: Buffer;
  /** On the monotonic clock. */
  storedAt: number;
}

const createKept = () => createSizedCache<NewBlob>({ size: MAX_KEPT });

/** Returns a copy with memory of its own, because its reader decrypts it in place. */
function copyOf(sealed: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(sealed.length);
  copy.set(sealed);
  return copy;
}

/**
 * Keeps the sealed bytes of small new blobs for their first reader. A short document has three blobs, which this process usually reads
 * once, a moment after it has stored them: four calls of the file system each.
 */
export function keepNewBlobs(blobs: Blobs): Blobs {
  let kept = createKept();
  return {
    ...blobs,
    async put(folder, sealed) {
      const key = await blobs.put(folder, sealed);
      if (sealed.length <= MAX_BLOB)
        kept.set(key, { sealed: copyOf(sealed), storedAt: performance.now() }, sealed.length + ENTRY);
      return key;
    },
    async get(key) {
      const found = kept.find(key);
      kept.forget(key);
      return found && performance.now() - found.storedAt <= MAX_AGE_MS ? found.sealed : blobs.get(key);
    },
    async remove(key) {
      kept.forget(key);
      await blobs.remove(key);
    },
    async removeAll(folder) {
      // all of them, because looking for those of the folder would cost each of a hundred thousand removals more
      kept = createKept();
      await blobs.removeAll(folder);
    },
  };
}
