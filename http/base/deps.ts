import type { FastifyBaseLogger, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import type { AuditLog } from "#events/auditLog.ts";
import type { CircuitReports } from "#events/circuits.ts";
import type { FreeSpace } from "#events/freeSpace.ts";
import type { CommandSender, EventLog, Frames, HealedFault, Hints } from "#events/ports.ts";
import type { SchemaChecker } from "#events/schemaChecker.ts";
import type { Blobs, Keyring, Vault } from "#events/vault.ts";
import type { CollectionRow } from "#projections/collections/query.ts";
import type { KeyInUse } from "#projections/keys/query.ts";
import type { TriggerInUse } from "#projections/triggers/query.ts";
import type { SearchEngine } from "#projections/passages/engine.ts";
import type { SearchModels } from "#projections/passages/models.ts";
import type { WaitForProjections } from "#projections/progress.ts";
import type { Db } from "#projections/projection.ts";
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
import type { FreshRead, Send } from "./send.ts";
import type { StartCodes } from "./startCodes.ts";
import type { StreamLimits } from "./streamLimits.ts";
import type { TypeChecker } from "./typeChecker.ts";

/** A passage as its blob has it: a part of the document's Markdown. */
export interface StoredPassage {
  seq: number;
  page: number | null;
  section: string | null;
  /** Half open, in UTF-16 units. */
  start: number;
  end: number;
}

/** Places that owners take in turns. */
export interface Places {
  acquire(owner: string, signal: AbortSignal): Promise<void>;
  release(owner: string): void;
}

/** What http needs from the other rooms; the http role hands it over. */
export interface HttpDeps extends HttpPorts {
  settings: {
    /** The service's short name: `sk-<name>-…` keys, `sess-<name>-…` sessions. */
    SERVICE_NAME: string;
    /** Public address, without a trailing slash. */
    BASE_URL: string;
    /** Time limit of a buffered turn. */
    TURN_SECONDS: number;
    /** What one thread may store outside the log: attachments and prompts too long for an event. */
    THREAD_MEGABYTES: number;
    /** What an organization may store in threads, files, documents and extractions. */
    ORGANIZATION_MEGABYTES: number;
    /** Schedules that an organization may have. */
    ORGANIZATION_SCHEDULES: number;
    /** The shortest interval of a schedule. */
    SCHEDULE_SECONDS: number;
    /** Proxies whose `x-forwarded-for` is trusted: addresses and networks. */
    TRUST_PROXY: string[];
    /** Origins whose pages may call the API with a key; `*` alone: all. */
    CORS_ORIGINS: string[];
    /** Search endpoint of the deployment, if it has one. */
    WEB_SEARCH_URL?: string | undefined;
    /** Whether text in pictures is recognized. */
    OCR: boolean;
    /** Whether organizations may use scripted tools. */
    SCRIPTED_TOOLS: boolean;
    /** Where this process runs. */
    REGION?: string | undefined;
    /** First part of the subjects that other services subscribe to. */
    BUS_PREFIX: string;
  };
  /** For the queries of projections; the log and the operational tables are reached through ports. */
  db: Db;
  /** The bytes that an organization stores; look-ups of the same moment share one query. */
  storedBytes(organization: string): Promise<number>;
  /** An organization's collection by its id or slug, as `storedBytes`. */
  findCollection(organization: string, reference: string): Promise<CollectionRow | undefined>;
  /** Whether a document is listed: neither it nor its collection is deleted, as `storedBytes`. */
  isDocumentListed(id: string): Promise<boolean>;
  /** The key with this SHA-256, never cached; look-ups of the same moment share one query. */
  findKeyByHash(hash: string): Promise<KeyInUse | undefined>;
  /** The trigger whose hook has this token, as `findKeyByHash`. */
  findTriggerByToken(hook_token: string): Promise<TriggerInUse | undefined>;
  sender: CommandSender;
  frames: Frames;
  keyring: Pick<Keyring, "keyedHash" | "sealSecret" | "openSecret" | "sealNumber" | "openNumber">;
  vault: Vault;
  blobs: Pick<Blobs, "remove" | "removeAll">;
  freeSpace: FreeSpace;
  /** The passages of a blob of passages, from one on. */
  passagesFrom(blob: Buffer, seq: number): Iterable<StoredPassage>;
  engine: SearchEngine;
  models: SearchModels;
  /** A file of a public address, or why it cannot be had. */
  fetchFile(
    url: string,
    signal: AbortSignal,
  ): Promise<{ filename: string; mimetype: string; bytes: Buffer } | { refusal: string }>;
  catalog: Catalog;
  /** Places for requests that this process works on, shared by organizations in turns. */
  requestPlaces: Places & { countWaiting(owner: string): number };
  /** The same for answers of megabytes. */
  longReadPlaces: Places;
  /** The same for hashes of passwords. */
  passwordPlaces: Places;
  scripts: ScriptChecker;
  types: TypeChecker;
  replayer: RunReplayer;
  schemas: SchemaChecker;
  waitForProjections: WaitForProjections;
  /** A stream's events from a version on. Does not check which organization the stream belongs to. */
  readStream: EventLog["read"];
  /** The same a page at a time. */
  streamPages: EventLog["pages"];
  readAuditSlice: AuditLog["slice"];
  readHashes: AuditLog["hashes"];
  readEventHistogram: AuditLog["histogram"];
  checkChain: AuditLog["checkChain"];
  /** Called for committed events; some may be missed. */
  onCommitted: Hints["onCommitted"];
  /** Called when a projection has moved on. */
  onProjected: Hints["onProjected"];
  /** Resolves once the projections are back where they were before the database crashed. Throws Unavailable. */
  recovered(): Promise<void>;
  /** Every dependency and follower by name, with its lag where it has one. */
  health(): Promise<Checks>;
  deadLetters: OrganizationDeadLetters;
  /** What the processes that run turns have noticed of the targets of aliases. */
  circuits: CircuitReports["ask"];
  /** Called for each fault that a process of the deployment has healed. */
  onHealed(listener: (fault: HealedFault) => void): void;
  /** Undefined if the console is not built. */
  consoleFiles: BuiltFiles | undefined;
  /** Undefined if the documentation is not built. */
  docsFiles: BuiltFiles | undefined;
  startCodes: StartCodes;
  /** Counts turns for limits of a minute and of a moment. */
  rates: RateWatch;
  logger: FastifyBaseLogger;
  registry: Registry;
  /** Id of this process among the workers. */
  httpId: string;
}

/** What routes work with. */
export interface Http extends HttpDeps {
  send: Send;
  freshRead: FreshRead;
  providers: Providers;
  aliases: Aliases;
  budgets: BudgetWatch;
  metrics: Metrics;
  streams: StreamLimits;
  /** Gives back the memory budget of a request's body, once the body is no longer needed. */
  releaseBody(request: FastifyRequest): void;
  /** Aborted when the process shuts down and open responses must end. */
  closing: AbortSignal;
  /** Records that a key or session was used now. */
  noteUse(id: string): void;
}
