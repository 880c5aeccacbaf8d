import type { Claim, Decider } from "#events/decider.ts";
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
import { costOfPages } from "#events/price.ts";
import { Rejection } from "#events/rejection.ts";
import { billingUnits } from "./billingUnits.ts";
import { eraseOn } from "./keyErasure.ts";

interface LiveExtraction {
  expires_at: string;
  /** Null once a failure has released it. */
  content_claim: string | null;
}
interface OpenExtraction extends LiveExtraction {
  status: "queued" | "reading";
  /** 0 until a worker starts. */
  attempt: number;
  worker: string | null;
  mime_type: string;
  blob: string;
}

type EndedExtraction = LiveExtraction & { status: "ended" };

export type ExtractionState = { status: "absent" } | OpenExtraction | EndedExtraction | { status: "gone" };

const sameContent: Claim["rejection"] = {
  code: "identical_extraction",
  message: "These bytes were extracted already.",
};
const claimName = (claim: string) => `extraction:${claim}`;

/** The extraction at a given time. It ceases to exist at `expires_at`. */
const findLive = (state: ExtractionState, at: string): OpenExtraction | EndedExtraction | undefined =>
  state.status === "absent" || state.status === "gone" || isExpired(state, at) ? undefined : state;

const isExpired = ({ expires_at }: LiveExtraction, at: string): boolean => Date.parse(at) >= Date.parse(expires_at);

/** The extraction, if it is open and `attempt` is current. Late results, and those of older attempts, change nothing. */
function findOpen(state: ExtractionState, at: string, attempt: number): OpenExtraction | undefined {
  const live = findLive(state, at);
  return live && live.status !== "ended" && live.attempt === attempt ? live : undefined;
}

/** Like `findOpen`, but only if a worker has started the attempt. */
function findReading(state: ExtractionState, at: string, attempt: number): OpenExtraction | undefined {
  const found = findOpen(state, at, attempt);
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
        return findOpen(state, at, command.data.attempt - 1) ? [ExtractionStarted.of(command.data)] : [];
      case "CompleteExtraction": {
        const { per_page, ...data } = command.data;
        const units = billingUnits(data);
        return findReading(state, at, data.attempt)
          ? [ExtractionCompleted.of({ ...data, units, ...costOfPages(units, per_page) })]
          : [];
      }
      case "FailExtraction": {
        const { error, ...data } = command.data;
        const claim = findReading(state, at, data.attempt)?.content_claim;
        return claim ? [ExtractionFailed.of({ ...data, content_claim: claim }, { error })] : [];
      }
      case "DeleteExtraction": {
        const live = findLive(state, at);
        if (!live) throw new Rejection("extraction_not_found", "No such extraction.");
        return [ExtractionDeleted.of({ ...command.data, content_claim: live.content_claim })];
      }
      case "ExpireExtraction":
        return state.status !== "absent" && state.status !== "gone" && isExpired(state, at)
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

  workStatus(state) {
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

  erases: eraseOn("ExtractionDeleted", "ExtractionExpired"),

  claims: (events) => ({
    hold: events.flatMap((event) =>
      event.type === "ExtractionRequested"
        ? [{ name: claimName(event.data.content_claim), rejection: sameContent }]
        : [],
    ),
    release: events.flatMap((event) => {
      if (event.type !== "ExtractionFailed" && event.type !== "ExtractionDeleted" && event.type !== "ExtractionExpired")
        return [];
      return event.data.content_claim === null ? [] : [claimName(event.data.content_claim)];
    }),
  }),
};
