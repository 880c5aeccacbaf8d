import type { Decider } from "#events/decider.ts";
import {
  ExtractionCompleted,
  ExtractionDeleted,
  ExtractionExpired,
  ExtractionFailed,
  ExtractionRequested,
  ExtractionStarted,
  type ExtractionCommand,
  type ExtractionEvent,
} from "#events/extraction.ts";
import { streamOf } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import { unitsOf } from "./units.ts";

interface Standing {
  expires_at: string;
  /** Null where a failure has given it back. */
  content_claim: string | null;
}
/** `attempt` is 0 until a worker begins. */
interface Open extends Standing {
  status: "queued" | "reading";
  attempt: number;
  worker: string | null;
  mime_type: string;
  blob: string;
}

export type ExtractionState = { status: "absent" } | Open | (Standing & { status: "ended" }) | { status: "gone" };

const identical = { code: "identical_extraction", message: "These bytes were extracted already." };
const claimName = (claim: string) => `extraction:${claim}`;

/** What there is at a time: from `expires_at` on it does not exist. */
const standingAt = (state: ExtractionState, at: string): Open | (Standing & { status: "ended" }) | undefined =>
  state.status === "absent" || state.status === "gone" || isOver(state, at) ? undefined : state;

const isOver = ({ expires_at }: Standing, at: string): boolean => Date.parse(at) >= Date.parse(expires_at);

/** The open extraction that an attempt is for; what comes from an older attempt, or too late, changes nothing. */
function open(state: ExtractionState, at: string, attempt: number): Open | undefined {
  const standing = standingAt(state, at);
  return standing && standing.status !== "ended" && standing.attempt === attempt ? standing : undefined;
}

/** As `open`, and a worker has begun with it. */
function reading(state: ExtractionState, at: string, attempt: number): Open | undefined {
  const found = open(state, at, attempt);
  return found?.status === "reading" ? found : undefined;
}

export const extraction: Decider<ExtractionState, ExtractionCommand, ExtractionEvent> = {
  version: 1,
  initial: { status: "absent" },

  decide(command, state) {
    const { at } = command;
    switch (command.type) {
      case "RequestExtraction": {
        if (state.status !== "absent") throw new Rejection("extraction_exists", "This extraction exists already.");
        const { name, sha256, ...data } = command.data;
        return [ExtractionRequested.of({ ...data, worker: command.worker ?? null }, { name, sha256 })];
      }
      case "StartExtraction":
        return open(state, at, command.data.attempt - 1) ? [ExtractionStarted.of(command.data)] : [];
      case "CompleteExtraction":
        return reading(state, at, command.data.attempt)
          ? [ExtractionCompleted.of({ ...command.data, units: unitsOf(command.data) })]
          : [];
      case "FailExtraction": {
        const { error, ...data } = command.data;
        const claim = reading(state, at, data.attempt)?.content_claim;
        return claim ? [ExtractionFailed.of({ ...data, content_claim: claim }, { error })] : [];
      }
      case "DeleteExtraction": {
        const standing = standingAt(state, at);
        if (!standing) throw new Rejection("extraction_not_found", "No such extraction.");
        return [ExtractionDeleted.of({ ...command.data, content_claim: standing.content_claim })];
      }
      case "ExpireExtraction":
        return state.status !== "absent" && state.status !== "gone" && isOver(state, at)
          ? [ExtractionExpired.of({ ...command.data, content_claim: state.content_claim })]
          : [];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case "ExtractionRequested": {
        const { worker, mime_type, blob, expires_at, content_claim } = event.data;
        return { status: "queued", attempt: 0, worker, mime_type, blob, expires_at, content_claim };
      }
      case "ExtractionStarted":
        if (state.status !== "queued" && state.status !== "reading") return state;
        return { ...state, status: "reading", attempt: event.data.attempt, worker: event.data.worker };
      case "ExtractionCompleted":
        if (state.status !== "reading") return state;
        return { status: "ended", expires_at: state.expires_at, content_claim: state.content_claim };
      case "ExtractionFailed":
        if (state.status !== "reading") return state;
        return { status: "ended", expires_at: state.expires_at, content_claim: null };
      case "ExtractionDeleted":
      case "ExtractionExpired":
        return { status: "gone" };
    }
  },

  head(state) {
    switch (state.status) {
      case "absent":
      case "gone":
        return { status: null, due_at: null, worker: null };
      case "ended":
        return { status: "waiting", due_at: state.expires_at, worker: null };
      case "queued":
        return { status: "pending", due_at: state.expires_at, worker: state.worker };
      case "reading":
        return { status: "processing", due_at: state.expires_at, worker: state.worker };
    }
  },

  erases: (events) => ({
    things: events.flatMap((event) =>
      event.type === "ExtractionDeleted" || event.type === "ExtractionExpired"
        ? [streamOf("extraction", event.data.extraction_id)]
        : [],
    ),
  }),

  claims: (events) => ({
    hold: events.flatMap((event) =>
      event.type === "ExtractionRequested" ? [{ name: claimName(event.data.content_claim), taken: identical }] : [],
    ),
    release: events.flatMap((event) => {
      if (event.type !== "ExtractionFailed" && event.type !== "ExtractionDeleted" && event.type !== "ExtractionExpired")
        return [];
      return event.data.content_claim === null ? [] : [claimName(event.data.content_claim)];
    }),
  }),
};
