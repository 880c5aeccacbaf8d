import type { Aggregate } from "#events/ids.ts";
import type { RejectionDetails } from "#events/rejection.ts";
import type { Usage } from "#events/thread.ts";

/* What http needs of the log and of the operational tables beyond read models. infra/postgres implements it. */

/** What the log keeps of a command that was answered. */
export interface StoredOutcome {
  fingerprint: string | null;
  rejection: RejectionDetails | null;
  /** The last event that it appended to the thing it is about; null when it was rejected or changed nothing. */
  event: { stream: string; version: number; position: number } | null;
}

export interface CommandOutcomes {
  /** Undefined when the log does not know the command, or another organization sent it. */
  find(organization: string, command_id: string): Promise<StoredOutcome | undefined>;
}

/** Look-ups that must not lag behind the log as read models do. */
export interface LogReader {
  /** Position of the newest event, of one stream or of the whole log; undefined for a stream that does not exist. */
  newestPosition(stream?: string): Promise<number | undefined>;
  /** The last position of the time when positions were shown to organizations; 0 if this deployment never did. */
  lastShownPosition(): Promise<number>;
  /** Versions of those streams that exist. */
  versions(streams: string[]): Promise<Map<string, number>>;
  /** When the event at a position was recorded. */
  recordedAt(position: number): Promise<Date | undefined>;
  /** The public fields of one event. */
  publicData(stream: string, version: number): Promise<unknown>;
  /** For each unique name that is taken: the stream of the thing that holds it. */
  claimHolders(claims: string[]): Promise<Map<string, string>>;
}

/** What the log says of a turn while its read model lags, or after its rows are deleted. */
export interface TurnHistory {
  /** The stream of the thread that has the turn; undefined once the turn is deleted. */
  threadStream(organization: string, turn_id: string): Promise<string | undefined>;
  /** Whether the turn was deleted, alone or with its thread. */
  isDeleted(thread_id: string, turn_id: string): Promise<boolean>;
  /** Tokens of each recorded round, and of answers of targets that were replaced. */
  roundUsage(thread_id: string, turn_id: string): Promise<Usage[]>;
}

/** The command that started a turn, with the event that it appended. */
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
  /** Records that the client left before it had the answer. */
  add(command_id: string): Promise<void>;
  /**
   * Gives this process one turn of the last 15 minutes with this fingerprint whose client left, or whose process died before
   * it can have answered. Two retries never get the same turn. Stopped turns are left alone.
   */
  claim(organization: string, fingerprint: string): Promise<TurnStart | undefined>;
  /** Whether a turn of the last 15 minutes with this fingerprint is running, with or without a client that waits for it. */
  isRunning(organization: string, fingerprint: string): Promise<boolean>;
  /** Makes this process wait for the turn: a connection that ends elsewhere may no longer stop it. */
  takeOver(organization: string, command_id: string): Promise<void>;
  /** Removes the record of `add`; false when it is gone, or when another process has taken the turn over. */
  remove(organization: string, command_id: string): Promise<boolean>;
}

export interface AttemptCount {
  subject: string;
  attempts: number;
  /** Seconds until one of the earlier attempts no longer counts. */
  seconds_left: number;
}

/** One attempt as it was recorded, once for each subject. */
export interface RecordedAttempt {
  ids: string[];
  subjects: string[];
}

/** Sign-in attempts, counted by subject (a hash of an account or of an address). */
export interface LoginAttempts {
  /**
   * Records one attempt for each subject, then counts the attempts of the window with all that were recorded meanwhile, so
   * that parallel attempts get no further than sequential ones. Until it is marked as wrong, an attempt counts for 20 s only.
   */
  record(subjects: string[], windowSeconds: number): Promise<{ recorded: RecordedAttempt; counts: AttemptCount[] }>;
  /** Removes a recorded attempt. */
  withdraw(recorded: RecordedAttempt): Promise<void>;
  /** Lets an attempt count for the whole window. */
  markWrong(recorded: RecordedAttempt): Promise<void>;
  /** Removes all attempts of the account, and the newest one of the address if one is named. */
  clear(subjects: { account: string; address: string | undefined }): Promise<void>;
}

/** When keys and sessions were last used. */
export interface LastUses {
  /** Keeps the later time where one is stored. */
  save(uses: Map<string, Date>): Promise<void>;
}

/** A process of the deployment, as its heartbeat tells. */
export interface RunningProcess {
  id: string;
  role: string;
  beat_at: Date;
}

/** A stream that a read model leaves out, because one of its events could not be projected. */
export interface ParkedStream {
  projection: string;
  stream: string;
  error: string;
  parked_at: Date;
}

/** What an operator looks at besides the health of dependencies. */
export interface Operations {
  /** Those with a heartbeat in the last ten minutes, at most 200. */
  processes(): Promise<RunningProcess[]>;
  /** The newest parked streams of an organization. */
  parked(organization: string, limit: number): Promise<ParkedStream[]>;
}

/** Messages of an organization that failed too often or could not be read. Another organization's do not exist. */
export interface OrganizationDeadLetters {
  /** Oldest first. */
  list(
    limit: number,
    organization: string,
  ): Promise<{ seq: number; at: Date; reason: string; error: string; subject: string; command: unknown }[]>;
  /** Sends it again and removes it; false when there is none. Throws Unavailable. */
  replay(seq: number, organization: string): Promise<boolean>;
  remove(seq: number, organization: string): Promise<boolean>;
}

/** Why the vectors of an organization's passages cannot be made at this moment. */
export interface EmbeddingFaults {
  find(organization: string): Promise<{ message: string; since: Date } | undefined>;
}

/** A thing that an id names: `turn` is a request to a model, `user` a member, the others are aggregates of the log. */
export interface FoundThing {
  kind: Aggregate | "turn" | "user";
  id: string;
}

export interface IdFinder {
  /** The things of the organization that have the id; of a thread also its newest turns. */
  things(organization: string, id: string): Promise<FoundThing[]>;
  /** What a request or a trace did, in its order: found in the 50,000 events after a time that the id tells, else in the newest. */
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
