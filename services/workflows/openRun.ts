import type { Recorded } from "#events/envelope.ts";
import type { EventFrom } from "#events/language.ts";
import type { EventLog } from "#events/ports.ts";
import type { RunCreated, Value } from "#events/run.ts";
import type { Handled } from "../handle.ts";
import type { SealedDeps } from "../sealed.ts";
import type { Target } from "../send.ts";
import { begin, fold, valuesIn, type History } from "./history.ts";
import { RunGone, valuesOf, type Values } from "./values.ts";

/** A run as a coordinator holds it. */
export interface OpenRun {
  history: History;
  values: Values;
  /** Takes in what was committed by this process. */
  commit(handled: Pick<Handled, "events" | "version">): void;
  /** Version on which the last commit of this process stood. */
  stoodOn(): number;
  /** Others have told the run something that is not folded in. */
  isBehind(): boolean;
  /** Reads and folds in what the log says beyond what is known. Throws RunGone. */
  catchUp(): Promise<void>;
}

type Deps = SealedDeps & { log: Pick<EventLog, "read"> };
type Created = EventFrom<typeof RunCreated>;

const INLINE = (value: Value): string => {
  if ("json" in value) return value.json;
  throw new Error("a value in a blob was not opened");
};

async function foldAll(history: History, values: Values, events: Recorded[]): Promise<void> {
  for (const event of events) {
    if (event.version !== history.version + 1) continue;
    const [value] = event.personal === undefined ? [] : valuesIn(event);
    const json = value === undefined ? "" : await values.json(value);
    // others may have folded it in meanwhile
    if (event.version === history.version + 1) fold(history, event, () => json);
  }
}

async function opened(deps: Deps, target: Target, created: Created): Promise<OpenRun> {
  if (!created.personal) throw new RunGone(`${target.stream} was destroyed`);
  const values = valuesOf(deps, target);
  const history = begin(target, created, await values.json(created.personal.args));
  let behind = false;
  let base = 0;
  let catching: Promise<void> | undefined;

  async function read(): Promise<void> {
    do {
      behind = false;
      const events = await deps.log.read(target.stream, history.version + 1);
      if (events.some(({ type }) => type === "RunForgotten")) throw new RunGone(`${target.stream} was destroyed`);
      await foldAll(history, values, events);
    } while (behind);
  }

  return {
    history,
    values,
    stoodOn: () => base,
    isBehind: () => behind,
    commit({ events, version }) {
      if (version <= history.version) return;
      base = version - events.length;
      // what lies in a blob is known already where this process has put it there
      const isClosed = events.some(
        (event) =>
          valuesIn(event).some((value) => "blob" in value) && !history.known.has((event.data as { key: string }).key),
      );
      if (catching || isClosed || version - events.length !== history.version) return void (behind = true);
      const json = (value: Value) => ("json" in value ? value.json : undefined);
      for (const event of events) fold(history, event, json);
    },
    catchUp: () =>
      (catching ??= read()
        .catch((error: unknown) => {
          behind = true;
          throw error;
        })
        .finally(() => (catching = undefined))),
  };
}

/** From the event that this process has just committed. */
export async function fromCreated(deps: Deps, target: Target, created: Created): Promise<OpenRun> {
  const run = await opened(deps, target, created);
  if (run.history.version === 0) fold(run.history, created, INLINE);
  return run;
}

/** From the log. Throws RunGone. */
export async function fromLog(deps: Deps, target: Target): Promise<OpenRun> {
  const events = await deps.log.read(target.stream);
  const [created] = events;
  if (!created) throw new RunGone(`${target.stream} has no event`);
  const run = await opened(deps, target, created as Recorded<Created>);
  await foldAll(run.history, run.values, events);
  return run;
}
