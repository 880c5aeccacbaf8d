import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import type { AuditLog } from "#events/auditLog.ts";
import type { CircuitReports } from "#events/circuits.ts";
import type { FreeSpace } from "#events/freeSpace.ts";
import type { HealedFault } from "#events/healedFaults.ts";
import type { LogLimits } from "#events/logLimits.ts";
import type { CommandSender, EventLog, Frames, Hints } from "#events/ports.ts";
import type { ReadingProgress, ReadingReports } from "#events/readingProgress.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import type { Blobs, Keyring, Vault } from "#events/vault.ts";
import type { CollectionRow } from "#projections/collections/query.ts";
import type { KeyInUse } from "#projections/keys/query.ts";
import type { SessionRow } from "#projections/sessions/query.ts";
import type { TriggerInUse } from "#projections/triggers/query.ts";
import type { SearchEngine } from "#projections/passages/engine.ts";
import type { SearchModels } from "#projections/passages/models.ts";
import type { WaitForProjections } from "#projections/progress.ts";
import type { Db } from "#projections/projection.ts";
import type { StoredFiles } from "#projections/storedFiles.ts";
import type { BuiltFiles } from "./builtFiles.ts";
import type { Aliases } from "./aliases.ts";
import type { RateWatch } from "#projections/budgets/rateWatch.ts";
import type { BudgetWatch } from "#projections/budgets/watch.ts";
import type { Catalog } from "./catalog.ts";
import type { Checks, Metrics } from "./metrics.ts";
import type { HttpPorts, OrganizationDeadLetters } from "./ports.ts";
import type { Providers } from "./providers.ts";
import type { RunReplayer } from "./runReplayer.ts";
import type { ScriptChecker } from "./scriptChecker.ts";
import type { WaitUntilCurrent, Send } from "./send.ts";
import type { StartCodes } from "./startCodes.ts";
import type { StreamLimits } from "./streamLimits.ts";
import type { TypeChecker } from "./typeChecker.ts";

/** A stored passage: a part of the document's Markdown. */
export interface StoredPassage {
  seq: number;
  page: number | null;
  section: string | null;
  /** The range [start, end) in UTF-16 units. */
  start: number;
  end: number;
  /** The header of its table, or the end of the text before. */
  lead?: string;
}

/** Descriptions of the service for tools: JSON in UTF-8. */
export interface ApiDescriptions {
  /** Every route, as OpenAPI 3.1. */
  openapi: Buffer;
  /** The events on the bus, as AsyncAPI 3.0. */
  asyncapi: Buffer;
}

/** Semaphore whose places are shared fairly. `tenant`: an organization, or what else shares them. */
export interface FairSemaphore {
  acquire(tenant: string, signal: AbortSignal): Promise<void>;
  release(tenant: string): void;
}
export interface CountedSemaphore extends FairSemaphore {
  /** Number of the tenant's waiters. */
  countWaiting(tenant: string): number;
}

/** What http needs from the other rooms. The http role passes it in. */
export interface HttpDeps extends HttpPorts {
  settings: {
    /** The service's short name: `sk-<name>-…` keys, `sess-<name>-…` sessions. */
    SERVICE_NAME: string;
    /** Public address, without a trailing slash. */
    BASE_URL: string;
    /** Time limit of a buffered turn. */
    TURN_SECONDS: number;
    /** Limit of one thread's attachments and of its prompts that are too long for an event. */
    THREAD_MEGABYTES: number;
    /** Limit of an organization's threads, files, documents and extractions. */
    ORGANIZATION_MEGABYTES: number;
    /** Maximum number of schedules per organization. */
    ORGANIZATION_SCHEDULES: number;
    /** The shortest interval of a schedule. */
    SCHEDULE_SECONDS: number;
    /** Addresses and networks of proxies whose `x-forwarded-for` is trusted. */
    TRUST_PROXY: string[];
    /** Origins whose pages may call the API with a key; `*` alone: all. */
    CORS_ORIGINS: string[];
    /** The deployment's search endpoint, if it has one. */
    WEB_SEARCH_URL?: string | undefined;
    /** Whether text in pictures is recognized. */
    OCR: boolean;
    /** The languages of text recognition, for organizations without their own. */
    OCR_LANGUAGES: string[];
    /** Whether organizations may use scripted tools. */
    SCRIPTED_TOOLS: boolean;
    /** The region of this process. */
    REGION?: string | undefined;
    /** First part of the subjects that other services subscribe to. */
    BUS_PREFIX: string;
  };
  /** For queries of projections. The log and the operational tables are reached through ports. */
  db: Db;
  /** What an organization has stored. Concurrent look-ups share one query. */
  stored(organization: string): Promise<StoredFiles>;
  /** Finds a collection by its id or slug. Concurrent look-ups share one query. */
  findCollection(organization: string, reference: string): Promise<CollectionRow | undefined>;
  /** Whether neither the document nor its collection is deleted. Concurrent look-ups share one query. */
  isDocumentListed(id: string): Promise<boolean>;
  /** Whether the turn runs, or has started and is not in the read model yet. Concurrent look-ups share one query. */
  isTurnRunning(id: string): Promise<boolean>;
  /** Finds the key with this SHA-256. Never cached, but concurrent look-ups share one query. */
  findKeyByHash(hash: string): Promise<KeyInUse | undefined>;
  /** Finds the session whose token has this SHA-256. Never cached, but concurrent look-ups share one query. */
  findSessionByTokenHash(hash: string): Promise<SessionRow | undefined>;
  /** Finds the trigger whose hook has this token. Never cached, but concurrent look-ups share one query. */
  findTriggerByToken(hook_token: string): Promise<TriggerInUse | undefined>;
  sender: CommandSender;
  frames: Frames;
  keyring: Pick<Keyring, "keyedHash" | "sealSecret" | "openSecret" | "sealNumber" | "openNumber">;
  vault: Vault;
  blobs: Pick<Blobs, "remove" | "removeAll">;
  freeSpace: FreeSpace;
  logLimits: LogLimits;
  /** Iterates over the passages in a blob, beginning with number `seq`. */
  passagesFrom(blob: Buffer, seq: number): Iterable<StoredPassage>;
  engine: SearchEngine;
  models: SearchModels;
  /** Downloads a file from a public address, or returns why that failed. */
  fetchFile(
    url: string,
    signal: AbortSignal,
  ): Promise<{ filename: string; mimetype: string; bytes: Buffer } | { refusal: string }>;
  catalog: Catalog;
  /** The languages that text recognition has in this deployment. */
  ocrLanguages: readonly string[];
  /** Places for the requests in progress, shared fairly by organizations. */
  requestPlaces: CountedSemaphore;
  /** Places for answers of several megabytes, shared in the same way. */
  longReadPlaces: CountedSemaphore;
  /** Places for hashing passwords, shared in the same way. */
  passwordPlaces: FairSemaphore;
  scripts: ScriptChecker;
  types: TypeChecker;
  replayer: RunReplayer;
  schemas: SchemaChecker;
  waitForProjections: WaitForProjections;
  /** Reads a stream's events from a version on, page by page. Does not check which organization the stream belongs to. */
  streamPages: EventLog["pages"];
  readAuditSlice: AuditLog["slice"];
  readHashes: AuditLog["hashes"];
  readEventHistogram: AuditLog["histogram"];
  checkChain: AuditLog["checkChain"];
  /** Calls the listener for committed events; some may be missed. */
  onCommitted: Hints["onCommitted"];
  /** Calls the listener when a projection has advanced. */
  onProjected: Hints["onProjected"];
  /**
   * Resolves once the projections have caught up to where they were before a crash of the database. Throws Unavailable if that takes
   * longer than `within_ms`.
   */
  recovered(within_ms: number): Promise<void>;
  /** Checks every dependency and follower. Returns the results by name, with the lag where there is one. */
  health(): Promise<Checks>;
  deadLetters: OrganizationDeadLetters;
  /** Asks the processes that run turns about failing targets of aliases. */
  circuits: CircuitReports["ask"];
  /** Calls the listener when a process reports how far it has read a file. */
  onRead: ReadingReports["subscribe"];
  /** Calls the listener for each fault that a process of the deployment has recovered from. */
  onHealed(listener: (fault: HealedFault) => void): void;
  descriptions(): Promise<ApiDescriptions>;
  /** Undefined if the console is not built. */
  consoleFiles: BuiltFiles | undefined;
  /** Undefined if the documentation is not built. */
  docsFiles: BuiltFiles | undefined;
  /** The page that shows the description of the API. Undefined if it is not built. */
  referenceFiles: BuiltFiles | undefined;
  startCodes: StartCodes;
  budgets: BudgetWatch;
  /** Counts turns for limits per minute and of concurrent turns. */
  rates: RateWatch;
  logger: FastifyBaseLogger;
  registry: Registry;
  /** Id of this process among the workers. */
  httpId: string;
}

/** The services that routes use. */
export interface Http extends HttpDeps {
  send: Send;
  waitUntilCurrent: WaitUntilCurrent;
  providers: Providers;
  aliases: Aliases;
  metrics: Metrics;
  streams: StreamLimits;
  /** How far the reading of a document or an extraction is, by its stream; undefined if no process has reported it lately. */
  readingProgress(stream: string): ReadingProgress | undefined;
  /** Stops counting the bytes of a request's body, once it is no longer needed. */
  releaseBody(request: FastifyRequest): void;
  /** Aborts when the process shuts down and open responses must end. */
  closing: AbortSignal;
  /** Records that a key or session was used now. */
  noteUse(id: string): void;
}
