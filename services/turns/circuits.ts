import { currentTime } from "#events/clock.ts";
import type { TargetCircuit } from "#events/circuits.ts";
import { dropOldest } from "#events/dropOldest.ts";

/** Failures in a row after which a target is not asked for a while. One that said nothing for its whole time is not asked at once. */
const FAILURES_TO_OPEN = 3;
/** How long a circuit stays open; doubled each time that its probe fails. */
const OPEN_MS = 15_000;
const MAX_OPEN_MS = 120_000;
/** Targets with failures that a process remembers; the one whose last failure is the oldest is forgotten first. */
const MAX_CIRCUITS = 10_000;

/** A model that ends without a word after so long is down. One that thinks has said something, or answers at last. */
export const SILENCE_MS = 60_000;
/** A silence that is shorter says nothing. */
const MIN_SILENCE_MS = 1_000;

/**
 * How a request to a target ended. `slow`: it said nothing within its time. `quiet`: nor did it in the time that its turn had left.
 * `failed`: it broke, and a retry may work. `other`: this says nothing about it.
 */
export type TargetOutcome = "answered" | "slow" | "quiet" | "failed" | "other";

/** `silent`: open because the target said nothing. Asking it would cost a whole timeout. */
export type CircuitState = "closed" | "open" | "silent";

interface Circuit {
  /** Failures since the last answer, when the first of them was, and why the last request failed. */
  failures: number;
  since: number;
  reason: string;
  /** The last failures in a row that say that the target is down. */
  outages: number;
  /** For how long it has said nothing since the last answer, in requests that ended before its time was over, and until when. */
  silence_ms: number;
  silent_until: number;
  /** The longest of these silences: a request that has more time may get an answer. Infinity after a failure of another kind. */
  patience_ms: number;
  /** Times that it opened since the last answer. */
  opened: number;
  /** Epoch milliseconds; 0 while it is closed. */
  open_until: number;
  isSilent: boolean;
  /** A request is under way that decides whether it closes. */
  isProbing: boolean;
}

/** What the keys of an organization's circuits begin with. */
export const circuitPrefix = (organization_id: string): string => `${organization_id}/`;
export const circuitKey = (organization_id: string, target: string): string => circuitPrefix(organization_id) + target;

/** Which targets are down, as far as this process has noticed (ADR 31). */
export interface Circuits {
  /** `closed` also when a probe is due and no request has made it yet. */
  state(key: string): CircuitState;
  /** Why a target that is down is not asked now, and until when: a moment that has passed while its probe is under way. */
  findOutage(key: string): Pick<Circuit, "reason" | "open_until" | "patience_ms"> | undefined;
  /** Before a request. Answers with what reports its end. */
  begin(key: string): (outcome: TargetOutcome, failure?: TargetFailureDetails) => void;
  /** The circuits with failures whose keys start with `prefix`; their keys come without it. */
  list(prefix: string): TargetCircuit[];
}

export interface TargetFailureDetails {
  /** As in `TargetFailed`. */
  reason: string;
  /** For how long the target asked to be left alone. */
  retry_after_ms?: number | undefined;
  /** It says that the target is down: it is neither busy nor slower than an alias lets it be. */
  isDown?: boolean;
  /** Of `quiet`: how long it said nothing, and after how long a silence of all its requests since the last answer it opens. */
  quiet?: { ms: number; opens_after_ms: number };
}

interface CircuitOptions {
  /** A target went down. */
  onOpened?: () => void;
  now?: () => number;
}

function stateAt(circuit: Circuit | undefined, now: number): CircuitState {
  if (!circuit || circuit.open_until === 0 || (circuit.open_until <= now && !circuit.isProbing)) return "closed";
  return circuit.isSilent ? "silent" : "open";
}

function describeCircuit(target: string, circuit: Circuit, now: number): TargetCircuit {
  const { failures, reason, since, open_until } = circuit;
  const isOpen = open_until > now;
  const state = open_until === 0 ? "closed" : isOpen ? "open" : "half_open";
  return { target, state, failures, reason, since, open_until: isOpen ? open_until : null };
}

const UNKNOWN: Omit<Circuit, "since" | "reason"> = {
  failures: 0,
  outages: 0,
  silence_ms: 0,
  silent_until: 0,
  patience_ms: 0,
  opened: 0,
  open_until: 0,
  isSilent: false,
  isProbing: false,
};

/** What a failure changes, whether the circuit opens or not. Silences of requests beside each other count once. */
function addFailure(known: Circuit, details: TargetFailureDetails, now: number): Circuit {
  const { reason, isDown = false, quiet } = details;
  const failed = { ...known, reason, failures: known.failures + 1 };
  if (!quiet) return { ...failed, outages: isDown ? known.outages + 1 : 0, patience_ms: Number.POSITIVE_INFINITY };
  const silence_ms = known.silence_ms + Math.min(quiet.ms, Math.max(0, now - known.silent_until));
  const more = Math.floor(silence_ms / SILENCE_MS) - Math.floor(known.silence_ms / SILENCE_MS);
  return {
    ...failed,
    failures: more > 0 || silence_ms >= quiet.opens_after_ms ? failed.failures : known.failures,
    outages: known.outages + more,
    silence_ms,
    silent_until: now,
    patience_ms: Math.max(known.patience_ms, quiet.ms),
  };
}

export function createCircuits({ onOpened = () => {}, now = currentTime }: CircuitOptions = {}): Circuits {
  const circuits = new Map<string, Circuit>();

  function remember(key: string, circuit: Circuit): void {
    circuits.delete(key);
    circuits.set(key, circuit);
    dropOldest(circuits, MAX_CIRCUITS);
  }

  function fail(key: string, isSilent: boolean, wasProbe: boolean, details: TargetFailureDetails): void {
    const { retry_after_ms, quiet } = details;
    const known = circuits.get(key) ?? { ...UNKNOWN, since: now(), reason: details.reason };
    const failed = { ...addFailure(known, details, now()), isProbing: false };
    const { opened, failures } = failed;
    const opens = quiet
      ? failed.silence_ms >= quiet.opens_after_ms || failures >= FAILURES_TO_OPEN
      : isSilent || wasProbe || retry_after_ms !== undefined || failures >= FAILURES_TO_OPEN;
    // requests that were under way when it opened change nothing
    if (!opens || known.open_until > now()) return remember(key, failed);
    const open_ms = Math.min(retry_after_ms ?? OPEN_MS * 2 ** opened, MAX_OPEN_MS);
    remember(key, { ...failed, opened: opened + 1, open_until: now() + open_ms, isSilent });
    if (opened === 0) onOpened();
  }

  const state = (key: string): CircuitState => stateAt(circuits.get(key), now());

  return {
    list: (prefix) =>
      [...circuits]
        .filter(([key, { failures }]) => key.startsWith(prefix) && failures > 0)
        .map(([key, circuit]) => describeCircuit(key.slice(prefix.length), circuit, now())),
    state,
    findOutage(key) {
      const circuit = circuits.get(key);
      return circuit && circuit.outages >= FAILURES_TO_OPEN && state(key) === "open" ? circuit : undefined;
    },
    begin(key) {
      const circuit = circuits.get(key);
      const isProbe = circuit !== undefined && circuit.open_until > 0 && !circuit.isProbing;
      if (isProbe) circuit.isProbing = true;
      return (outcome, failure = { reason: outcome }) => {
        if (outcome === "answered") circuits.delete(key);
        else if (outcome !== "other" && (failure.quiet?.ms ?? MIN_SILENCE_MS) >= MIN_SILENCE_MS)
          fail(key, outcome === "slow", isProbe, failure);
        else if (isProbe) circuit.isProbing = false;
      };
    },
  };
}
