import type { Recorded } from "#events/envelope.ts";
import type { EventFrom } from "#events/language.ts";
import type { EventLog } from "#events/ports.ts";
import type { NewEvent } from "#events/define.ts";
import { AdvanceRun, type RunCreated } from "#events/run.ts";
import type { Value } from "#events/runParts.ts";
import type { Handled } from "../handle.ts";
import type { SealedDeps } from "../sealed.ts";
import type { Target } from "../send.ts";
import { begin, fold, valuesIn, type History, type Json } from "./history.ts";
import { RunGone, valuesOf, type Values } from "./values.ts";

/** A run as a coordinator holds it: what the log says, and what is noted to be said next. */
export interface OpenRun {
  history: History;
  values: Values;
  /** Folds in what is about to be recorded. */
  foresee(events: NewEvent[], json: Json): void;
  /** Version up to which the history is what the log says. */
  recorded(): number;
  /** Everything up to that version is about to be sent, by a command of that type: where it is committed on what is recorded, it is what was foreseen. */
  expect(version: number, carrier?: string): void;
  /** Takes in what was committed by this process. */
  commit(command: string, handled: Pick<Handled, "events" | "version">): void;
  /** Others have told the run something that is not folded in. */
  isBehind(): boolean;
  /** Reads and folds in what the log says beyond what is known. Throws RunGone. */
  catchUp(): Promise<void>;
  /** Folds the log anew: what was foreseen has not come about. Throws RunGone. */
  reload(): Promise<void>;
}

type Deps = SealedDeps & { log: Pick<EventLog, "read"> };
type Created = EventFrom<typeof RunCreated>;

const INLINE = (value: Value): string => {
  if ("json" in value) return value.json;
  throw new Error("a value in a blob was not opened");
};

async function opened(
  deps: Deps,
  target: Target,
  created: Created,
  { known = [], creation }: { known?: Recorded[]; creation?: Promise<void> },
): Promise<OpenRun> {
  if (!created.personal) throw new RunGone(`${target.stream} was destroyed`);
  const values = valuesOf(deps, target, creation);
  const args = await values.json(created.personal.args);
  const history = begin(target, created, args);
  let recorded = 0;
  let expected: { from: number; to: number; carrier: string } | undefined;
  let behind = false;
  let catching: Promise<void> | undefined;

  async function foldAll(events: Recorded[]): Promise<void> {
    for (const event of events) {
      if (event.version !== history.version + 1) continue;
      const [value] = event.personal === undefined ? [] : valuesIn(event);
      const json = value === undefined ? "" : await values.json(value);
      // others may have folded it in meanwhile
      if (event.version === history.version + 1) fold(history, event, () => json);
    }
    recorded = history.version;
  }

  async function read(): Promise<void> {
    do {
      behind = false;
      const events = await deps.log.read(target.stream, history.version + 1);
      if (events.some(({ type }) => type === "RunForgotten")) throw new RunGone(`${target.stream} was destroyed`);
      await foldAll(events);
    } while (behind);
  }

  const catchUp = (): Promise<void> =>
    (catching ??= read()
      .catch((error: unknown) => {
        behind = true;
        throw error;
      })
      .finally(() => (catching = undefined)));

  await foldAll(known);
  return {
    history,
    values,
    recorded: () => recorded,
    isBehind: () => behind,
    catchUp,
    foresee(events, json) {
      for (const event of events) fold(history, event, json);
    },
    expect(version, carrier = AdvanceRun.type) {
      expected = { from: recorded, to: version, carrier };
    },
    commit(command, { events, version }) {
      const from = version - events.length;
      if (version <= recorded) return;
      if (command === expected?.carrier && from === expected.from && version === expected.to)
        return void (recorded = version);
      const isClosed = events.some((event) => valuesIn(event).some((value) => "blob" in value));
      if (catching || isClosed || from !== recorded || recorded !== history.version) return void (behind = true);
      for (const event of events) fold(history, event, INLINE);
      recorded = version;
    },
    async reload() {
      await catching?.catch(() => {});
      expected = undefined;
      Object.assign(history, begin(target, created, args));
      recorded = 0;
      await catchUp();
    },
  };
}

/** From the event with which it is about to be created; `creation` resolves when it is in the log, or not going to be. */
export async function fromCreated(
  deps: Deps,
  target: Target,
  created: Created,
  creation: Promise<void>,
): Promise<OpenRun> {
  const run = await opened(deps, target, created, { creation });
  run.foresee([created], INLINE);
  return run;
}

/** From the log. Throws RunGone. */
export async function fromLog(deps: Deps, target: Target): Promise<OpenRun> {
  const events = await deps.log.read(target.stream);
  const [created] = events;
  if (!created) throw new RunGone(`${target.stream} has no event`);
  return opened(deps, target, created as Recorded<Created>, { known: events });
}
