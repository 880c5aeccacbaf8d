import { blobFolder } from "#events/ids.ts";
import type { Blobs, Vault } from "#events/vault.ts";
import { retryWhileUnavailable } from "../../retryWhileUnavailable.ts";
import type { CommandTarget } from "../../send.ts";

/**
 * Removes what a reading has stored but may not have recorded, if its document or extraction was erased meanwhile: the erasure may
 * have removed the folder before. Otherwise it stays, because an event may refer to it. Throws Unavailable if the log does not
 * answer for a minute; the clean-up then removes it.
 */
export const removeIfErased = (
  { vault, blobs }: { vault: Pick<Vault, "findKey">; blobs: Pick<Blobs, "removeAll"> },
  { stream, organization_id }: CommandTarget,
): Promise<void> =>
  retryWhileUnavailable(async () => {
    if ((await vault.findKey(stream)) === undefined) await blobs.removeAll(blobFolder(organization_id, stream));
  });
