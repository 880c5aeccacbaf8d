import type { ErasedKind } from "./erasure.ts";

/** Selects what an erasure deletes. */
export interface OwnedQuery {
  /** `key:<id>`, `person:<id>`, `agent:<id>`, or `user:` and a mark. */
  owner: string;
  /** For an external user, see `StartErasure`. */
  scopes?: string[] | undefined;
  documents?: string[] | undefined;
  kinds: readonly ErasedKind[];
}

export interface OwnedThing {
  id: string;
  scope: string;
}

/** A batch of things that an owner has and that no hold covers, oldest first. Documents, extractions and runs are ids. */
export interface OwnedThings {
  threads: OwnedThing[];
  files: OwnedThing[];
  documents: string[];
  extractions: string[];
  runs: { live: string[]; ended: string[] };
  /** Whether holds cover further things. */
  held: boolean;
}
