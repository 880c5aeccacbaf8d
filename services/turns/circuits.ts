import { currentTime } from "#events/clock.ts";
import type { TargetCircuit } from "#events/circuits.ts";

/** Failures in a row after which a target is not asked for a while. One that said nothing for its whole time is not asked at once. */
const FAILURES_TO_OPEN = 3;
/** How long a circuit stays open; doubled each time that its probe fails. */
const OPEN_MS = 15_000;
const MAX_OPEN_MS = 120_000;
/** Targets with failures that a process remembers; the one whose last failure is the oldest is forgotten first. */
const MAX_CIRCUITS = 10_000;

/** How a request to a target ended. `slow`: it said nothing within its time. `failed`: it broke, and a retry may work. `other`: this says nothing about it. */
export type TargetOutcome = "answered" | "slow" | "failed" | "other";

/** `silent`: open because the target said nothing. Asking it would cost a whole timeout. */
export type CircuitState = "closed" | "open" | "silent";

interface Circuit {
  /** Failures since the last answer, when the first of them was, and why the last request failed. */
  failures: number;
  since: number;
  reason: string;
  /** Times that it opened since the last answer. */
  opened: number;
  /** Epoch milliseconds; 0 while it is closed. */
  open_until: number;
  isSilent: boolean;
  /** A request is under way that decides whether it closes. */
  isProbing: boolean;
}

/**
 * Which targets are down, as far as this process has noticed. A hint: it only orders what a turn tries (ADR 31).
 */
export interface Circuits {
  /** `closed` also when a probe is due and no request has made it yet. */
  state(key: string): CircuitState;
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
}

interface CircuitOptions {
  /** A target went down. */
  onOpened?: () => void;
  now?: () => number;
}

export function createCircuits({ onOpened = () => {}, now = currentTime }: CircuitOptions = {}): Circuits {
  const circuits = new Map<string, Circuit>();

  function remember(key: string, circuit: Circuit): void {
    circuits.delete(key);
    circuits.set(key, circuit);
    if (circuits.size > MAX_CIRCUITS) circuits.delete(circuits.keys().next().value!);
  }

  function fail(key: string, isSilent: boolean, wasProbe: boolean, details: TargetFailureDetails): void {
    const { reason, retry_after_ms } = details;
    const known = circuits.get(key) ?? { failures: 0, since: now(), opened: 0, open_until: 0, isSilent: false };
    const before = { ...known, reason };
    const { opened } = before;
    const failures = before.failures + 1;
    const isDown = isSilent || wasProbe || retry_after_ms !== undefined || failures >= FAILURES_TO_OPEN;
    // requests that were under way when it opened change nothing
    if (!isDown || before.open_until > now()) return remember(key, { ...before, failures, isProbing: false });
    const open_ms = Math.min(retry_after_ms ?? OPEN_MS * 2 ** opened, MAX_OPEN_MS);
    remember(key, { ...before, failures, opened: opened + 1, open_until: now() + open_ms, isSilent, isProbing: false });
    if (opened === 0) onOpened();
  }

  const stateOf = ({ open_until }: Circuit): TargetCircuit["state"] => {
    if (open_until === 0) return "closed";
    return open_until > now() ? "open" : "half_open";
  };

  return {
    list: (prefix) =>
      [...circuits]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, circuit]) => {
          const { failures, reason, since, open_until } = circuit;
          const state = stateOf(circuit);
          const target = key.slice(prefix.length);
          return { target, state, failures, reason, since, open_until: state === "open" ? open_until : null };
        }),
    state(key) {
      const circuit = circuits.get(key);
      if (!circuit || circuit.open_until === 0 || (circuit.open_until <= now() && !circuit.isProbing)) return "closed";
      return circuit.isSilent ? "silent" : "open";
    },
    begin(key) {
      const circuit = circuits.get(key);
      const isProbe = circuit !== undefined && circuit.open_until > 0 && !circuit.isProbing;
      if (isProbe) circuit.isProbing = true;
      return (outcome, failure = { reason: outcome }) => {
        if (outcome === "answered") circuits.delete(key);
        else if (outcome !== "other") fail(key, outcome === "slow", isProbe, failure);
        else if (isProbe) circuit.isProbing = false;
      };
    },
  };
}
