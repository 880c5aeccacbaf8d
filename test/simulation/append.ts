import type { EventRow } from "#infra/postgres/decode.ts";

/* The semantics of the SQL function log.append on tables in memory. */

export interface StreamRow {
  stream: string;
  organization_id: string;
  version: number;
  position: number;
  state: string;
  state_version: number;
  status: string | null;
  due_at: string | null;
  worker: string | null;
}

export interface CommandRow {
  position: number;
  fingerprint: string | null;
  rejection: string | null;
}

export interface Tables {
  /** Position n is at n - 1. */
  events: Omit<EventRow, "wrapped">[];
  commands: Map<string, CommandRow>;
  streams: Map<string, StreamRow>;
  keys: Map<string, { stream: string; wrapped: string }>;
}

interface NewCommand {
  n: number;
  command_id: string;
  organization_id: string;
  meta: string;
  fingerprint: string | null;
  rejection: string | null;
}
type Of<T> = T & { command: number };
type NewEvent = Of<
  Pick<EventRow, "stream" | "version" | "type" | "shape" | "data" | "thing"> & { sealed: string | null }
>;

interface Parameters {
  commands: NewCommand[];
  events: NewEvent[];
  heads: Of<Omit<StreamRow, "organization_id" | "version" | "position">>[];
  keys: Of<{ thing: string; stream: string; wrapped: string }>[];
  erasures: Of<{ thing?: string; stream?: string }>[];
  forgotten: Of<{ command_id: string }>[];
}

export const commandKey = (id: string, organization: string) => `${id} ${organization}`;
const keyOf = ({ command_id, organization_id }: NewCommand) => commandKey(command_id, organization_id);

function parse(values: string[]): Parameters {
  const [commands, events, heads, keys, erasures, forgotten] = values.map((value) => JSON.parse(value));
  return { commands, events, heads, keys, erasures, forgotten };
}

/** Commands whose version does not follow, whose thing already has a key, or that occur twice. */
function refusedOf(tables: Tables, { commands, events, keys }: Parameters, known: Set<number>): Set<number> {
  const ids = new Set<string>();
  const refused = new Set<number>();
  for (const command of commands) {
    if (ids.has(keyOf(command))) refused.add(command.n);
    ids.add(keyOf(command));
  }
  for (const { command, thing } of keys) if (!known.has(command) && tables.keys.has(thing)) refused.add(command);
  for (;;) {
    const next = new Map<string, number>();
    const failing = new Map<string, number>();
    for (const { command, stream, version } of events) {
      if (known.has(command) || refused.has(command)) continue;
      const due = next.get(stream) ?? (tables.streams.get(stream)?.version ?? 0) + 1;
      next.set(stream, due + 1);
      if (version !== due) failing.set(stream, Math.min(command, failing.get(stream) ?? command));
    }
    if (failing.size === 0) return refused;
    for (const command of failing.values()) refused.add(command);
  }
}

/** The outcome of an append: the rows that answer it, and the write, which must come before any other. */
export function planAppend(tables: Tables, values: string[], at: Date): { rows: { kind: string }[]; write(): void } {
  const given = parse(values);
  const stored = new Map(given.commands.map((command) => [command.n, tables.commands.get(keyOf(command))]));
  const known = new Set(given.commands.filter(({ n }) => stored.get(n)).map(({ n }) => n));
  const refused = refusedOf(tables, given, known);
  const taken = ({ command }: { command: number }) => !known.has(command) && !refused.has(command);
  const placed = given.events.filter(taken).map((event, n) => ({ ...event, position: tables.events.length + n + 1 }));
  const span = (n: number) => placed.filter(({ command }) => command === n).map(({ position }) => position);

  const rows = given.commands.map(({ n }) => {
    const old = stored.get(n);
    if (old)
      return {
        n,
        kind: "repeated",
        stored_position: old.position,
        stored_fingerprint: old.fingerprint,
        stored_rejection: old.rejection,
      };
    if (refused.has(n)) return { n, kind: "conflict" };
    return { n, kind: "committed", first: span(n)[0] ?? null, last: span(n).at(-1) ?? null, at };
  });
  return { rows, write: () => write(tables, given, placed, taken, at) };
}

function write(
  tables: Tables,
  given: Parameters,
  placed: (NewEvent & { position: number })[],
  taken: (item: { command: number }) => boolean,
  recorded_at: Date,
): void {
  const byNumber = new Map(given.commands.map((command) => [command.n, command]));
  for (const { command, sealed, ...event } of placed) {
    const { organization_id, command_id, meta } = byNumber.get(command)!;
    const bytes = sealed === null ? null : Buffer.from(sealed, "base64");
    tables.events.push({ ...event, sealed: bytes, organization_id, command_id, meta, recorded_at });
  }
  for (const command of given.commands) {
    if (!taken({ command: command.n })) continue;
    const position = placed.findLast((event) => event.command === command.n)?.position ?? 0;
    const { fingerprint, rejection } = command;
    tables.commands.set(keyOf(command), { position, fingerprint, rejection });
  }
  for (const { command, ...head } of given.heads) {
    const newest = placed.findLast((event) => event.command === command && event.stream === head.stream);
    if (!newest) continue;
    const { version, position } = newest;
    const { organization_id } = byNumber.get(command)!;
    tables.streams.set(head.stream, { ...head, organization_id, version, position });
  }
  for (const key of given.keys.filter(taken)) tables.keys.set(key.thing, { stream: key.stream, wrapped: key.wrapped });
  for (const erased of given.erasures.filter(taken))
    for (const [thing, { stream }] of tables.keys)
      if (thing === erased.thing || stream === erased.stream) tables.keys.delete(thing);
  for (const { command, command_id } of given.forgotten.filter(taken))
    tables.commands.delete(commandKey(command_id, byNumber.get(command)!.organization_id));
}
