import type pg from "pg";
import type { AppendResult } from "#events/ports.ts";
import { binaryArray } from "./binaryArray.ts";
import type { EncodedAppend, EncodedEvent } from "./encode.ts";

type Head = EncodedAppend["heads"][number];

/** The rows of a batch of commands that are expected to be new. Indexes count from 1, as in PostgreSQL's arrays. */
interface Batch {
  /** The index of each command's last event; 0 if it has none. */
  lasts: number[];
  events: EncodedEvent[];
  /** The index of each event's command. */
  commands: number[];
  heads: Head[];
  /** The index of the last event of each head's stream. */
  headEvents: number[];
  /** The version of each head's stream before these events. */
  befores: number[];
}

interface StreamEnd {
  before: number;
  event: number;
  version: number;
  command: number;
  head?: Head;
}

const call = (name: string, parameters: number): string =>
  `select base, at from log.${name}(${Array.from({ length: parameters }, (_, n) => `$${n + 1}`).join(", ")})`;
const PLAIN = { name: "append new", text: call("append_new", 25) };
const ERASING = { name: "append new erasing", text: call("append_new_erasing", 27) };

/** Whether the command needs `log.append` or `log.append_unchanged`. */
export const requiresLogAppend = ({ forgotten, unchanged }: EncodedAppend): boolean =>
  forgotten.length > 0 || unchanged.length > 0;

/** Arranges the rows. Undefined if versions are not consecutive, or if a stream's last events come without its head. */
function arrange(batch: EncodedAppend[]): Batch | undefined {
  const rows: Batch = { lasts: [], events: [], commands: [], heads: [], headEvents: [], befores: [] };
  const ends = new Map<string, StreamEnd>();
  for (const [n, { events, heads }] of batch.entries()) {
    for (const event of events) {
      rows.events.push(event);
      rows.commands.push(n + 1);
      const end = ends.get(event.stream);
      if (end && event.version !== end.version + 1) return undefined;
      const before = end?.before ?? event.version - 1;
      ends.set(event.stream, { before, event: rows.events.length, version: event.version, command: n });
    }
    rows.lasts.push(events.length > 0 ? rows.events.length : 0);
    for (const head of heads) {
      const end = ends.get(head.stream);
      if (end?.command === n) end.head = head;
    }
  }
  for (const { head, event, before } of ends.values()) {
    if (!head) return undefined;
    rows.heads.push(head);
    rows.headEvents.push(event);
    rows.befores.push(before);
  }
  return rows;
}

function parametersFor(batch: EncodedAppend[], rows: Batch): Buffer[] {
  const commands = batch.map(({ command }) => command);
  const keys = batch.flatMap((one) => one.keys);
  const text = <T>(items: T[], value: (item: T) => string | null) => binaryArray("text", items.map(value));
  const integers = (values: number[]) => binaryArray("integer", values);
  const { events, heads } = rows;
  return [
    text(commands, ({ command_id }) => command_id),
    text(commands, ({ organization_id }) => organization_id),
    text(commands, ({ meta }) => meta),
    text(commands, ({ fingerprint }) => fingerprint),
    text(commands, ({ http }) => http),
    text(commands, ({ rejection }) => rejection),
    integers(rows.lasts),
    integers(rows.commands),
    text(events, ({ stream }) => stream),
    integers(events.map(({ version }) => version)),
    text(events, ({ type }) => type),
    integers(events.map(({ shape }) => shape)),
    text(events, ({ data }) => data),
    binaryArray(
      "bytea",
      events.map(({ sealed }) => sealed),
    ),
    text(events, ({ thing }) => thing),
    integers(rows.headEvents),
    integers(rows.befores),
    text(heads, ({ state }) => state),
    integers(heads.map(({ state_version }) => state_version)),
    text(heads, ({ status }) => status),
    text(heads, ({ due_at }) => due_at),
    text(heads, ({ worker }) => worker),
    text(keys, ({ thing }) => thing),
    text(keys, ({ stream }) => stream),
    text(keys, ({ wrapped }) => wrapped),
  ];
}

/** The things and streams whose keys the batch destroys; undefined if there are none. */
function erasedBy(batch: EncodedAppend[]): Buffer[] | undefined {
  const erasures = batch.flatMap((one) => one.erasures);
  if (erasures.length === 0) return undefined;
  return [erasures.flatMap(({ thing }) => thing ?? []), erasures.flatMap(({ stream }) => stream ?? [])].map((names) =>
    binaryArray("text", names),
  );
}

/**
 * Appends commands that are all new and free of conflicts (docs/adr/0025-appends-are-optimistic.md). Otherwise writes nothing and
 * returns undefined.
 */
export async function appendNew(pool: pg.Pool, batch: EncodedAppend[]): Promise<AppendResult[] | undefined> {
  if (batch.some(requiresLogAppend)) return undefined;
  const rows = arrange(batch);
  if (!rows) return undefined;
  const erased = erasedBy(batch);
  const { rows: answers } = await pool.query<{ base: number; at: Date }>({
    ...(erased ? ERASING : PLAIN),
    values: [...parametersFor(batch, rows), ...(erased ?? [])],
  });
  const answer = answers[0];
  if (!answer) return undefined;
  const { base, at } = answer;
  return batch.map(({ events }, n) => {
    const last = rows.lasts[n]!;
    return last === 0
      ? { kind: "committed", first: 0, last: 0, at }
      : { kind: "committed", first: base + last - events.length + 1, last: base + last, at };
  });
}
