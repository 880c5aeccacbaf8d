import { queryOptions } from "@tanstack/react-query";
import type { AgentSettings } from "./build.ts";
import { call, itemPath } from "./call.ts";
import type { Page } from "./types.ts";

/* Saved versions, numbered from 1 without a gap and listed newest first. */

export interface Version {
  version: number;
  created_at: string;
}

export interface AgentVersion extends Version {
  settings: AgentSettings;
}

export interface DefinitionVersion extends Version {
  created_by: string;
  source: string;
}

/** Versions that are read with the list. A select shows the times of these. */
const NEWEST = 50;

type ReadVersions<V> = (query: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<V>>;

/** The requests that read the versions of one item. */
function versionsOf<V extends Version>(kind: string, id: string, read: ReadVersions<V>) {
  const newest = queryOptions({
    queryKey: [kind, "versions", id],
    queryFn: ({ signal }) => read({ limit: NEWEST, offset: 0 }, signal),
  });
  /** Null if there is no such version. */
  const one = (version: number) =>
    queryOptions({
      queryKey: [kind, "version", id, version],
      queryFn: async ({ client, signal }): Promise<V | null> => {
        const { data, total } = await client.fetchQuery(newest);
        if (version < 1 || version > total) return null;
        const listed = data.find((listed) => listed.version === version);
        if (listed) return listed;
        const readOne = async (newest: number) => read({ limit: 1, offset: newest - version }, signal);
        let found = await readOne(total);
        // another version was saved meanwhile
        if (found.data[0]?.version !== version) found = await readOne(found.total);
        if (found.data[0]?.version === version) return found.data[0];
        throw new Error(`Version ${version} could not be read.`);
      },
    });
  return { newest, one };
}

export type Versions<V extends Version> = ReturnType<typeof versionsOf<V>>;

const pathOf = (kind: string, id: string) => `${itemPath(kind, id)}/versions`;

export const versionsOfAgent = (id: string) =>
  versionsOf<AgentVersion>("agent", id, (query, signal) => call(pathOf("agents", id), { query, signal }));

/** For builders. */
export const versionsOfDefinition = (id: string) =>
  versionsOf<DefinitionVersion>("definition", id, (query, signal) =>
    call(pathOf("definitions", id), { query, signal }),
  );
