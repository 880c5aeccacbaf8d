import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
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
    queryFn: ({ signal }) => {
      const query = { owner, after };
      if (kind === "files") return call<Slice<OwnedThing>>("files", { signal, query });
      if (kind === "responses") return call<Slice<OwnedThing>>("responses", { signal, query });
      return call<Slice<OwnedThing>>("threads", { signal, query });
    },
  });

export const deleteThread = (id: string) => call<unknown>(`threads/${encodeURIComponent(id)}`, { method: "DELETE" });

export function deleteOwned(kind: OwnedKind, id: string): Promise<unknown> {
  const name = encodeURIComponent(id);
  if (kind === "files") return call<unknown>(`files/${name}`, { method: "DELETE" });
  if (kind === "responses") return call<unknown>(`responses/${name}`, { method: "DELETE" });
  return deleteThread(id);
}
