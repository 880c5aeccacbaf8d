import type { Aggregate } from "#events/ids.ts";
import type { RejectionDetails } from "#events/rejection.ts";
import type { Usage } from "#events/thread.ts";

/* What http needs from the log and the operational tables, beyond read models. infra/postgres implements it. */

/** The recorded outcome of a command. */
export interface StoredOutcome {
  fingerprint: string | null;
  rejection: RejectionDetails | null;
  /** The last event that the command appended to its own stream; null if it was rejected or changed nothing. */
  event: { stream: string; version: number; position: number } | null;
}

export interface CommandOutcomes {
  /** Undefined if the log does not know the command, or if another organization sent it. */
  find(organization: string, command_id: string): Promise<StoredOutcome | undefined>;
}

/** Look-ups in the log, which unlike read models never lag. */
export interface LogReader {
  /** Position of the newest event of a stream, or of the whole log. Undefined for a stream that does not exist. */
  newestPosition(stream?: string): Promise<number | undefined>;
  /** The last position from when positions were shown to organizations; 0 if this deployment never showed them. */
  lastShownPosition(): Promise<number>;
  /** Versions of the given streams. Streams that do not exist are left out. */
  versions(streams: string[]): Promise<Map<string, number>>;
  /** When the event at a position was recorded. */
  recordedAt(position: number): Promise<Date | undefined>;
  /** The public fields of one event. */
  publicData(stream: string, version: number): Promise<unknown>;
  /** The same for an event that this process has recorded a moment ago; otherwise undefined. */
  recentData(stream: string, version: number): unknown;
  /** Maps each unique name that is taken to the stream of its holder. */
  claimHolders(claims: string[]): Promise<Map<string, string>>;
}

/** What the log knows of a turn, for use while the read model lags or after the turn's rows are deleted. */
export interface TurnHistory {
  /** The stream of the turn's thread; undefined once the turn is deleted. */
  threadStream(organization: string, turn_id: string): Promise<string | undefined>;
  /** Whether the turn was deleted, by itself or with its thread. */
  isDeleted(thread_id: string, turn_id: string): Promise<boolean>;
  /** Token usage of each failed request, then of each recorded round. `model`: the target that was asked, if it is recorded. */
  roundUsage(thread_id: string, turn_id: string): Promise<{ usage: Usage; model?: string }[]>;
}

/** The command that started a turn, and the event that it appended. */
export interface TurnStart {
  command_id: string;
  stream: string;
  position: number;
}

/**
 * Turns whose answer never reached a client. Each turn belongs to the process that waits for it: the one that received its
 * request, or the last one that took it over. All methods act for this process.
 */
export interface AbandonedTurns {
  /** Records that the client left before it got the answer. */
  add(command_id: string): Promise<void>;
  /**
   * Claims a turn of the last 15 minutes with this fingerprint whose client left, or whose process died before it can have
   * answered. Two retries never get the same turn, and stopped turns are never claimed.
   */
  claim(organization: string, fingerprint: string): Promise<TurnStart | undefined>;
  /** Whether a turn of the last 15 minutes with this fingerprint is running, whether or not a client waits for it. */
  isRunning(organization: string, fingerprint: string): Promise<boolean>;
  /** Makes this process the one that waits for the turn, so that a connection that ends in another process no longer stops it. */
  takeOver(organization: string, command_id: string): Promise<void>;
  /** Removes the record of `add`. False if there is none, or if another process has taken the turn over. */
  remove(organization: string, command_id: string): Promise<boolean>;
}

export interface AttemptCount {
  subject: string;
  attempts: number;
  /** Seconds until the first of the counted attempts expires. */
  seconds_left: number;
}

/** A recorded attempt, with one record per subject. */
export interface RecordedAttempt {
  ids: string[];
  subjects: string[];
}

/** Sign-in attempts per subject (a hash of an account or an address). */
export interface LoginAttempts {
  /**
   * Records one attempt per subject first, and then counts all attempts within the window. So parallel attempts get no further
   * than sequential ones. An attempt counts for 20 s only, unless it is marked as wrong.
   */
  record(subjects: string[], windowSeconds: number): Promise<{ recorded: RecordedAttempt; counts: AttemptCount[] }>;
  withdraw(recorded: RecordedAttempt): Promise<void>;
  /** Makes an attempt count for the whole window. Returns its new record, which replaces the given one. */
  markWrong(recorded: RecordedAttempt): Promise<RecordedAttempt>;
  /** Removes a recorded attempt, and all others of the account. */
  clear(recorded: RecordedAttempt, account: string): Promise<void>;
}

/** When keys and sessions were last used. */
export interface LastUses {
  /** Saves times of use. A later stored time is kept. */
  save(uses: Map<string, Date>): Promise<void>;
}

/** A process of the deployment, according to its heartbeat. */
export interface RunningProcess {
  id: string;
  role: string;
  beat_at: Date;
}

/** A stream that a read model leaves out because one of its events could not be projected. */
export interface ParkedStream {
  projection: string;
  stream: string;
  error: string;
  parked_at: Date;
}

/** Information for operators beyond the health of dependencies. */
export interface Operations {
  /** Processes with a heartbeat in the last ten minutes, at most 200. */
  processes(): Promise<RunningProcess[]>;
  /** The newest parked streams of an organization. */
  parked(organization: string, limit: number): Promise<ParkedStream[]>;
}

/** Messages of one organization that failed too often or could not be read. */
export interface OrganizationDeadLetters {
  /** Lists them, oldest first. */
  list(
    limit: number,
    organization: string,
  ): Promise<{ seq: number; at: Date; reason: string; error: string; subject: string; command: unknown }[]>;
  /** Sends the message again and removes it. False if there is none. Throws Unavailable. */
  replay(seq: number, organization: string): Promise<boolean>;
  remove(seq: number, organization: string): Promise<boolean>;
}

/** Why passages of an organization cannot be embedded at this moment. */
export interface EmbeddingFaults {
  find(organization: string): Promise<{ message: string; since: Date } | undefined>;
}

/** A thing with a given id. `turn` is a request to a model, `user` is a member, the others are aggregates of the log. */
export interface FoundThing {
  kind: Aggregate | "turn" | "user";
  id: string;
}

export interface IdFinder {
  /** Finds the organization's things with this id. For a thread, its newest turns are included. */
  things(organization: string, id: string): Promise<FoundThing[]>;
  /** What a request or trace did, in order. If the id contains a time, searches the 50,000 events after it, else the newest 50,000. */
  ofRequest(organization: string, id: string): Promise<FoundThing[]>;
}

export interface HttpPorts {
  idFinder: IdFinder;
  embeddingFaults: EmbeddingFaults;
  log: LogReader;
  outcomes: CommandOutcomes;
  turnHistory: TurnHistory;
  abandonedTurns: AbandonedTurns;
  loginAttempts: LoginAttempts;
  lastUses: LastUses;
  operations: Operations;
}
