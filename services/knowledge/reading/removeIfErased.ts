import { setTimeout as sleep } from "node:timers/promises";
import { blobFolder } from "#events/ids.ts";
import { Unavailable } from "#events/ports.ts";
import type { Blobs, Vault } from "#events/vault.ts";
import type { CommandTarget } from "../../send.ts";

const RETRY_MS = 1_000;
/** How long a reading waits for the log. */
const PATIENCE_MS = 60_000;

/**
 * Removes what a reading has stored but may not have recorded, if its document or extraction was erased meanwhile: the erasure may
 * have removed the folder before. Otherwise it stays, because an event may refer to it. Throws Unavailable if the log does not
 * answer for a minute; the clean-up then removes it.
 */
export async function removeIfErased(
  { vault, blobs }: { vault: Pick<Vault, "findKey">; blobs: Pick<Blobs, "removeAll"> },
  { stream, organization_id }: CommandTarget,
  patience_ms = PATIENCE_MS,
): Promise<void> {
  for (const until = performance.now() + patience_ms; ; await sleep(RETRY_MS))
    try {
      if ((await vault.findKey(stream)) === undefined) await blobs.removeAll(blobFolder(organization_id, stream));
      return;
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > until) throw error;
    }
}
