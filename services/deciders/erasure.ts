import type { Decider } from "#events/decider.ts";
import {
  ERASED_KINDS,
  ErasureAdvanced,
  ErasureCompleted,
  ErasureStarted,
  NOTHING_ERASED,
  type ErasedCounts,
  type ErasureCommand,
  type ErasureEvent,
} from "#events/erasure.ts";
import { Rejection } from "#events/rejection.ts";

interface ErasureState {
  status: "absent" | "running" | "completed";
  /** Counts so far. */
  deleted: ErasedCounts;
}

type Counts = { [Kind in keyof ErasedCounts]?: number | undefined };

/** Combines each count of `one` with the same count of `other`. */
const combine = (one: ErasedCounts, other: Counts, by: (a: number, b: number) => number): ErasedCounts =>
  Object.fromEntries(ERASED_KINDS.map((kind) => [kind, by(one[kind], other[kind] ?? 0)])) as ErasedCounts;
const add = (a: number, b: number): number => a + b;

/** The deletion of everything that an owner has. Any process can continue it until it is completed. */
export const erasure: Decider<ErasureState, ErasureCommand, ErasureEvent> = {
  version: 2,
  initial: { status: "absent", deleted: NOTHING_ERASED },
  decide({ type, data }, { status, deleted }) {
    switch (type) {
      case "EraseOwner":
      case "StartErasure":
        if (status !== "absent") throw new Rejection("already_exists", "This erasure was started already.");
        return [ErasureStarted.of(data)];
      case "AdvanceErasure":
        if (status !== "running") return [];
        return [ErasureAdvanced.of({ erasure_id: data.erasure_id, ...combine(deleted, data, add) })];
      case "CompleteErasure": {
        if (status !== "running") return [];
        const { erasure_id } = data;
        // the log does not attribute deletions by an older release to the erasure
        const whole = combine(deleted, data.deleted ?? {}, Math.max);
        const isCounted = ERASED_KINDS.every((kind) => whole[kind] === deleted[kind]);
        return [
          ...(isCounted ? [] : [ErasureAdvanced.of({ erasure_id, ...whole })]),
          ErasureCompleted.of({ erasure_id }),
        ];
      }
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case "ErasureStarted":
        return { ...state, status: "running" };
      case "ErasureAdvanced":
        return { ...state, deleted: combine(NOTHING_ERASED, event.data, add) };
      case "ErasureCompleted":
        return { ...state, status: "completed" };
    }
  },
  workStatus: ({ status }) => ({ status: status === "running" ? "erasing" : null, due_at: null, worker: null }),
};
