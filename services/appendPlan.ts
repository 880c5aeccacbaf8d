import { ClaimHeld, ClaimReleased } from "#events/claim.ts";
import type { Claim, Decider, WorkStatus } from "#events/decider.ts";
import type { NewEvent } from "#events/define.ts";
import type { Command } from "#events/envelope.ts";
import { claimStream } from "#events/ids.ts";
import type { AppendRequest, StreamHead } from "#events/ports.ts";
import { Rejection } from "#events/rejection.ts";
import { createFold } from "./deciders/records.ts";
import type { StreamState } from "./states.ts";

/* Plans what a command appends, as pure functions of the command and the state of its stream. */

/** The new events of a command, and the unique names that they hold and release. */
export interface Decision {
  events: NewEvent[];
  claims: { hold: Claim[]; release: string[] };
}

/** A command with its part of a commit, and the state of its stream afterwards. */
interface DecidedCommand {
  command: Command;
  events: NewEvent[];
  after: StreamState;
}

/** What to do with a command. */
export type Plan =
  | { kind: "append"; append: AppendRequest; events: NewEvent[]; after: StreamState; joined: DecidedCommand[] }
  /** Record the rejection as the outcome of the command. */
  | { kind: "refuse"; append: AppendRequest; rejection: Rejection }
  /** Answer with the rejection and record nothing: the same command may be sent again. */
  | { kind: "retryLater"; rejection: Rejection }
  /** Read the state again and decide again. */
  | { kind: "reload" };

export interface PlanInput {
  command: Command;
  decider: Decider<any>;
  before: StreamState;
  decision: Decision | Rejection;
  /** Heads of the decision's `claimStreams`. A stream that does not exist yet has none. */
  claimHeads: ReadonlyMap<string, Pick<StreamHead, "version" | "state">>;
}

/** What must hold for other streams when the events are appended. */
export interface AppendCheck {
  rejection?: Rejection | undefined;
  /** The streams that were read. The append conflicts unless they still have these versions. */
  unchanged: { stream: string; version: number }[];
}

const NO_WORK: WorkStatus = { status: null, due_at: null, worker: null };

/** Calls a decider. Returns its rejection instead of throwing it. */
export function decide(decider: Decider<any>, command: Command, state: unknown): Decision | Rejection {
  try {
    const events = decider.decide(command, state);
    return { events, claims: decider.claims?.(events) ?? { hold: [], release: [] } };
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}

export const claimStreams = ({ claims: { hold, release } }: Decision): string[] =>
  [...hold.map(({ name }) => name), ...release].map(claimStream);

/**
 * Plans what to append. A remembered state may be stale. An append on stale state conflicts, and the command is decided again. A
 * refusal or "nothing to do" would be final, so these need a state that was just read.
 */
export function planAppend(input: PlanInput): Plan {
  const { command, before, decision } = input;
  const rejection = decision instanceof Rejection ? decision : findHeldClaim(decision, input.claimHeads);
  const appendsNothing = rejection !== undefined || (decision as Decision).events.length === 0;
  if (before.remembered && appendsNothing) return { kind: "reload" };
  return rejection ? planRefusal(command, rejection) : planEvents(input, decision as Decision);
}

export function planRefusal(command: Command, rejection: Rejection): Plan {
  if (rejection.retryable) return { kind: "retryLater", rejection };
  const nothing = { events: [], heads: [], keys: {}, erase: { things: [], streams: [] }, forget: [] };
  return { kind: "refuse", rejection, append: { command, ...nothing, rejection: rejection.details() } };
}

/** The rejection for the first claimed name that another stream holds. */
function findHeldClaim({ claims }: Decision, claimHeads: PlanInput["claimHeads"]): Rejection | undefined {
  for (const { name, rejection } of claims.hold) {
    const held_by = claimHeads.get(claimStream(name))?.state as string | null | undefined;
    if (held_by) return new Rejection(rejection.code, rejection.message, { ...rejection, held_by });
  }
  return undefined;
}

function planEvents({ command, decider, before, claimHeads }: PlanInput, { events, claims }: Decision): Plan {
  const { stream } = command;
  const evolved = createFold()(() => events.reduce(decider.evolve, before.state));
  const after = { version: before.version + events.length, state: evolved };
  const state = decider.stored?.write(after.state) ?? after.state;
  const head = { stream, state, state_version: decider.version };
  const work = decider.workStatus?.(after.state) ?? NO_WORK;
  const claimChanges = planClaims(stream, claims, claimHeads);
  const erase = decider.erases?.(events, stream) ?? {};
  const append = {
    command,
    events: [
      ...events.map((event, n) => ({ stream, version: before.version + n + 1, event })),
      ...claimChanges.map(({ event }) => event),
    ],
    heads: [...(events.length > 0 ? [{ ...head, ...work }] : []), ...claimChanges.map((change) => change.head)],
    keys: command.keys ?? {},
    erase: { things: erase.things ?? [], streams: erase.streams ?? [] },
    forget: decider.forgets?.(events, before.state) ?? [],
  };
  return { kind: "append", append, events, after, joined: [] };
}

/** One event per claim. The state of a claim's stream is the stream that holds the name, or null. */
function planClaims(by: string, { hold, release }: Decision["claims"], heads: PlanInput["claimHeads"]) {
  const change = (name: string, event: NewEvent, state: string | null) => {
    const stream = claimStream(name);
    const version = (heads.get(stream)?.version ?? 0) + 1;
    return { event: { stream, version, event }, head: { stream, state, state_version: 1, ...NO_WORK } };
  };
  return [
    ...hold.map(({ name }) => change(name, ClaimHeld.of({ by }), by)),
    ...release.map((name) => change(name, ClaimReleased.of({ by }), null)),
  ];
}
