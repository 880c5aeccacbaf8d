import type { Keyring } from "./vault.ts";

type Needs = Pick<Keyring, "keyedHash">;

/** Equal for the same bytes in the same collection. Content with an id of the caller's own has a claim per id. */
export const contentClaim = (keyring: Needs, collection_id: string, sha256: string, external_id: string | null) =>
  keyring.keyedHash("content", [collection_id, sha256, ...(external_id === null ? [] : [external_id])].join("\n"));

export const externalClaim = (keyring: Needs, collection_id: string, external_id: string) =>
  keyring.keyedHash("external", `${collection_id}\n${external_id}`);
