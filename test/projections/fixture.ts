import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { NewEvent } from "#events/define.ts";
import { newCommandId, newId, streamName } from "#events/ids.ts";
import type { KeyErasure } from "#events/decider.ts";
import type { EventLog, Hints } from "#events/ports.ts";
import { ProviderConfigured } from "#events/provider.ts";
import { FileDeleted, FileUploaded } from "#events/file.ts";
import { KeyChanged, KeyCreated, KeyDeleted } from "#events/key.ts";
import {
  NO_USAGE,
  ThreadDeleted,
  TurnCompleted,
  TurnRefused,
  TurnStarted,
  type Message,
  type Prompt,
} from "#events/thread.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { createProjector } from "#infra/postgres/projector.ts";
import { hashReadModels } from "../tables.ts";
import { projections as all } from "#projections/index.ts";
import type { Projection } from "#projections/projection.ts";
import { testDatabase } from "#test/harness.ts";
import { promptOf } from "#test/startTurn.ts";

/** Hints within this process. `dropped` loses all of them. */
function localHints(dropped = false): Hints {
  const committed = new Set<(position: number) => void>();
  const wanted = new Set<(position: number) => void>();
  const projected = new Set<(name: string, position: number) => void>();
  const on = <L>(listeners: Set<L>, listener: L) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    announceCommitted: (position) => dropped || committed.forEach((listener) => listener(position)),
    onCommitted: (listener) => on(committed, listener),
    requestProjected: (position) => dropped || wanted.forEach((listener) => listener(position)),
    onRequested: (listener) => on(wanted, listener),
    announceProjected: (name, position) => dropped || projected.forEach((listener) => listener(name, position)),
    onProjected: (listener) => on(projected, listener),
  };
}

interface FixtureOptions {
  dropHints?: boolean;
  database?: "migrated" | "ready";
}

/** A log in a new database, with runners that follow it. Everything stops with the test. */
export async function fixture({ dropHints = false, database = "migrated" }: FixtureOptions = {}) {
  const { url, drop } = await testDatabase(database);
  const pool = openPool(url, { max: 12, name: "test" });
  const keyring = openKeyring(randomBytes(32));
  const log = openLog(pool, keyring);
  const hints = localHints(dropHints);
  const logger = pino({ level: "silent" });
  const organization = newId();
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await pool.end();
    await drop();
  });

  /** Appends to the end of a stream. Returns the last position. */
  async function append(stream: string, events: NewEvent[], erase: KeyErasure = {}): Promise<number> {
    const version = (await log.heads([stream])).get(stream)?.version ?? 0;
    const appended = await log.append({
      command: { id: newCommandId(), organization_id: organization, principal: "key:test", request_id: "test" },
      events: events.map((event, n) => ({ stream, version: version + n + 1, event })),
      heads: [{ stream, state: {}, state_version: 1, status: null, due_at: null, worker: null }],
      keys: {},
      erase: { things: [], streams: [], ...erase },
      forget: [],
    });
    if (appended.kind !== "committed") throw new Error(`append: ${appended.kind}`);
    hints.announceCommitted(appended.last);
    return appended.last;
  }

  function runner(projections: Projection[] = all, follow: Pick<EventLog, "follow"> = log) {
    const projector = createProjector({ pool, log: follow, hints, projections, logger });
    stops.push(() => projector.stop());
    return projector;
  }

  /** The log as another process has it, which reads from the database what this one has in memory. */
  const anotherLog = () => openLog(pool, keyring);
  const head = async () => (await pool.query<{ position: number }>("select position from log.head")).rows[0]!.position;

  /** Resolves when every checkpoint has reached the newest event. */
  async function followed(): Promise<void> {
    const newest = await head();
    for (;;) {
      const { rows } = await pool.query<{ least: number | null }>("select min(position) as least from log.checkpoints");
      if ((rows[0]!.least ?? -1) >= newest) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async function hashes(): Promise<Record<string, string>> {
    const client = await pool.connect();
    try {
      return await hashReadModels(client);
    } finally {
      client.release();
    }
  }

  const db = asDb(pool);
  return { url, pool, db, log, anotherLog, hints, logger, organization, append, runner, head, followed, hashes };
}
export type Fixture = Awaited<ReturnType<typeof fixture>>;

export const providerConfigured = (base_url: string | null, models: string[] | null, sealed_api_key: string) =>
  ProviderConfigured.of(
    { name: "own", credential_id: newId(), base_url, models, ends_credential_id: null },
    { sealed_api_key },
  );

/** A log that all read models follow. The database has them already: to build them takes longer than most tests. */
export async function followingFixture() {
  const f = await fixture({ database: "ready" });
  const projector = f.runner();
  await projector.start();
  return { ...f, stopFollowing: () => projector.stop() };
}

/** Notes how commits of checkpoints are flushed: the settings of those that reached a position, once all is projected. */
export async function noteFlushes(f: Fixture) {
  await f.pool.query(`
    create table seen (position bigint, setting text);
    create function note() returns trigger language plpgsql as $$ begin
      insert into public.seen values (new.position, current_setting('synchronous_commit'));
      return new;
    end $$;
    create trigger note before update on log.checkpoints for each row execute function note()`);
  return async (position: number): Promise<string[]> => {
    await f.followed();
    const { rows } = await f.pool.query("select distinct setting from seen where position = $1", [position]);
    return rows.map((row) => row.setting);
  };
}

export const said = (text: string) => ({ text, reasoning: "", citations: [] });
export const message = (text: string): Message => ({ role: "user", text, attachments: [] });

export const turnStarted = (turn_id: string, messages: Message[], scope = "scope", prompt: Partial<Prompt> = {}) =>
  TurnStarted.of(
    {
      turn_id,
      scope,
      model: "offline/echo",
      streamed: false,
      ends_by: "2030-01-01T00:00:00.000Z",
      worker: null,
      command_id: "c".repeat(64),
    },
    { input: { prompt: { ...promptOf(messages), ...prompt } } },
  );
export const turnCompleted = (turn_id: string, text: string) =>
  TurnCompleted.of(
    { turn_id, attempt: 1, finish_reason: "stop", usage: NO_USAGE, model: "offline/echo" },
    { said: said(text) },
  );

export const keyCreated = (key_id: string, key_hash: string, name = "a key") =>
  KeyCreated.of(
    {
      key_id,
      key_hash,
      key_hint: "abcd",
      project_id: null,
      products: ["knowledge"],
      expires_at: null,
      enabled: true,
      allowed_models: null,
    },
    { name },
  );

export const fileUploaded = (file_id: string, filename: string) =>
  FileUploaded.of(
    { file_id, bytes: 3, mime_type: "text/plain", blob: `blob/${file_id}`, scope: "scope" },
    { filename, purpose: "assistants", sha256: "00" },
  );

/** Appends the events of one thing's life: a completed, refused or deleted turn, a key or a file, chosen by `n`. */
export async function live({ append }: Fixture, n: number): Promise<void> {
  const id = newId();
  const thread = streamName("thread", newId());
  switch (n % 5) {
    case 0:
      await append(thread, [turnStarted(id, [message(`question ${n}`)])]);
      return void (await append(thread, [turnCompleted(id, `answer ${n}`)]));
    case 1:
      await append(thread, [turnStarted(id, [message(`refused ${n}`)])]);
      return void (await append(thread, [TurnRefused.of({ turn_id: id, attempt: 1, code: null })], {
        things: [streamName("turn", id)],
      }));
    case 2:
      await append(thread, [turnStarted(id, [message(`deleted ${n}`)]), turnCompleted(id, "gone")]);
      return void (await append(thread, [ThreadDeleted.of({})], { streams: [thread] }));
    case 3: {
      const key = streamName("key", id);
      await append(key, [keyCreated(id, `hash ${n}`)]);
      await append(key, [KeyChanged.of({ key_id: id, enabled: false }, { name: `renamed ${n}` })]);
      if (n % 2 === 0) await append(key, [KeyDeleted.of({ key_id: id })], { things: [key] });
      return;
    }
    default: {
      const file = streamName("file", id);
      await append(file, [fileUploaded(id, `file ${n}.txt`)]);
      if (n % 2 === 0) await append(file, [FileDeleted.of({ file_id: id })], { things: [file] });
    }
  }
}
