import { asAppend } from "./appendNew.ts";
import { commandKey, planAppend, type StreamRow, type Tables } from "./append.ts";
import { START, type World } from "./world.ts";

const LEASE_MS = 10_000;

export interface Query {
  name?: string;
  text: string;
  values?: unknown[];
}

/** Defects of a database; each is one of the planted bugs. */
export interface Flaws {
  /** Keeps no outcome rows. */
  forgetsOutcomes?: boolean;
  /** Assigns positions before the commit, so that later commits appear at positions that readers have passed. */
  commitsLate?: boolean;
}

export type Database = ReturnType<typeof createDatabase>;

/** The events that a follower of the log has seen, and its position. */
export interface Checkpoint {
  position: number;
  seen: number[];
}

/** The deployment's database, in memory. Executes the product's own statements, each atomically. */
export function createDatabase(world: World, flaws: Flaws = {}) {
  const tables: Tables = { events: [], commands: new Map(), streams: new Map(), keys: new Map() };
  const workers = new Map<string, number>();
  const visible: number[] = [];
  const checkpoint: Checkpoint = { position: 0, seen: [] };
  let relayed = 0;

  const now = () => START + world.now();
  const headRow = (row: StreamRow) => ({ ...row, due_at: row.due_at === null ? null : new Date(row.due_at) });
  const shown = (position: number) => (visible[position - 1] ?? 0) <= world.now();
  const withKeys = (events: Tables["events"]) =>
    events.map((event) => ({ ...event, wrapped: (event.thing && tables.keys.get(event.thing)?.wrapped) || null }));

  function write(plan: ReturnType<typeof planAppend>): void {
    plan.write();
    if (flaws.forgetsOutcomes) tables.commands.clear();
    if (flaws.commitsLate) {
      const at = world.now() + world.random.int(0, 400);
      while (visible.length < tables.events.length) visible.push(at);
    }
  }

  function append(values: string[]): unknown[] {
    const plan = planAppend(tables, values, new Date(now()));
    write(plan);
    return plan.rows;
  }

  function appendUnchanged([unchanged, ...values]: string[]): unknown[] {
    const expected = JSON.parse(unchanged!) as Pick<StreamRow, "stream" | "version">[];
    const isStale = expected.some(({ stream, version }) => (tables.streams.get(stream)?.version ?? 0) !== version);
    if (!isStale) return append(values);
    return (JSON.parse(values[0]!) as { n: number }[]).map(({ n }) => ({ n, kind: "conflict" }));
  }

  function appendNew(values: Buffer[]): unknown[] {
    const [base, at] = [tables.events.length, new Date(now())];
    const plan = planAppend(tables, asAppend(values), at);
    if (plan.rows.some(({ kind }) => kind !== "committed")) return [];
    write(plan);
    return [{ base, at }];
  }

  function openWork(worker: string, due: Date, limit: number) {
    const lost = (name: string) => now() - (workers.get(name) ?? -Infinity) > LEASE_MS;
    return [...tables.streams.values()]
      .filter((row) => row.status !== null)
      .filter((row) => row.worker === null || row.worker === worker || lost(row.worker) || new Date(row.due_at!) < due)
      .sort((a, b) => Date.parse(a.due_at!) - Date.parse(b.due_at!))
      .slice(0, limit)
      .map(headRow);
  }

  function nextDue(after: Date) {
    const times = [...tables.streams.values()]
      .filter((row) => row.status !== null && row.due_at !== null && new Date(row.due_at) > after)
      .map((row) => Date.parse(row.due_at!));
    return [{ due_at: times.length > 0 ? new Date(Math.min(...times)) : null }];
  }

  /** The statements, each recognized by a part that no other one has. */
  const statements: [RegExp, (...values: any[]) => unknown[]][] = [
    [/from log\.append\(/, (...values) => append(values)],
    [/from log\.append_unchanged\(/, (...values) => appendUnchanged(values)],
    [/from log\.append_new(_erasing)?\(/, (...values) => appendNew(values)],
    [/into ops\.workers/, (worker: string) => [workers.set(worker, now())]],
    [/join living/, openWork],
    [/min\(due_at\)/, nextDue],
    [/ as died/, (worker: string) => [{ died: now() - (workers.get(worker) ?? Infinity) > LEASE_MS }]],
    [
      /from log\.streams where stream = any/,
      (streams: string[]) => streams.flatMap((stream) => tables.streams.get(stream) ?? []).map(headRow),
    ],
    [
      /from log\.keys where thing = any/,
      (things: string[]) =>
        things.flatMap((thing) => (tables.keys.has(thing) ? [{ thing, ...tables.keys.get(thing) }] : [])),
    ],
    [
      /join log\.commands c using/,
      (ids: string[], organizations: string[]) =>
        ids.flatMap((command_id, n) => {
          const row = tables.commands.get(commandKey(command_id, organizations[n]!));
          return row ? [{ command_id, organization_id: organizations[n]!, ...row }] : [];
        }),
    ],
    [
      /with newest as/,
      (stream: string, before: number, types: string[], limit: number) =>
        withKeys(
          tables.events
            .filter((event) => event.stream === stream && event.version < before && types.includes(event.type))
            .slice(-limit),
        ),
    ],
    [
      /^\s*with found as \(select \* from log\.events where stream/,
      (stream: string, from: number) => {
        const all = tables.events.filter((event) => event.stream === stream);
        const page = withKeys(all.filter((event) => event.version >= from));
        return page.map((row) => ({ ...row, bytes: 0, newest: all.at(-1)?.version ?? null }));
      },
    ],
    [
      /where e\.position > \$1/,
      (after: number, limit: number) =>
        withKeys(
          tables.events
            .slice(after)
            .filter(({ position }) => shown(position))
            .slice(0, limit),
        ),
    ],
    [
      /type = any\(\$2\)/,
      (after: number, types: string[], limit: number) => {
        const head = tables.events.length;
        const found = tables.events
          .slice(after)
          .filter(({ type }) => types.includes(type))
          .slice(0, limit);
        return found.length > 0 ? found.map((event) => ({ head, ...event })) : [{ head, position: null }];
      },
    ],
    [/from log\.head/, () => [{ position: tables.events.length }]],
    [/select position from log\.checkpoints/, () => [{ position: relayed }]],
    [/into log\.checkpoints/, (_name: string, position: number) => [(relayed = Math.max(relayed, position))]],
    [/^where is the follower/, () => [{ position: checkpoint.position }]],
    [
      /^move the follower/,
      (from: number, to: number, seen: number[]) => {
        if (checkpoint.position !== from) return [];
        checkpoint.position = to;
        checkpoint.seen.push(...seen);
        return [{ ok: true }];
      },
    ],
  ];

  return {
    tables,
    checkpoint,
    /** What an append would be answered now. */
    foresee: (values: string[]) => planAppend(tables, values, new Date(now())).rows,
    run({ text, values = [] }: Query): { rows: unknown[] } {
      const [, answer] = statements.find(([pattern]) => pattern.test(text)) ?? [];
      if (!answer) throw new Error(`the simulated database does not know: ${text}`);
      // copies the rows, as a real connection does
      return { rows: structuredClone(answer(...values)) };
    },
  };
}
