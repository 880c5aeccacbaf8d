import type { Command, Recorded } from "#events/envelope.ts";
import { newCommandId } from "#events/ids.ts";
import type { EventLog, Frames, Speaking, StreamHead } from "#events/ports.ts";
import { withTrace } from "#events/spans.ts";
import { FailTurn, RefuseTurn, TakeOverTurn, type Said } from "#events/thread.ts";
import { traceFrom } from "#events/trace.ts";
import { thread, type ThreadState } from "../deciders/thread.ts";
import { stateOf } from "../states.ts";
import type { Handle, Handled } from "../handle.ts";
import { isStep, recordedRounds, saidIn, totalUsage, withSources, type Round } from "./round.ts";
import { turnFrom, type TurnToRun } from "./run.ts";
import type { Stepping } from "./steps.ts";
import { toldSoFar } from "./telling.ts";

/** Turns that one process runs at once; what comes on top waits for another worker or for the sweep. */
const ROOM = 1_000;
/** What one organization may have of it: its providers may hang, and others go on. */
const SHARE = ROOM / 2;
/** Workers that may lose a turn before it is given up. */
const ATTEMPTS = 3;

export interface TurnsOptions {
  log: EventLog;
  frames: Pick<Frames, "kept" | "publish">;
  worker: string;
  run(turn: TurnToRun, leaving: AbortSignal): Promise<void>;
  /** Keeps everything that readers of a response were told; the blob's key. */
  keepTold(turn: Stepping, frames: Speaking[]): Promise<string>;
  onError(error: unknown, turn: TurnToRun): void;
}

type OpenTurn = NonNullable<Extract<ThreadState, { status: "open" }>["turn"]>;

const startOf = (events: Recorded[], turn_id: string): Recorded | undefined =>
  events.find(({ type, data }) => type === "TurnStarted" && (data as { turn_id: string }).turn_id === turn_id);

interface Standing {
  said: Said;
  rounds: Round[];
  told: Speaking[];
  /** Readers have seen words of a round that is not recorded. */
  open: boolean;
}

/** The turns of this process: starts them, knows which are running, and takes over those that others lost. */
export function createTurns(options: TurnsOptions) {
  const running = new Map<string, { thread: string; ended: Promise<void> }>();
  /** Turns of this process that the last sweep saw before they were known to run here. */
  const suspects = new Set<string>();
  const leaving = new AbortController();

  /** How many each organization has of those. */
  const shares = new Map<string, number>();
  const count = (organization: string, more: number): void => {
    const left = (shares.get(organization) ?? 0) + more;
    if (left > 0) shares.set(organization, left);
    else shares.delete(organization);
  };

  const start = (turn: TurnToRun): void => {
    const key = `${turn.turn_id}/${turn.attempt}`;
    if (running.has(key)) return;
    count(turn.organization_id, 1);
    const run = options.run(turn, leaving.signal).catch((error) => options.onError(error, turn));
    const ended = run.finally(() => {
      running.delete(key);
      count(turn.organization_id, -1);
    });
    running.set(key, { thread: turn.thread, ended });
  };

  const send = (handle: Handle, head: StreamHead, type: string, data: Record<string, unknown>) =>
    handle({
      id: newCommandId(),
      type,
      stream: head.stream,
      organization_id: head.organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + 10_000).toISOString(),
      request_id: options.worker,
      data,
    } satisfies Command);

  /** Ends a turn that nobody can finish: with what was said and recorded, else as if it had not been asked. */
  async function giveUp(
    handle: Handle,
    head: StreamHead,
    turn: { id: string; attempt: number; of_agent: boolean },
    { said, rounds, told }: Standing,
    message: string,
  ) {
    const ids = { turn_id: turn.id, attempt: turn.attempt };
    const happened = said.text !== "" || said.reasoning !== "" || rounds.length > 0 || turn.of_agent;
    const usage = totalUsage(rounds);
    const { organization_id, stream: thread } = head;
    const stepping = { ...ids, organization_id, thread, request_id: options.worker };
    const kept = turn.of_agent && { frames: await options.keepTold(stepping, told) };
    const done = happened
      ? await send(handle, head, FailTurn.type, { ...ids, message, said, usage, ...kept })
      : await send(handle, head, RefuseTurn.type, { ...ids, code: null, message });
    if (done.position === 0) return;
    options.frames.publish(head.organization_id, turn.id, {
      attempt: turn.attempt,
      n: Number.MAX_SAFE_INTEGER,
      type: "end",
      position: done.position,
      end: happened ? { status: "failed", said, message, usage } : { status: "refused", code: null, message },
    });
  }

  /** What readers were told by the newest attempt that spoke. */
  async function heard(head: StreamHead, turnId: string): Promise<Speaking[]> {
    const spoken = (await options.frames.kept(head.organization_id, turnId)).filter((frame) => frame.type !== "end");
    // A worker that only stood still may have spoken beside the one that took over from it.
    const newest = Math.max(...spoken.map(({ attempt }) => attempt));
    const last = spoken.filter(({ attempt }) => attempt === newest).toSorted((a, b) => a.n - b.n);
    return last.map(({ attempt: _, n: _n, ...frame }) => frame);
  }

  /** How far a turn has come: what is recorded of it, and what readers have seen beyond that. */
  async function standing(events: Recorded[], turnId: string, frames: Speaking[]): Promise<Standing> {
    const joined = (type: "text" | "reasoning") =>
      frames.map((frame) => (frame.type === type ? frame.text : "")).join("");
    const seen = { text: joined("text"), reasoning: joined("reasoning") };
    const rounds = await recordedRounds(events, turnId, async () => undefined);
    const recorded = saidIn(rounds);
    const longer = (type: "text" | "reasoning") =>
      seen[type].length > recorded[type].length ? seen[type] : recorded[type];
    const said = { ...recorded, text: longer("text"), reasoning: longer("reasoning") };
    const open = said.text !== recorded.text || said.reasoning !== recorded.reasoning;
    return { said: withSources(said, rounds), rounds, told: toldSoFar(rounds, frames), open };
  }

  /** Takes over a turn that was lost, or ends it. */
  async function rescue(handle: Handle, head: StreamHead, turn: OpenTurn, late: boolean): Promise<void> {
    const seen = await heard(head, turn.id);
    if (late) {
      const stands = await standing(await options.log.read(head.stream), turn.id, seen);
      return giveUp(handle, head, turn, stands, "The turn did not finish within the time that it has.");
    }

    const attempt = turn.attempt + 1;
    const taken = await send(handle, head, TakeOverTurn.type, { turn_id: turn.id, attempt, worker: options.worker });
    if (taken.position === 0) return;
    const next = { id: turn.id, attempt, of_agent: turn.of_agent };
    // Whatever the lost attempt could record is in the log by now; what it records from here on is refused.
    const events = await options.log.read(head.stream);
    const started = startOf(events, turn.id);
    const stands = await standing(events, turn.id, seen);
    const lost = "The process that worked on this turn was lost.";
    // A reader who has seen words that are not recorded cannot be given others; everybody else gets a second try.
    if (!started || attempt > ATTEMPTS || stands.open) return giveUp(handle, head, next, stands, lost);
    const steps = events.filter((event) => isStep(event, turn.id));
    start(turnFrom(started, attempt, { steps, heard: seen }));
  }

  /** Whether one more turn of an organization may run here. */
  const room = (organization: string): boolean => running.size < ROOM && (shares.get(organization) ?? 0) < SHARE;

  return {
    start,
    room,
    /** Resolves when everything that runs now has ended. */
    idle: async (): Promise<void> => void (await Promise.all(running.values().map(({ ended }) => ended))),
    /** Lets go of what still runs: another worker takes it over. */
    leave: (): void => leaving.abort(),
    /** Threads whose turns run here. */
    busy: (): string[] => [...running.values()].map(({ thread }) => thread),

    /** What this process does with a turn whose start it has just committed. */
    afterCommit({ command, events, version }: Handled): void {
      for (const event of events) {
        if (event.type !== "TurnStarted") continue;
        const { organization_id, stream, request_id } = command;
        const { data, personal } = event;
        const turn = turnFrom({ organization_id, stream, version, data, personal, meta: { request_id } }, 1);
        if ((event.data as { worker: string | null }).worker === options.worker) start(turn);
      }
    },

    /** Makes sure that an open turn moves: nothing to do, taken over where there is room, or ended. */
    async attend(handle: Handle, head: StreamHead): Promise<void> {
      const { state }: { state: ThreadState } = await stateOf(options.log, head, thread);
      const turn = state.status === "open" ? state.turn : null;
      if (!turn || running.has(`${turn.id}/${turn.attempt}`)) return;
      // A row can be seen before its commit's answer has come back here: act at the second sight.
      if (turn.worker === options.worker && !suspects.delete(turn.id)) return void suspects.add(turn.id);
      const late = Date.parse(turn.ends_by) < Date.now();
      if (!late && !room(head.organization_id)) return;
      const started = startOf(await options.log.read(head.stream), turn.id);
      await withTrace(started && traceFrom(started.meta), () => rescue(handle, head, turn, late));
    },
  };
}
