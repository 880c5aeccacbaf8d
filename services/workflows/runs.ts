import type { z } from "zod";
import type { Command } from "#events/envelope.ts";
import { DecideApproval, ForgetRun, StartRun, TakeRun, type RunEvent } from "#events/run.ts";
import { partsOf, streamOf } from "#events/ids.ts";
import type { EventFrom } from "#events/language.ts";
import type { RunCreated } from "#events/run.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { scopeOfRun } from "#events/scope.ts";
import { DeleteThread } from "#events/thread.ts";
import { run as decider } from "../deciders/run.ts";
import { hasWork, isEnded, isLive, nextDue, type RunState } from "../deciders/runState.ts";
import type { Handled } from "../handle.ts";
import type { SealedDeps } from "../sealed.ts";
import type { Target } from "../send.ts";
import { stateOf } from "../states.ts";
import { drive, type Drive, type DriveDeps } from "./drive.ts";
import { fromCreated, fromLog, type OpenRun } from "./openRun.ts";
import { RunGone } from "./values.ts";

/** Runs that one process works on at once; what comes on top waits for another worker or for the sweep. */
const ROOM = 1_000;
/** What one organization may have of it. */
const SHARE = ROOM / 2;
/** What a run comes to so soon is recorded with its creation: a small first tick takes 1 ms where it is quiet, and 10 on a full machine. */
const MOMENT_MS = 20;
/** Runs that wait and are kept at hand, so that a decision finds them folded. */
const AT_HAND = 1_000;

export interface RunsDeps extends SealedDeps, Omit<DriveDeps, "log"> {
  log: Pick<EventLog, "heads" | "read" | "alive">;
  /** Threads that steps of a run have begun; undefined as long as the read model has not passed the position. */
  threadsOf(organization: string, run_id: string, position: number): Promise<string[] | undefined>;
}

type Created = EventFrom<typeof RunCreated>;

interface Active {
  organization_id: string;
  run: OpenRun | undefined;
  drive: Drive | undefined;
  ended: Promise<void>;
}

/** The runs of this process: drives those that it holds, and takes those that nobody works on. */
export function createRuns(deps: RunsDeps) {
  const active = new Map<string, Active>();
  const atHand = new Map<string, OpenRun>();
  /** Runs of this process that the last sweep saw before they were known to be driven here. */
  const suspects = new Set<string>();
  const shares = new Map<string, number>();
  let stopped = false;

  const count = (organization: string, more: number): void => {
    const left = (shares.get(organization) ?? 0) + more;
    if (left > 0) shares.set(organization, left);
    else shares.delete(organization);
  };

  function keep(run: OpenRun): void {
    const { stream, state, created, version } = run.history;
    atHand.delete(stream);
    if (!isLive(state) || version !== run.recorded()) return deps.runner.forget(created.run_id);
    atHand.set(stream, run);
    if (atHand.size <= AT_HAND) return;
    const [oldest] = atHand;
    atHand.delete(oldest![0]);
    deps.runner.forget(oldest![1].history.created.run_id);
  }

  /** `version`: what its stream has come to. */
  async function open(target: Target, version: number): Promise<OpenRun> {
    const known = atHand.get(target.stream);
    if (!known) return fromLog(deps, target);
    if (known.isBehind() || known.recorded() < version) await known.catchUp();
    return known;
  }
  /** Drives a run that this process holds, unless it does so already; one that is being created is open already. */
  function start(target: Target, version: number, run?: OpenRun, creation?: Promise<void>): Active | undefined {
    const { stream, organization_id } = target;
    if (stopped || active.has(stream)) return undefined;
    count(organization_id, 1);
    const one: Active = { organization_id, run: undefined, drive: undefined, ended: Promise.resolve() };
    active.set(stream, one);
    const work = async () => {
      one.run = run ?? (await open(target, version));
      one.drive = drive(deps, one.run, creation);
      await one.drive.ended;
      keep(one.run);
    };
    one.ended = work()
      .catch((error: unknown) => {
        atHand.delete(stream);
        if (!(error instanceof RunGone)) deps.onError(error, stream);
      })
      .finally(() => {
        active.delete(stream);
        count(organization_id, -1);
      });
    return one;
  }

  /** Destroys a run whose time has come, with the threads that its steps have begun. */
  async function forget(head: StreamHead, run_id: string): Promise<void> {
    const threads = await deps.threadsOf(head.organization_id, run_id, head.position);
    if (!threads) return;
    const scope = scopeOfRun(run_id);
    for (const id of threads)
      await deps.send({ ...head, stream: streamOf("thread", id) }, DeleteThread.type, { scope });
    await deps.send(head, ForgetRun.type, { run_id });
  }

  /** A run as its creation would have it. */
  async function created(command: Command, creation: Promise<void>): Promise<OpenRun | undefined> {
    const { slot, args } = command.data as z.infer<typeof StartRun.schema>;
    // a claim is not taken and given back in one commit
    if (slot !== null || !("json" in args)) return undefined;
    const [event] = decider.decide(command as never, decider.initial) as [Created];
    return fromCreated(deps, command, event, creation);
  }

  /** A run that rests, as the decision would have it; undefined where it does not rest, or the decision is refused. */
  async function decided(command: Command): Promise<OpenRun | undefined> {
    const { stream } = command;
    if (command.type !== DecideApproval.type || active.has(stream)) return undefined;
    try {
      const run = await open(command, 0);
      const { state } = run.history;
      if (!isLive(state) || hasWork(state) || active.has(stream)) return undefined;
      const events = decider.decide(command as never, state);
      atHand.delete(stream);
      run.foresee(events, () => "");
      return run;
    } catch {
      // refused, or gone, or the log is away: that is told by the way that every command goes
      return undefined;
    }
  }

  const room = (organization: string): boolean =>
    !stopped && active.size < ROOM && (shares.get(organization) ?? 0) < SHARE;

  return {
    room,
    /** Streams of runs that are driven here. */
    busy: (): string[] => [...active.keys()],

    /**
     * Begins with a run while its creation, or the decision that it waits for, is on its way to the log: what has come of it after
     * a moment is recorded in the same commit. Undefined for every other command. `over` is to be called when it is known what
     * has become of the command.
     */
    async begin(command: Command): Promise<{ command: Command; over(): void } | undefined> {
      if (command.worker !== deps.worker) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      const isStart = command.type === StartRun.type;
      const run = isStart ? await created(command, promise) : await decided(command);
      const seen = isStart ? undefined : run?.history.version;
      const driven = run && start(command, 0, run, promise)?.drive;
      if (!driven) return undefined;
      await Promise.race([driven.wanted, new Promise((ended) => setTimeout(ended, MOMENT_MS))]);
      const parts = driven.handOver(command.type);
      const data = { ...(command.data as object), ...(seen !== undefined && { seen }), parts };
      return { command: { ...command, data }, over: resolve };
    },

    /** What this process does with what it has just committed. */
    afterCommit({ command, events, version }: Handled): void {
      const { stream, organization_id } = command;
      if (partsOf(stream).aggregate !== "run") return;
      const one = active.get(stream);
      (one?.run ?? atHand.get(stream))?.commit(command.type, { events, version });
      if (one) return one.drive?.wake();
      const target = { stream, organization_id };
      for (const event of events as RunEvent[]) {
        if (event.type === "RunCreated" && event.data.worker === deps.worker) start(target, version);
        if (event.type === "RunTaken" && event.data.worker === deps.worker) start(target, version);
        if (event.type === "ApprovalDecided" && event.data.worker === deps.worker) start(target, version);
      }
    },

    /** Makes sure that a run moves: nothing to do, taken over where there is room, or destroyed when its time has come. */
    async attend(head: StreamHead): Promise<void> {
      const { stream } = head;
      const { state }: { state: RunState } = await stateOf(deps.log, head, decider);
      if (active.has(stream) || !(isLive(state) || isEnded(state))) return;
      const run_id = partsOf(stream).id;
      const now = Date.now();
      if (isEnded(state) && Date.parse(state.forget_at) <= now) return forget(head, run_id);

      const isHeld = isLive(state) ? hasWork(state) : Object.keys(state.steps).length > 0;
      const { worker, epoch } = state;
      const isOwn = worker === deps.worker;
      const lost = isHeld && worker !== null && (isOwn || !(await deps.log.alive(worker)));
      const due = isLive(state) && Date.parse(nextDue(state)) <= now;
      if (!lost && !due && !(isHeld && worker === null)) return;
      // A row can be seen before its commit's answer has come back here: act at the second sight.
      if (lost && isOwn && !suspects.delete(stream)) return void suspects.add(stream);
      if (!room(head.organization_id)) return;
      await deps.send(head, TakeRun.type, { run_id, epoch, worker: deps.worker, lost });
    },

    /** Begins nothing more; resolves when the attempts that run have ended. The rest is left to other workers. */
    async stop(): Promise<void> {
      stopped = true;
      for (const { drive: driven } of active.values()) driven?.stop();
      await Promise.all([...active.values()].map(({ ended }) => ended));
    },
  };
}
