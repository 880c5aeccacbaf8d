import { setTimeout as sleep } from "node:timers/promises";
import { ClaimHeld, ClaimReleased } from "#events/claim.ts";
import type { Decider } from "#events/decider.ts";
import type { Answer, Command } from "#events/envelope.ts";
import { commandDefinitions } from "#events/index.ts";
import { claimStream, partsOf } from "#events/ids.ts";
import type { NewEvent } from "#events/define.ts";
import { Unavailable, type Append, type EventLog, type Hints } from "#events/ports.ts";
import { Rejection } from "#events/rejection.ts";
import { deciders } from "./deciders/index.ts";
import { streamStates, type StreamState } from "./states.ts";
import { traced } from "./traced.ts";

export interface Handled {
  command: Command;
  events: NewEvent[];
  /** Version of the stream after the events. */
  version: number;
}

export interface HandlerOptions {
  log: EventLog;
  hints: Pick<Hints, "committed">;
  /** This process, where it has room for the work that a command for such an aggregate starts. */
  worker(aggregate: string, organization: string): string | undefined;
  /**
   * Begins with work that a command starts before it is committed, and gives the command with what has come of it. `over` is
   * called when the command was handled, whatever became of it.
   */
  begin?(command: Command): Promise<{ command: Command; over(): void } | undefined>;
  /** Called once per command that led to events here, after they are committed. */
  afterCommit(handled: Handled): void;
}

/** What a command comes to: the events of its own stream, and all that is to be appended. */
interface Decision {
  events: NewEvent[];
  append: Append;
  after: StreamState;
}

/** A command normally comes within milliseconds; a client whose server died asks again after about 400. */
const LATE_MS = 300;

const ABANDONED: Answer = {
  position: 0,
  repeated: false,
  rejection: { code: "unavailable", message: "The process that waited for this is gone.", retryable: true },
};

/**
 * Whether nobody waits for a command any more: it was held up (by a worker that stood still, by a full queue) and the http
 * process that sent it has died meanwhile. It was never acknowledged, and its client has asked again: then it is not done twice.
 */
async function isAbandoned(log: Pick<EventLog, "alive">, { at, http }: Command): Promise<boolean> {
  if (http === undefined || Date.now() - Date.parse(at) < LATE_MS) return false;
  return !(await log.alive(http));
}

export type Handle = (command: Command) => Promise<Answer>;

/**
 * The one command handler: load, decide, append; a conflict is decided again until the command's deadline.
 * Commands of one stream follow each other. Rejections are part of the answer; Unavailable means "unknown, try again".
 */
export function createHandler(options: HandlerOptions): Handle {
  const { log } = options;
  const states = streamStates(log);
  const queues = new Map<string, Promise<unknown>>();

  async function claimEvents(decider: Decider<any>, events: NewEvent[], stream: string): Promise<Append["events"]> {
    const claims = decider.claims?.(events);
    if (!claims || claims.hold.length + claims.release.length === 0) return [];
    const held = claims.hold.map((claim) => ({ ...claim, stream: claimStream(claim.name) }));
    const released = claims.release.map((name) => ({ stream: claimStream(name) }));
    const heads = await log.heads([...held, ...released].map((claim) => claim.stream));
    const next = (claim: string) => (heads.get(claim)?.version ?? 0) + 1;
    return [
      ...held.map((claim) => {
        const held_by = heads.get(claim.stream)?.state as string | null | undefined;
        if (held_by) throw new Rejection(claim.taken.code, claim.taken.message, { ...claim.taken, held_by });
        return { stream: claim.stream, version: next(claim.stream), event: ClaimHeld.of({ by: stream }) };
      }),
      ...released.map((claim) => ({
        stream: claim.stream,
        version: next(claim.stream),
        event: ClaimReleased.of({ by: stream }),
      })),
    ];
  }

  /** What the command comes to, given the stream as it stands. */
  async function decide(command: Command, decider: Decider<any>, before: StreamState): Promise<Decision> {
    const { stream } = command;
    const decided = decider.decide(command, before.state);
    const claims = await claimEvents(decider, decided, stream);
    const after = { version: before.version + decided.length, state: decided.reduce(decider.evolve, before.state) };
    const idle = { status: null, due_at: null, worker: null };
    const erase = decider.erases?.(decided, stream) ?? {};
    return {
      after,
      events: decided,
      append: {
        command,
        events: [...decided.map((event, n) => ({ stream, version: before.version + n + 1, event })), ...claims],
        heads: [
          ...(decided.length > 0
            ? [{ stream, state: after.state, state_version: decider.version, ...(decider.head?.(after.state) ?? idle) }]
            : []),
          ...claims.map((claim) => ({
            stream: claim.stream,
            state: claim.event.type === "ClaimHeld" ? stream : null,
            state_version: 1,
            ...idle,
          })),
        ],
        keys: command.keys ?? {},
        erase: { things: erase.things ?? [], streams: erase.streams ?? [] },
        forget: decider.forgets?.(decided, before.state) ?? [],
      },
    };
  }

  const refusal = (command: Command, rejection: Rejection): Append => ({
    command,
    events: [],
    heads: [],
    rejection: rejection.details(),
    keys: {},
    erase: { things: [], streams: [] },
    forget: [],
  });

  /** The answer that a repeated command gets: the first one's. */
  function repeated(
    command: Command,
    outcome: { position: number; fingerprint: string | null; rejection: Answer["rejection"] | null },
  ): Answer {
    if (command.fingerprint && outcome.fingerprint && command.fingerprint !== outcome.fingerprint)
      return {
        position: 0,
        repeated: true,
        rejection: {
          code: "idempotency_key_reused",
          message: "This Idempotency-Key was used with another request body; use a new key for a new request.",
          param: "Idempotency-Key",
        },
      };
    return {
      position: outcome.position,
      repeated: true,
      ...(outcome.rejection ? { rejection: outcome.rejection } : {}),
    };
  }

  /** One try; undefined when the stream had moved on. */
  async function attempt(command: Command, decider: Decider<any>, first: boolean): Promise<Answer | undefined> {
    const before = await states.load(command.stream, decider, { fresh: first && command.fresh === true });
    let decision: Decision | undefined;
    let append: Append;
    // A remembered state may be behind the log. Events would conflict then; a refusal, or that there is nothing to do,
    // would stand: both must hold against what is stored.
    const lookAgain = () => {
      states.forget(command.stream);
      return undefined;
    };
    try {
      decision = await decide(command, decider, before);
      append = decision.append;
      if (before.remembered && append.events.length === 0) return lookAgain();
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      if (before.remembered) return lookAgain();
      if (error.retryable) {
        const outcome = await log.outcome(command.id, command.organization_id);
        if (outcome) return repeated(command, outcome);
        return { position: 0, repeated: false, rejection: { ...error.details(), retryable: true } };
      }
      append = refusal(command, error);
    }

    const appended = await log.append(append);
    switch (appended.kind) {
      case "conflict":
        states.forget(command.stream);
        return undefined;
      case "repeated":
        states.forget(command.stream);
        return repeated(command, appended.outcome);
      case "committed": {
        if (!decision) return { position: 0, repeated: false, rejection: append.rejection! };
        const { events } = decision;
        states.remember(command.stream, decision.after);
        if (appended.last > 0) options.hints.committed(appended.last);
        if (events.length > 0) options.afterCommit({ command, events, version: decision.after.version });
        return { position: appended.last, repeated: false };
      }
    }
  }

  async function handle(received: Command): Promise<Answer> {
    const { aggregate } = partsOf(received.stream);
    const definition = commandDefinitions.get(received.type);
    const decider = deciders[aggregate];
    if (!definition || !decider || definition.aggregate !== aggregate)
      throw new Error(`no ${aggregate} understands ${received.type}`);
    const data = definition.schema.parse(received.data);
    const asked: Command = { ...received, data, worker: options.worker(aggregate, received.organization_id) };
    const deadline = Date.parse(asked.deadline);
    // Others of its stream came first, and whoever sent it has been told that its outcome is unknown.
    if (Date.now() > deadline) throw new Unavailable(`${asked.type} on ${asked.stream} waited until its deadline`);
    if (await isAbandoned(log, asked)) return ABANDONED;
    const begun = await options.begin?.(asked);
    try {
      return await settle(begun?.command ?? asked, decider, deadline);
    } finally {
      begun?.over();
    }
  }

  /** Tries until it is answered. */
  async function settle(command: Command, decider: Decider<any>, deadline: number): Promise<Answer> {
    for (let tries = 0; ; tries++) {
      const answer = await attempt(command, decider, tries === 0).catch((error: unknown) => {
        // The log cannot be asked now. What became of an append is unknown, so its stream is loaded anew.
        if (!(error instanceof Unavailable) || Date.now() > deadline) throw error;
        states.forget(command.stream);
        return undefined;
      });
      if (answer) return answer;
      if (Date.now() > deadline)
        throw new Unavailable(`${command.type} on ${command.stream} met other writers until its deadline`);
      // Full jitter: writers that collided once must not collide again in step.
      await sleep(Math.random() * Math.min(5 * 2 ** tries, 250));
    }
  }

  return traced((command) => {
    const previous = queues.get(command.stream);
    const run = previous ? previous.then(() => handle(command)) : handle(command);
    const settled = run.then(
      () => {},
      () => {},
    );
    queues.set(command.stream, settled);
    void settled.then(() => {
      if (queues.get(command.stream) === settled) queues.delete(command.stream);
    });
    return run;
  });
}
