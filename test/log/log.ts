import { newCommandId, newId, streamName } from "#events/ids.ts";
import { OrganizationCreated } from "#events/organization.ts";
import { SessionEnded } from "#events/session.ts";
import type { NewEvent } from "#events/define.ts";
import type { AppendRequest } from "#events/ports.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { testDatabase } from "#test/harness.ts";

/** Opens a log in a new database. */
export async function openTestLog(options: { connections?: number } = {}) {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: options.connections ?? 6, name: "test" });
  const log = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
  return { url, pool, db: asDb(pool), log, close: () => pool.end() };
}

interface Change {
  id?: string;
  organization?: string;
  version?: number;
  event?: NewEvent;
  fingerprint?: string;
}

/** Appends one event to a stream at a version. */
export function change(stream: string, { id, organization, version, event, fingerprint }: Change = {}): AppendRequest {
  const at = version ?? 1;
  return {
    command: {
      id: id ?? newCommandId(),
      organization_id: organization ?? "00000000-0000-4000-8000-000000000001",
      principal: "system",
      request_id: "test",
      ...(fingerprint === undefined ? {} : { fingerprint }),
    },
    events: [{ stream, version: at, event: event ?? SessionEnded.of({ session_id: newId() }) }],
    heads: [{ stream, state: { at }, state_version: 1, status: null, due_at: null, worker: null }],
    keys: {},
    erase: { things: [], streams: [] },
    forget: [],
  };
}

/** An event with a personal field, sealed with its own key. */
export function named(name: string): { stream: string; thing: string; event: NewEvent } {
  const organization_id = newId();
  const stream = streamName("organization", organization_id);
  return { stream, thing: stream, event: OrganizationCreated.of({ organization_id }, { name }) };
}

export const aStream = (): string => streamName("session", newId());
