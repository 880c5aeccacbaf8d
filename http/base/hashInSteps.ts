import { createHash } from "node:crypto";
import { setImmediate as nextRound } from "node:timers/promises";

/** Bytes hashed per round of the event loop, which takes 2 to 5 ms. */
export const HASH_AT_ONCE = 4 * 1024 * 1024;

/** SHA-256 (hex). Lets other work run in between if there are many bytes. */
export async function hashInSteps(bytes: Buffer): Promise<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += HASH_AT_ONCE) {
    if (at > 0) await nextRound();
    hash.update(bytes.subarray(at, at + HASH_AT_ONCE));
  }
  return hash.digest("hex");
}
