import type { EventFrom, NewEvent } from "#events/define.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { eventDefinitions } from "#events/index.ts";
import type { InheritedCall } from "#events/inheritedCalls.ts";
import type { EventLog } from "#events/ports.ts";
import { createPause } from "#events/slices.ts";
import { AdvanceRun, type RunCreated } from "#events/run.ts";
import type { StoredValue } from "#events/runParts.ts";
import { createFold, type Fold } from "../deciders/records.ts";
import type { CommittedCommand } from "../handle.ts";
import type { VaultDeps } from "../thingBlobs.ts";
import type { CommandTarget } from "../send.ts";
import { emptyHistory, foldEvent, foldedValues, sizeOfRun, type History, type ReadJson } from "./history.ts";
import { NoRoom, type RunRoom } from "./runMemory.ts";
import { lengthOf, openValues, RunGone, type Values } from "./values.ts";

/** A run in memory: the recorded events, followed by events applied optimistically before they are recorded. */
export interface OpenRun {
  history: History;
  values: Values;
  /** Folds events that this process is about to record. */
  applyOptimistically(events: NewEvent[], readJson: ReadJson): void;
  /** The version up to which the history equals the log. */
  recorded(): number;
  /**
   * Announces the append in flight. If a command of the type `carrier` commits exactly recorded..version, the optimistic fold already
   * matches and needs no reload.
   */
  expectCommit(version: number, carrier?: string): void;
  /** Handles a commit of this process by a command of this type. */
  commit(commandType: string, handled: Pick<CommittedCommand, "events" | "version">): void;
  /** Whether the log has events that are not folded. */
  isBehind(): boolean;
  /** Reads and folds the missing events. Throws RunGone. */
  catchUp(): Promise<void>;
  /** Folds the log from its start and drops all optimistic events. Throws RunGone. */
  reload(): Promise<void>;
}

type Deps = VaultDeps & { log: Pick<EventLog, "pages"> };
type CreatedEvent = EventFrom<typeof RunCreated>;

const readInline = (value: StoredValue): string => {
  if ("json" in value) return value.json;
  throw new Error("the value is in a blob, which was not read");
};

/** How far the recorded part of a history reaches, and whether the log has more. */
interface Position {
  recorded: number;
  isBehind: boolean;
  expected: { from: number; to: number; carrier: string } | undefined;
}

/** Whether the event shows that the run was destroyed: it says so, or has lost its content, which goes with the same commit. */
function isGone({ type, data, personal }: RecordedEvent, stream: string): boolean {
  const definition = personal === undefined ? eventDefinitions.get(type) : undefined;
  return type === "RunForgotten" || (definition?.personal !== undefined && definition.thing?.(data) === stream);
}

type Fits = RunRoom["fits"];
function requireRoom(fits: Fits | undefined, size: number): void {
  if (fits && !fits(size)) throw new NoRoom("The open runs of this organization hold too much at once.");
}

/** Folds events of the log into a history. Concurrent `catchUp` calls share one read. */
function createReader({ log }: Deps, history: History, values: Values, position: Position) {
  let catching: Promise<void> | undefined;

  /**
   * In slices: a run may have 70,000 events. `own`: the fold of a history that nobody else has. Throws NoRoom before it reads a value
   * that does not fit.
   */
  async function foldAll(events: RecordedEvent[], own?: Fold, fits?: Fits): Promise<void> {
    const pause = createPause();
    // others may keep the state of each slice, but not those within it
    let fold = own ?? createFold();
    for (const event of events) {
      const turn = pause();
      if (turn) await turn;
      if (isGone(event, history.stream)) throw new RunGone(`${history.stream} was destroyed`);
      const [value] = event.personal === undefined ? [] : foldedValues(event);
      if (value) requireRoom(fits, sizeOfRun(history) + lengthOf(value));
      const isStored = value !== undefined && "blob" in value;
      const json = isStored ? await values.json(value) : value?.json;
      if (turn || isStored) fold = own ?? createFold();
      // A commit of this process may already have folded the event.
      if (event.version === history.version + 1) fold(() => foldEvent(history, event, () => json ?? ""));
      requireRoom(fits, sizeOfRun(history));
    }
    position.recorded = history.version;
  }

  /** Page by page: a run may have a hundred megabytes. */
  async function read(): Promise<void> {
    do {
      position.isBehind = false;
      for await (const { events } of log.pages(history.stream, history.version + 1)) await foldAll(events);
      // without a page, too: what was applied optimistically is in the log
      position.recorded = history.version;
    } while (position.isBehind);
  }

  return {
    foldAll,
    current: () => catching,
    catchUp: (): Promise<void> =>
      (catching ??= read()
        .catch((error: unknown) => {
          position.isBehind = true;
          throw error;
        })
        .finally(() => (catching = undefined))),
  };
}

/** One chunk after the other, because together they may have 32 MiB. */
async function readInherited(values: Values, chunks: StoredValue[] = []): Promise<InheritedCall[]> {
  const calls: InheritedCall[] = [];
  for (const chunk of chunks)
    for (const call of JSON.parse(await values.json(chunk)) as InheritedCall[]) calls.push(call);
  return calls;
}

/** The run before its first event, and the function that folds its events, which the caller may use until it returns the run. */
interface UnreadRun {
  run: OpenRun;
  foldAll(events: RecordedEvent[], own: Fold, fits?: Fits): Promise<void>;
}

async function open(
  deps: Deps,
  target: CommandTarget,
  created: CreatedEvent,
  creation?: Promise<void>,
): Promise<UnreadRun> {
  if (!created.personal) throw new RunGone(`${target.stream} was destroyed`);
  const values = openValues(deps, target, creation);
  const args = await values.json(created.personal.args);
  const inherited = await readInherited(values, created.personal.inherited);
  const history = emptyHistory(target, created, args, inherited);
  const position: Position = { recorded: 0, isBehind: false, expected: undefined };
  const reader = createReader(deps, history, values, position);
  const run: OpenRun = {
    history,
    values,
    recorded: () => position.recorded,
    isBehind: () => position.isBehind,
    catchUp: reader.catchUp,
    applyOptimistically(events, readJson) {
      const fold = createFold();
      for (const event of events) fold(() => foldEvent(history, event, readJson));
    },
    expectCommit(version, carrier = AdvanceRun.type) {
      position.expected = { from: position.recorded, to: version, carrier };
    },
    commit(commandType, { events: committed, version }) {
      const { expected } = position;
      let events = committed;
      if (version <= position.recorded) return;
      // Optimistic events after the expected ones are based on them, so they stay valid.
      if (commandType === expected?.carrier && version - events.length === expected.from && version >= expected.to) {
        position.recorded = expected.to;
        events = events.slice(expected.to - expected.from);
        if (events.length === 0) return;
      }
      const { recorded } = position;
      const from = version - events.length;
      const hasBlobs = events.some((event) => foldedValues(event).some((value) => "blob" in value));
      if (reader.current() || hasBlobs || from !== recorded || recorded !== history.version)
        return void (position.isBehind = true);
      const fold = createFold();
      for (const event of events) fold(() => foldEvent(history, event, readInline));
      position.recorded = version;
    },
    async reload() {
      await reader.current()?.catch(() => {});
      Object.assign(history, emptyHistory(target, created, args, inherited));
      Object.assign(position, { recorded: 0, expected: undefined });
      await reader.catchUp();
    },
  };
  return { run, foldAll: reader.foldAll };
}

/** Opens a run from the event that is about to create it. `creation` resolves when the creation has succeeded or failed. */
export async function fromCreated(
  deps: Deps,
  target: CommandTarget,
  created: CreatedEvent,
  creation: Promise<void>,
): Promise<OpenRun> {
  const { run } = await open(deps, target, created, creation);
  run.applyOptimistically([created], readInline);
  return run;
}

const sizeOfInput = ({ personal }: CreatedEvent): number =>
  personal ? [personal.args, ...(personal.inherited ?? [])].reduce((size, value) => size + lengthOf(value), 0) : 0;

/** Opens a run from the log, page by page. Throws RunGone, and NoRoom if it does not fit. */
export async function fromLog(deps: Deps, target: CommandTarget, fits?: Fits): Promise<OpenRun> {
  const own = createFold();
  let opened: UnreadRun | undefined;
  for await (const { events } of deps.log.pages(target.stream)) {
    const [first] = events as [RecordedEvent<CreatedEvent>];
    if (!opened) requireRoom(fits, sizeOfInput(first));
    opened ??= await open(deps, target, first);
    await opened.foldAll(events, own, fits);
  }
  if (!opened) throw new RunGone(`${target.stream} has no event`);
  return opened.run;
}
