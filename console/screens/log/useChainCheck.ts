import { useEffect, useState } from "react";
import { checkEvents, type EventCheck } from "../../api/events.ts";
import { CAN_HASH, EMPTY_PROOF, proveEvents, type Proof } from "../../api/proof.ts";

export interface ChainCheck {
  /** Events that the service confirmed as unaltered. */
  checked: number;
  /** The result of this browser's own computation. */
  proof: Proof;
  broken: EventCheck["broken"];
  state: "running" | "stopped" | "done";
  error: unknown;
}

const INITIAL: ChainCheck = { checked: 0, proof: EMPTY_PROOF, broken: null, state: "running", error: undefined };

/** Checks the events up to a cursor, page by page, and reports the progress. */
async function check(upTo: string | undefined, signal: AbortSignal, show: (now: ChainCheck) => void): Promise<void> {
  let now = INITIAL;
  show(now);
  for (let after: string | null = null; !signal.aborted; ) {
    const page: EventCheck = await checkEvents(after, upTo, signal);
    const proof: Proof = CAN_HASH ? await proveEvents(now.proof, after, page.digests, signal) : now.proof;
    after = proof.differs ? null : page.next_after;
    now = {
      ...now,
      checked: now.checked + page.checked,
      proof,
      broken: page.broken,
      state: after === null ? "done" : "running",
    };
    if (!signal.aborted) show(now);
    if (after === null) return;
  }
}

/** A check of the chain that runs while its panel is open, and can be stopped. */
export function useChainCheck(upTo: string | undefined) {
  const [now, setNow] = useState(INITIAL);
  const [controller, setController] = useState(() => new AbortController());
  useEffect(() => {
    const { signal } = controller;
    const fail = (error: unknown) => {
      if (!signal.aborted) setNow((before) => ({ ...before, state: "stopped", error }));
    };
    check(upTo, signal, setNow).catch(fail);
  }, [upTo, controller]);
  useEffect(() => () => controller.abort(), [controller]);
  return {
    now,
    stop: () => {
      controller.abort();
      setNow((before) => ({ ...before, state: "stopped" }));
    },
    again: () => setController(new AbortController()),
  };
}
