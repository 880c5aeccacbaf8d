import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, queryOne } from "./call.ts";
import type { Slice } from "./types.ts";

/* The data of a key, a person or an agent, which administrators list and delete one by one. An erasure deletes all of it. */

export const OWNED_KINDS = ["threads", "responses", "files"] as const;
export type OwnedKind = (typeof OWNED_KINDS)[number];

export interface OwnedThing {
  id: string;
  /** For threads and responses: the beginning of the user's first message. */
  title?: string | null;
  /** For files. */
  filename?: string;
  bytes?: number;
  /** For threads. */
  newest_turn_id?: string;
  created_at: string;
}

export const listOwned = (kind: OwnedKind, owner: string, after: string | undefined) =>
  queryOptions({
    queryKey: ["thread", "owned", kind, owner, after],
    queryFn: queryOne<Slice<OwnedThing>>(kind === "files" ? "files" : kind === "responses" ? "responses" : "threads", {
      owner,
      after,
    }),
  });

export const deleteThread = (id: string) => call<unknown>(itemPath("threads", id), { method: "DELETE" });

export function deleteOwned(kind: OwnedKind, id: string): Promise<unknown> {
  if (kind === "files") return call<unknown>(itemPath("files", id), { method: "DELETE" });
  if (kind === "responses") return call<unknown>(itemPath("responses", id), { method: "DELETE" });
  return deleteThread(id);
}
