/** A process's circuit breaker for a target that has failed (ADR 31). Targets that answer are not reported. */
export interface TargetCircuit {
  /** `provider/model`. */
  target: string;
  /** `closed`: turns ask the target. `open`: turns skip it. `half_open`: the next request to it decides. */
  state: "closed" | "open" | "half_open";
  /** Failures since its last answer. */
  failures: number;
  /** Why the last request failed, as in `TargetFailed`. */
  reason: string;
  /** Epoch milliseconds of the first of these failures. */
  since: number;
  /** Until when turns skip it, in epoch milliseconds; null unless it is open. */
  open_until: number | null;
}

/** Each process that runs turns has circuits of its own; others ask for them. */
export interface CircuitReports {
  /** Answers such requests for this process, until the returned function is called. */
  answer(process: string, list: (organization: string) => TargetCircuit[]): () => void;
  /** Asks all processes, and returns the answers that arrive in time. */
  ask(organization: string): Promise<{ process: string; circuits: TargetCircuit[] }[]>;
}
