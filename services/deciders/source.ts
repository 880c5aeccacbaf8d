import type { Decider } from "#events/decider.ts";
import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import type { ScheduleRule } from "#events/schedule.ts";
import { timesAfter } from "#events/scheduleTimes.ts";
import {
  SourceChanged,
  SourceCreated,
  SourceDeleted,
  SourceEmptied,
  SourceListed,
  SourcePagesRead,
  SourcePaused,
  SourceReadEnded,
  SourceReadStarted,
  SourceReadTaken,
  SourceResumed,
  type ChangeSource,
  type PageChange,
  type ReadSource,
  type RecordPages,
  type SourceCommand,
  type SourceEvent,
  type SourceSettings,
} from "#events/source.ts";
import { eraseOn } from "./keyErasure.ts";
import { startRule } from "./schedule.ts";

/** An existing source. Its pages are rows of the read model. */
export interface StoredSource extends SourceSettings {
  status: "stored";
  collection_id: string;
  kind: "url" | "sitemap";
  paused: boolean;
  /** When its schedule reads it next. */
  next: string | null;
  /** Number of reads so far, including the one in progress. */
  reads: number;
  reading: { attempt: number; worker: string | null } | null;
}
export type SourceState =
  | { status: "absent" }
  | StoredSource
  | { status: "deleting" }
  | { status: "deleted"; documents: boolean };

export const storedSource = (state: SourceState): StoredSource | undefined =>
  state.status === "stored" ? state : undefined;

function requireSource(state: SourceState): StoredSource {
  const found = storedSource(state);
  if (!found) throw new Rejection("source_not_found", "No such source.");
  return found;
}

function nextTime(rule: ScheduleRule | null, at: string): string | null {
  const [due] = rule ? timesAfter(rule, new Date(at), 1) : [];
  return due?.toISOString() ?? null;
}

function change({ data, at }: CommandFrom<typeof ChangeSource>, before: StoredSource): SourceEvent[] {
  const { source_id, rule: given, include, exclude, paused = before.paused } = data;
  const rule = given === undefined ? before.rule : given && startRule(given, at);
  const next = given === undefined ? before.next : nextTime(rule, at);
  const { max_pages = before.max_pages, when_gone = before.when_gone } = data;
  const events: SourceEvent[] = [];
  if ([given, include, exclude, data.max_pages, data.when_gone].some((sent) => sent !== undefined))
    events.push(
      SourceChanged.of(
        { source_id, rule, max_pages, when_gone, next },
        { ...(include && { include }), ...(exclude && { exclude }) },
      ),
    );
  // a paused source may be in the middle of a read by hand, which another pause ends
  const endsRead = data.paused === true && before.reading !== null;
  if (paused && (!before.paused || endsRead)) events.push(SourcePaused.of({ source_id }));
  // reads that were due during the pause are not made up for
  if (!paused && before.paused) events.push(SourceResumed.of({ source_id, next: nextTime(rule, at) }));
  return events;
}

function read(command: CommandFrom<typeof ReadSource>, before: StoredSource): SourceEvent[] {
  const { data, at } = command;
  const { source_id, due_at } = data;
  const { reading, paused, next, reads, rule } = before;
  const isDue = next === due_at && Date.parse(next ?? "") <= Date.parse(at);
  if (due_at !== undefined && (reading || paused || !isDue)) return [];
  if (reading) throw new Rejection("already_reading", "This source is being read already.");
  const worker = command.worker ?? null;
  return [SourceReadStarted.of({ source_id, read: reads + 1, next: nextTime(rule, at), worker })];
}

const publicPage = ({ page, first, result, document_id, content_claim }: PageChange) => ({
  page,
  first,
  result,
  document_id,
  content_claim,
});
const pageText = ({ url, etag, last_modified, error }: PageChange) => ({ url, etag, last_modified, error });

const pagesRead = ({ source_id, read, pages }: CommandFrom<typeof RecordPages>["data"]): SourceEvent =>
  SourcePagesRead.of({ source_id, read, pages: pages.map(publicPage) }, { pages: pages.map(pageText) });

/** Whether this attempt still holds the read. Results of replaced attempts are not recorded. */
function isCurrentAttempt(state: SourceState, { read, attempt }: { read: number; attempt: number }): boolean {
  const found = storedSource(state);
  return found?.reads === read && found.reading?.attempt === attempt;
}

function evolveStored(before: StoredSource, event: SourceEvent): SourceState {
  switch (event.type) {
    case "SourceChanged": {
      const { max_pages, when_gone, rule, next } = event.data;
      return { ...before, max_pages, when_gone, rule, next };
    }
    case "SourcePaused":
      return { ...before, paused: true, reading: null };
    case "SourceResumed":
      return { ...before, paused: false, next: event.data.next };
    case "SourceReadStarted": {
      const { read, next, worker } = event.data;
      return { ...before, reads: read, next, reading: { attempt: 1, worker } };
    }
    case "SourceReadTaken":
      return { ...before, reading: { attempt: event.data.attempt, worker: event.data.worker } };
    case "SourceReadEnded":
      return { ...before, reading: null };
    case "SourceDeleted":
      return event.data.documents ? { status: "deleting" } : { status: "deleted", documents: false };
    case "SourceCreated":
    case "SourceListed":
    case "SourcePagesRead":
    case "SourceEmptied":
      return before;
  }
}

export const source: Decider<SourceState, SourceCommand, SourceEvent> = {
  version: 1,
  initial: { status: "absent" },

  decide(command, state) {
    const { source_id } = command.data;
    switch (command.type) {
      case "CreateSource": {
        if (state.status !== "absent") throw new Rejection("source_exists", "This source was created already.");
        const { url, include, exclude, rule: given, ...settings } = command.data;
        const rule = given && startRule(given, command.at);
        const started = { next: nextTime(rule, command.at), worker: command.worker ?? null };
        return [SourceCreated.of({ ...settings, rule, ...started }, { url, include, exclude })];
      }
      case "ChangeSource":
        return change(command, requireSource(state));
      case "ReadSource":
        return read(command, requireSource(state));
      case "TakeSourceRead": {
        const { read, attempt, worker } = command.data;
        return isCurrentAttempt(state, { read, attempt: attempt - 1 })
          ? [SourceReadTaken.of({ source_id, read, attempt, worker })]
          : [];
      }
      case "RecordListing": {
        const { read, listed } = command.data;
        return isCurrentAttempt(state, command.data) ? [SourceListed.of({ source_id, read, listed })] : [];
      }
      case "RecordPages":
        return isCurrentAttempt(state, command.data) ? [pagesRead(command.data)] : [];
      case "EndSourceRead": {
        const { read, error } = command.data;
        return isCurrentAttempt(state, command.data) ? [SourceReadEnded.of({ source_id, read }, { error })] : [];
      }
      case "DeleteSource":
        requireSource(state);
        return [SourceDeleted.of({ source_id, documents: command.data.documents })];
      case "EmptySource":
        return state.status === "deleting" ? [SourceEmptied.of({ source_id })] : [];
    }
  },

  evolve(state, event) {
    if (event.type === "SourceCreated") {
      const { collection_id, kind, max_pages, when_gone, rule, next, worker } = event.data;
      const settings = { collection_id, kind, max_pages, when_gone, rule, next };
      return { status: "stored", ...settings, paused: false, reads: 1, reading: { attempt: 1, worker } };
    }
    if (event.type === "SourceEmptied") return { status: "deleted", documents: true };
    const before = storedSource(state);
    return before ? evolveStored(before, event) : state;
  },

  workStatus(state) {
    if (state.status === "deleting") return { status: "deleting", due_at: null, worker: null };
    const found = storedSource(state);
    if (found?.reading) return { status: "reading", due_at: null, worker: found.reading.worker };
    const due_at = found && !found.paused ? found.next : null;
    return { status: due_at === null ? null : "waiting", due_at, worker: null };
  },

  erases: eraseOn("SourceDeleted"),
};
