import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import {
  RetentionAdvanced,
  RetentionRemoved,
  RetentionRoundEnded,
  RetentionSet,
  type RetentionCommand,
  type RetentionEvent,
  type RetentionCounts,
  type RetentionRules,
} from "#events/retention.ts";
import { HOUR_MS } from "#events/units.ts";

/** Interval of rounds. Rules are in days, so things are deleted at most this late. */
const INTERVAL_MS = HOUR_MS;

export interface RetentionState {
  /** Undefined: no rules are set. */
  rules?: RetentionRules;
  subject: string;
  round: number;
  /** Counts so far. */
  deleted: RetentionCounts;
  due_at: string | null;
}

const add = (a: RetentionCounts, b: RetentionCounts): RetentionCounts => ({
  threads: a.threads + b.threads,
  files: a.files + b.files,
  documents: a.documents + b.documents,
  runs: (a.runs ?? 0) + (b.runs ?? 0),
  turns: (a.turns ?? 0) + (b.turns ?? 0),
});

const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();

/** How long an organization or a project keeps things. A round of deletions is due every hour. */
export const retention: Decider<RetentionState, RetentionCommand, RetentionEvent> = {
  version: 1,
  initial: { subject: "", round: 0, deleted: { threads: 0, files: 0, documents: 0, runs: 0, turns: 0 }, due_at: null },
  decide({ type, data, at }, state) {
    switch (type) {
      case "SetRetention":
        return [RetentionSet.of({ ...data, due_at: at })];
      case "RemoveRetention":
        if (!state.rules) throw new Rejection("retention_not_found", "This subject has no retention rules.");
        return [RetentionRemoved.of(data)];
      case "AdvanceRetention":
        return [RetentionAdvanced.of({ ...data, deleted: add(state.deleted, data.deleted) })];
      case "EndRetentionRound":
        if (!state.rules || state.round !== data.round) return [];
        return [RetentionRoundEnded.of({ ...data, due_at: later(at, INTERVAL_MS) })];
    }
  },
  evolve(state, event) {
    switch (event.type) {
      case "RetentionSet": {
        const { subject, rules, due_at } = event.data;
        return { ...state, round: state.round + 1, subject, rules, due_at };
      }
      case "RetentionRemoved": {
        const { rules: _, ...rest } = state;
        return { ...rest, round: state.round + 1, due_at: null };
      }
      case "RetentionAdvanced":
        return { ...state, deleted: event.data.deleted };
      case "RetentionRoundEnded":
        return { ...state, round: state.round + 1, due_at: event.data.due_at };
    }
  },
  workStatus: ({ due_at }) => ({ status: due_at === null ? null : "waiting", due_at, worker: null }),
};
