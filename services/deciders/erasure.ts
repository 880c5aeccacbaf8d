import type { Decider } from "#events/decider.ts";
import {
  ErasureAdvanced,
  ErasureCompleted,
  ErasureStarted,
  type ErasureCommand,
  type ErasureEvent,
} from "#events/erasure.ts";
import { Rejection } from "#events/rejection.ts";

interface ErasureState {
  status: "absent" | "running" | "completed";
  /** Deleted so far. */
  threads: number;
  files: number;
}

/** The deletion of everything that an owner has. Its work goes on until it is completed, in any process. */
export const erasure: Decider<ErasureState, ErasureCommand, ErasureEvent> = {
  version: 1,
  initial: { status: "absent", threads: 0, files: 0 },
  decide(command, { status, threads, files }) {
    switch (command.type) {
      case "StartErasure":
        if (status !== "absent") throw new Rejection("already_exists", "This erasure was started already.");
        return [ErasureStarted.of(command.data)];
      case "AdvanceErasure":
        if (status !== "running") return [];
        return [
          ErasureAdvanced.of({
            erasure_id: command.data.erasure_id,
            threads: threads + command.data.threads,
            files: files + command.data.files,
          }),
        ];
      case "CompleteErasure":
        return status === "running" ? [ErasureCompleted.of(command.data)] : [];
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case "ErasureStarted":
        return { ...state, status: "running" };
      case "ErasureAdvanced":
        return { ...state, threads: event.data.threads, files: event.data.files };
      case "ErasureCompleted":
        return { ...state, status: "completed" };
    }
  },
  workStatus: ({ status }) => ({ status: status === "running" ? "erasing" : null, due_at: null, worker: null }),
};
