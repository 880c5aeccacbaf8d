import { currentTime } from "#events/clock.ts";
import type { TargetCircuit } from "#events/circuits.ts";

/** Consecutive failures that open a circuit. A target that was silent for its full time opens it at once. */
const FAILURES_TO_OPEN = 3;
/** How long a circuit stays open. Doubled each time its probe fails. */
const OPEN_MS = 15_000;
const MAX_OPEN_MS = 120_000;
/** Targets with failures that a process remembers. The one with the oldest last failure is forgotten first. */
const MAX_CIRCUITS = 10_000;
/** Of one organization: otherwise one that asks for thousands of models which fail would make the process forget those of others. */
const MAX_OF_ORGANIZATION = 1_000;

/** A model that sends nothing for this long counts as down. A thinking model sends something sooner, or answers in the end. */
export const SILENCE_MS = 60_000;
/** Shorter silences are ignored. */
const MIN_SILENCE_MS = 1_000;
/** How long a client should wait while a probe is in progress. */
export const PROBE_MS = 1_000;

/**
 * How a request to a target ended. `slow`: silent for its whole timeout. `quiet`: silent for the shorter time that the turn had left.
 * `failed`: an error that a retry may mend. `other`: says nothing about the target.
 */
export type TargetOutcome = "answered" | "slow" | "quiet" | "failed" | "other";

/** `silent`: open because the target was silent. Asking it would cost a whole timeout. */
export type CircuitState = "closed" | "open" | "silent";

interface Circuit {
  /** Failures since the last answer, the time of the first, and the reason of the last. */
  failures: number;
  since: number;
  reason: string;
  /** Consecutive failures that show that the target is down. */
  outages: number;
  /** Total silence since the last answer in requests that ended early, and until when it lasted. */
  silence_ms: number;
  silent_until: number;
  /** The longest of these silences. A request with more time may get an answer. Infinity after a failure of another kind. */
  patience_ms: number;
  /** How often it opened since the last answer. */
  opened: number;
  /** Epoch milliseconds; 0 while it is closed. */
  open_until: number;
  isSilent: boolean;
  /**
   * Until when a probe counts as in progress, which decides whether the circuit closes; 0 without one. A probe may hang for as long as
   * its turn may last, so after a minute another one is made.
   */
  probing_until: number;
}

/** Prefix of the keys of an organization's circuits. */
export const circuitPrefix = (organization_id: string): string => `${organization_id}/`;
export const circuitKey = (organization_id: string, target: string): string => circuitPrefix(organization_id) + target;
const organizationOf = (key: string): string => key.split("/", 1)[0]!;

/** Which targets are down, as far as this process has noticed (ADR 31). */
export interface Circuits {
  /** Also `closed` when a probe is due and no request has made it yet. */
  state(key: string): CircuitState;
  /** Why a target is down, and until when it is not asked. That time has passed while its probe is in progress. Undefined if it is not down. */
  findOutage(key: string): Pick<Circuit, "reason" | "open_until" | "patience_ms"> | undefined;
  /** Call it before a request. Returns a function that reports the outcome. */
  begin(key: string): (outcome: TargetOutcome, failure?: TargetFailureDetails) => void;
  /** The circuits with failures whose keys start with `prefix`, with the prefix removed from the keys. */
  list(prefix: string): TargetCircuit[];
}

export interface TargetFailureDetails {
  /** A reason of `TargetFailed`. */
  reason: string;
  /** The wait that the target asked for. */
  retry_after_ms?: number | undefined;
  /** Whether the failure shows that the target is down, rather than busy or slower than an alias allows. */
  isDown?: boolean;
  /** For `quiet`: how long it was silent, and the total silence since the last answer that opens the circuit. */
  quiet?: { ms: number; opens_after_ms: number };
}

interface CircuitOptions {
  /** Called when a target goes down. */
  onOpened?: () => void;
  now?: () => number;
}

function stateAt(circuit: Circuit | undefined, now: number): CircuitState {
  if (!circuit || circuit.open_until === 0) return "closed";
  if (Math.max(circuit.open_until, circuit.probing_until) <= now) return "closed";
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
  probing_until: 0,
};

/** Applies a failure, whether the circuit opens or not. Overlapping silences count once. */
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

/** The circuits of a process. Each organization keeps its newest ones. */
function createStore() {
  const circuits = new Map<string, Circuit>();
  const counts = new Map<string, number>();

  function count(key: string, more: number): number {
    const organization = organizationOf(key);
    const total = (counts.get(organization) ?? 0) + more;
    if (total === 0) counts.delete(organization);
    else counts.set(organization, total);
    return total;
  }

  function forget(key: string | undefined): void {
    if (key !== undefined && circuits.delete(key)) count(key, -1);
  }

  function remember(key: string, circuit: Circuit): void {
    forget(key);
    circuits.set(key, circuit);
    if (count(key, 1) > MAX_OF_ORGANIZATION) {
      const organization = organizationOf(key);
      forget(circuits.keys().find((one) => organizationOf(one) === organization));
    }
    if (circuits.size > MAX_CIRCUITS) forget(circuits.keys().next().value);
  }

  return { circuits: circuits as ReadonlyMap<string, Circuit>, forget, remember };
}

export function createCircuits({ onOpened = () => {}, now = currentTime }: CircuitOptions = {}): Circuits {
  const { circuits, forget, remember } = createStore();

  function fail(key: string, isSilent: boolean, wasProbe: boolean, details: TargetFailureDetails): void {
    const { retry_after_ms, quiet } = details;
    const known = circuits.get(key) ?? { ...UNKNOWN, since: now(), reason: details.reason };
    const failed = { ...addFailure(known, details, now()), probing_until: 0 };
    const { opened, failures } = failed;
    // another probe may have closed the circuit meanwhile
    const reopens = wasProbe && known.open_until > 0;
    const opens = quiet
      ? failed.silence_ms >= quiet.opens_after_ms || failures >= FAILURES_TO_OPEN
      : isSilent || reopens || retry_after_ms !== undefined || failures >= FAILURES_TO_OPEN;
    // requests that were in progress when it opened change nothing
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
      const isProbe = circuit !== undefined && circuit.open_until > 0 && circuit.probing_until <= now();
      const until = now() + SILENCE_MS;
      if (isProbe) circuit.probing_until = until;
      return (outcome, failure = { reason: outcome }) => {
        if (outcome === "answered") forget(key);
        else if (outcome !== "other" && (failure.quiet?.ms ?? MIN_SILENCE_MS) >= MIN_SILENCE_MS)
          fail(key, outcome === "slow", isProbe, failure);
        // another probe may be in progress by now
        else if (isProbe && circuit.probing_until === until) circuit.probing_until = 0;
      };
    },
  };
}
